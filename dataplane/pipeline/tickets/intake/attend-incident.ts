/** One incident is attended to: taken up, its cause looked for, what it owes noted in it and written as rows (Decisions 6). */
import { fallbackCause } from '../../../domain/language-model/explained-cause.ts'
import { nextAnalysisMs } from '../../../domain/tickets/cause-timing.ts'
import { type AttendFacts, attend, isHistory, settleOwed, type TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import type { Clock } from '../../../ports/clock.ts'
import { retryOnConflict } from '../../../ports/retry-on-conflict.ts'
import type { SearchStore, Versioned } from '../../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import { readStoredIncident } from '../../incident-of.ts'
import { within } from '../../within.ts'
import type { IsModelAway } from '../explain-incidents.ts'
import type { SilenceStore } from '../silence-store.ts'
import { writeRows } from '../thread-store.ts'
import type { FindCause } from './find-cause.ts'
import type { IncidentClaims } from './incident-claims.ts'
import { type CauseOutcome, scheduled, withCause } from './note-cause.ts'
import type { NoticeUntold } from './notice-untold.ts'

export interface AttendDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly config: TicketingConfigSource
  readonly silences: SilenceStore
  readonly findCause: FindCause
  /** Default: no model is known to be away. */
  readonly isModelAway?: IsModelAway
  /** Rows were written: there is something to send. */
  onRows(): void
  /** A cause was found, of an incident that is not quiet. */
  onCause?(incident: TicketedIncident): void
}

interface AttendParts {
  readonly claims: IncidentClaims
  readonly noticeUntold: NoticeUntold
  /** The incident was written: searches may show it as it was before for a moment. */
  onWritten(written: Versioned<TicketedIncident>): void
}

/** How long a fresh incident waits for the records around it to be searchable. */
const SETTLE_MS = 1_500
/** How long a cause that is found waits for news of the model. */
const MODEL_LOOK_MS = 1_000

export function createAttending(
  { store, clock, config, silences, findCause, isModelAway = async () => false, onRows, onCause }: AttendDeps,
  { claims, noticeUntold, onWritten }: AttendParts,
): (hit: Versioned<TicketedIncident>) => Promise<void> {
  /** Undefined when the incident is gone, is not due any more, or is another agent's. */
  const takeUp = async ({ index, id }: Versioned<TicketedIncident>): Promise<Versioned<TicketedIncident> | undefined> => {
    const current = await readStoredIncident(store, index, id)
    if (current === undefined || !isDue(current.source, clock.nowMs(), claims.isFree(current))) return undefined
    if (current.source.ticketing?.takenAt !== undefined) return current
    const claimed = await claims.claim(current)
    if (claimed === undefined) return undefined
    const unsettledMs = Date.parse(claimed.source.createdAt) + SETTLE_MS - clock.nowMs()
    if (unsettledMs > 0) await clock.sleep(Math.min(unsettledMs, SETTLE_MS))
    return claimed
  }

  const causeOf = async (incident: TicketedIncident): Promise<CauseOutcome> => {
    const dueMs = nextAnalysisMs(incident)
    if (dueMs === undefined || dueMs > clock.nowMs() || isHistory(incident, clock.nowMs())) return 'not now'
    const look = isModelAway(incident.tenantId)
    const found = await findCause(incident)
    if (found === undefined) return undefined
    const isAway = await within(
      clock,
      MODEL_LOOK_MS,
      () => look,
      () => false,
    )
    return isAway ? { ...found, rootCause: fallbackCause(found.rootCause) } : found
  }

  const factsOf = async (tenant: string): Promise<AttendFacts> => {
    const [rules, ofTenant] = await Promise.all([config.load(tenant), silences.recent(tenant)])
    const { recurring } = rules.anomaly as { readonly recurring?: 'dispatch' | 'quiet' }
    return { nowMs: clock.nowMs(), rules, silences: ofTenant, quietRecurring: recurring === 'quiet' }
  }

  /** Writes whom the incident owes what, and its cause; undefined when it is gone. `wasTold`: before that, nothing said that nobody is told of it. */
  const noteAttention = (known: Versioned<TicketedIncident>, found: CauseOutcome) =>
    retryOnConflict(async conflicts => {
      const current = conflicts === 0 ? known : await readStoredIncident(store, known.index, known.id)
      if (current === undefined) return undefined
      const wasTold = current.source.ticketing?.untold === undefined
      const source = withCause(attend(current.source, await factsOf(current.source.tenantId)), found, clock.nowMs())
      const version = await store.put(known.index, known.id, source, current)
      return { incident: { ...current, ...version, source }, wasTold }
    })

  /** Writes the rows that the incident is owed, and notes in the incident that they are written. */
  const settle = async (changed: Versioned<TicketedIncident>): Promise<void> => {
    const { index, id, source } = changed
    const owed = source.ticketing?.owed ?? []
    onWritten(changed)
    if (owed.length === 0) return
    await writeRows(store, source, owed, isoTime(clock.nowMs()))
    onRows()
    await retryOnConflict(async conflicts => {
      const current = conflicts === 0 ? changed : await readStoredIncident(store, index, id)
      if (current === undefined) return
      const next = scheduled(settleOwed(current.source, owed.at(-1)!.seq), clock.nowMs())
      onWritten({ ...current, ...(await store.put(index, id, next, current)) })
    })
  }

  return async hit => {
    const taken = await takeUp(hit)
    if (taken === undefined) return
    const found = await causeOf(taken.source)
    const attended = await noteAttention(taken, found)
    if (attended === undefined) return
    const { incident, wasTold } = attended
    noticeUntold(incident.source, wasTold)
    await settle(incident)
    if (found !== undefined && found !== 'not now' && !isQuiet(incident.source)) onCause?.(incident.source)
  }
}

const isQuiet = ({ status, ticketing }: TicketedIncident) => status === 'resolved' || ticketing?.quietBy !== undefined

function isDue({ status, ticketing = {} }: TicketedIncident, nowMs: number, isFree: boolean): boolean {
  const { takenAt, attentionAt } = ticketing
  if (attentionAt !== undefined && Date.parse(attentionAt) <= nowMs) return takenAt !== undefined || isFree
  return takenAt === undefined && status === 'open' && isFree
}
