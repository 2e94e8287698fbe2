/** Standalone with stub platforms: records that make incidents, and which tickets came of them, in one form for all platforms. */

import { PLATFORM_NAMES, type PlatformName } from '../../dataplane/contract/platforms.ts'
import { platformSettings, routingSettings } from '../../dataplane/demo/platforms/settings.ts'
import { type StubName, type StubPlatforms, startStubPlatforms } from '../../dataplane/demo/platforms/start.ts'
import { createCaller, type HttpCaller } from '../../dataplane/testing/http-caller.ts'
import { postRecords, type SentRecord } from './api.ts'
import { eventually, type Standalone, startStandalone } from './standalone-process.ts'

export const PLATFORMS = PLATFORM_NAMES
export type Platform = PlatformName

export interface TicketFixture {
  readonly app: Standalone
  readonly stubs: StubPlatforms
  /** Calls the ticketing API. */
  readonly api: HttpCaller
  stop(): Promise<void>
}

export interface TicketFixtureConfig {
  readonly env?: Readonly<Record<string, string>>
  /** Called once a platform did what was asked, before it answers. */
  readonly onDone?: (platform: StubName, request: string) => void | Promise<void>
  /** Default: all platforms, for every severity. */
  readonly routing?: Readonly<Record<string, readonly string[]>>
}

export async function startTicketFixture({ env = {}, onDone, routing }: TicketFixtureConfig = {}): Promise<TicketFixture> {
  const app = await startStandalone(env)
  const stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0, ...(onDone && { onDone }) })
  const api = createCaller(app.ticketing)
  const set = async (section: string, body: unknown) => {
    const answer = await api.send('PATCH', `/api/v1/config/${section}`, body)
    if (answer.status !== 200) throw new Error(`PATCH ${section}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  const stop = async () => {
    await app.remove()
    await stubs.stop()
  }
  try {
    await set('platforms', platformSettings(stubs.addresses))
    await set('routing', routing ?? routingSettings())
  } catch (error) {
    await stop()
    throw error
  }
  return { app, stubs, api, stop }
}

let records = 0

/** Texts of records, by the severity of the incident that three of them make. */
export const FAULTS = {
  medium: { severityText: 'ERROR', body: 'payment failed: connection refused' },
  high: { severityText: 'ERROR', body: 'payment failed: OutOfMemory after a timeout' },
  critical: { severityText: 'FATAL', body: 'payment failed: connection refused' },
} as const
export type FaultSeverity = keyof typeof FAULTS

export function faultRecords(service: string, severity: FaultSeverity = 'medium', count = 3, atMs = Date.now()): readonly SentRecord[] {
  return Array.from({ length: count }, () => {
    const number = ++records
    return {
      id: `fault-${number}`,
      service,
      ...FAULTS[severity],
      attempt: 1,
      timeUnixNano: `${BigInt(atMs) * 1_000_000n + BigInt(number % 1_000_000)}`,
    }
  })
}

/** Sends three records of one service, from which one incident comes. */
export async function makeIncident(
  { app }: Pick<TicketFixture, 'app'>,
  service: string,
  severity: FaultSeverity = 'medium',
): Promise<void> {
  const status = await postRecords(app.collector, faultRecords(service, severity))
  if (status !== 200) throw new Error(`the collector answers ${status}`)
}

export interface ShownIncident {
  readonly id: string
  readonly title: string
  readonly service: string
  readonly severity: string
  readonly status: string
  readonly platforms: readonly string[]
  readonly dispatches?: Readonly<
    Record<
      string,
      {
        readonly status: string
        readonly externalId?: string
        readonly url?: string
        readonly attempts: number
        readonly lastError?: string
      }
    >
  >
  readonly rootCause?: {
    readonly mode: string
    readonly fallback: boolean
    readonly summary: string
    readonly candidates: readonly { readonly service: string }[]
  }
  readonly escalatedTo?: readonly string[]
  readonly recurring?: boolean
}

/** The newest incident of a service; waits until there is one. */
export async function incidentOf({ api }: Pick<TicketFixture, 'api'>, service: string, tenant?: string): Promise<ShownIncident> {
  return await eventually(async () => {
    const [incident] = (await api.get(`/api/incidents?service=${service}&limit=1`, tenant)).body as readonly ShownIncident[]
    if (incident === undefined) throw new Error(`no incident of ${service}`)
    return incident
  })
}

/** Waits until each dispatch of the newest incident of a service is as `expected`, by default sent. */
export async function untilDispatched(
  fixture: Pick<TicketFixture, 'api'>,
  service: string,
  { status = 'sent', timeoutMs = 20_000 } = {},
): Promise<ShownIncident> {
  return await eventually(
    async () => {
      const incident = await incidentOf(fixture, service)
      const dispatches = Object.entries(incident.dispatches ?? {})
      if (dispatches.length === 0 || dispatches.some(([, dispatch]) => dispatch.status !== status))
        throw new Error(`${service}: expected every dispatch ${status}, seen ${JSON.stringify(incident.dispatches)}`)
      return incident
    },
    { timeoutMs, pauseMs: 150 },
  )
}

/** A ticket as its users see it. */
export interface SeenTicket {
  readonly status: 'open' | 'acknowledged' | 'resolved' | 'untold'
  /** Events that the platform was told of, the oldest first, in its own words. */
  readonly log: readonly string[]
  /** All of it, as the stub keeps it. */
  readonly whole: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: the states of six platforms, each read in one place
type State = Readonly<Record<string, any>>

/** Reads the tickets about a service out of a stub's state: their headlines name it. */
const READ: Readonly<Record<Platform, (state: State, isAbout: (headline: string) => boolean) => readonly SeenTicket[]>> = {
  pagerduty: ({ incidents }, isAbout) =>
    incidents
      .filter((each: State) => isAbout(each['payload'].summary))
      .map((whole: State) => ({
        status: { triggered: 'open', acknowledged: 'acknowledged', resolved: 'resolved' }[whole['status'] as string],
        log: whole['log'].map(({ action }: State) => action),
        whole,
      })),
  jira: ({ issues }, isAbout) =>
    issues
      .filter((each: State) => isAbout(each['fields'].summary))
      .map((whole: State) => ({
        status: { new: 'open', indeterminate: 'acknowledged', done: 'resolved' }[whole['fields'].status.statusCategory.key as string],
        log: whole['comments'].map(({ text }: State) => text),
        whole,
      })),
  servicenow: ({ incidents }, isAbout) =>
    incidents
      .filter((each: State) => isAbout(each['short_description']))
      .map((whole: State) => ({
        status: ({ 1: 'open', 2: 'acknowledged', 6: 'resolved' } as Record<string, string>)[whole['state']],
        log: whole['workNotes'].map(({ text }: State) => text),
        whole,
      })),
  opsgenie: ({ alerts }, isAbout) =>
    alerts
      .filter((each: State) => isAbout(each['message']))
      .map((whole: State) => ({
        status: whole['status'] === 'closed' ? 'resolved' : whole['acknowledged'] ? 'acknowledged' : 'open',
        log: whole['log'].map(({ text }: State) => text),
        whole,
      })),
  slack({ messages }, isAbout) {
    // The text behind the title may name other services: those of a cause.
    const about = messages.filter((each: State) => isAbout(each['text'].split(' – ')[0])).reverse()
    return about.length === 0 ? [] : [{ status: 'untold', log: about.map(({ readable }: State) => readable), whole: about }]
  },
  email: ({ threads }, isAbout) =>
    threads
      .filter((each: State) => isAbout(each['mails'][0].subject))
      .map((whole: State) => ({ status: 'untold', log: whole['mails'].map(({ subject }: State) => subject), whole })),
}

export function ticketsOf({ stubs }: Pick<TicketFixture, 'stubs'>, platform: Platform, service: string): readonly SeenTicket[] {
  const word = new RegExp(`(?<![\\w-])${service}(?![\\w-])`)
  return READ[platform](stubs.state(platform) as State, headline => word.test(headline))
}

/** Headlines of all tickets and messages on a platform. */
export function headlinesOf({ stubs }: Pick<TicketFixture, 'stubs'>, platform: Platform): readonly string[] {
  const headlines: string[] = []
  READ[platform](stubs.state(platform) as State, headline => headlines.push(headline) === 0)
  return headlines
}

/** How many tickets a service has on each platform. */
export function ticketCounts(
  fixture: Pick<TicketFixture, 'stubs'>,
  service: string,
  platforms: readonly Platform[] = PLATFORMS,
): Readonly<Record<string, number>> {
  return Object.fromEntries(platforms.map(platform => [platform, ticketsOf(fixture, platform, service).length]))
}

/** One on each. */
export function oneOnEach(platforms: readonly Platform[] = PLATFORMS): Readonly<Record<string, number>> {
  return Object.fromEntries(platforms.map(platform => [platform, 1]))
}
