/** Ticket platforms in memory: one for all names, which keeps the rules that real ones have about keys and order. */
import { PLATFORM_NAMES, type PlatformName } from '../../../contract/platforms.ts'
import type { IncidentPlatform, TicketOutcome, TicketRequest } from '../../../ports/incident-platform.ts'

export interface FakePlatforms {
  readonly platforms: Readonly<Record<PlatformName, IncidentPlatform>> & { close(): Promise<void> }
  /** All that arrived, in order. */
  readonly arrived: TicketRequest[]
  /** Events that arrived, as `<target> <event>`, of one incident or of all. */
  events(incidentId?: string): readonly string[]
  /** How many tickets were made for each incident and target: retries that look first make no second one. */
  tickets(): ReadonlyMap<string, number>
  /** Replaces the answer; undefined: the usual one, delivered. Called after the event has arrived, unless it begins with `before`. */
  answer: (request: TicketRequest, signal: AbortSignal) => Promise<TicketOutcome | undefined> | TicketOutcome | undefined
  /** True: the event does not arrive, and `answer` says what the caller sees. */
  loses: (request: TicketRequest) => boolean
}

export function createFakePlatforms(): FakePlatforms {
  const arrived: TicketRequest[] = []
  const made = new Map<string, number>()
  const fake: FakePlatforms = {
    arrived,
    answer: () => undefined,
    loses: () => false,
    events: incidentId =>
      arrived
        .filter(({ content }) => incidentId === undefined || content.incidentId === incidentId)
        .map(({ target, event }) => `${target.id} ${event}`),
    tickets: () => made,
    platforms: { ...allOf(send), close: async () => undefined },
  }
  async function send(request: TicketRequest, signal: AbortSignal): Promise<TicketOutcome> {
    const { event, ticketKey, target, mayBeThere } = request
    const key = `${target.id} ${ticketKey}`
    if (!fake.loses(request)) {
      arrived.push(request)
      // An adapter that looks first finds the ticket that is there.
      if (event === 'open' && !(mayBeThere && made.has(key))) made.set(key, (made.get(key) ?? 0) + 1)
    }
    return (
      (await fake.answer(request, signal)) ?? {
        kind: 'delivered',
        ticket: { externalId: `T-${ticketKey}`, url: `https://tickets.example/${ticketKey}` },
      }
    )
  }
  return fake
}

function allOf(send: IncidentPlatform['send']): Readonly<Record<PlatformName, IncidentPlatform>> {
  const platform: IncidentPlatform = { send, test: async () => ({ ok: true, message: 'fine' }) }
  return Object.fromEntries(PLATFORM_NAMES.map(name => [name, platform])) as Readonly<Record<PlatformName, IncidentPlatform>>
}
