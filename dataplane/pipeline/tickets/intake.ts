/** Finds incidents that somebody is to be told about, and writes their rows (Spec: Components, ticketing agent; Decisions 6). */
import { ALL_INCIDENTS } from '../../contract/indices.ts'
import { fallbackCause } from '../../domain/language-model/explained-cause.ts'
import { nextAnalysisMs } from '../../domain/tickets/cause-timing.ts'
import { type AttendFacts, attend, isHistory, settleOwed, type TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import { isRecent } from '../../limits/is-recent.ts'
import { keepBounded } from '../../limits/keep-bounded.ts'
import type { Clock } from '../../ports/clock.ts'
import { retryOnConflict } from '../../ports/retry-on-conflict.ts'
import { type SearchStore, SearchStoreRefusal, VersionConflict, type Versioned } from '../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../ports/ticketing-config.ts'
import type { Log } from '../../telemetry/log.ts'
import { readStoredIncident } from '../incident-of.ts'
import { within } from '../within.ts'
import type { IsModelAway } from './explain-incidents.ts'
import type { FindCause } from './find-cause.ts'
import { findDue } from './find-due.ts'
import { type CauseOutcome, scheduled, withCause } from './note-cause.ts'
import { RecentVersions } from './recent-versions.ts'
import type { SilenceStore } from './silence-store.ts'
import { createTenantPlaces } from './tenant-places.ts'
import { writeRows } from './thread-store.ts'

export interface IntakeDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly config: TicketingConfigSource
  readonly silences: SilenceStore
  readonly findCause: FindCause
  /** Name that no other living agent has: claims under it that are not of this process are of one that is gone. */
  readonly soleName?: string | undefined
  /** Default: no model is known to be away. */
  readonly isModelAway?: IsModelAway
  /** Rows were written: there is something to send. */
  onRows(): void
  /** A cause was found, of an incident that is not quiet. */
  onCause?(incident: TicketedIncident): void
  /** An incident was routed to nobody, for the first time. */
  onUntold?(): void
}

/** Incidents that are attended to at once, and those of one tenant among them. */
const MAX_AT_ONCE = 16
const MAX_OF_TENANT = 6
const KEPT_FREE = 4
/** How long an incident belongs to the agent that takes it up. After that another agent may take it up. */
const CLAIM_MS = 30_000
/** No claim lasts so long: one that does is of a clock that has been set back since. */
const TOO_FAR_MS = 600_000
/** How long a fresh incident waits for the records around it to be searchable. */
const SETTLE_MS = 1_500
/** How long a cause that is found waits for news of the model. */
const MODEL_LOOK_MS = 1_000
/** Pause after a refusal of the store. */
const REFUSED_PAUSE_MS = 60_000
const MAX_REFUSED = 1_000
const MAX_OWN_CLAIMS = 1_000
/** The log tells of incidents that nobody was told of once in that time, for each tenant and reason. */
const UNTOLD_PAUSE_MS = 3_600_000
const MAX_UNTOLD = 1_000

export interface Intake {
  /** Begins to attend to what is due; resolves to the pause until the next round, undefined when nothing is left. */
  round(): Promise<number | undefined>
  /** Resolves when what was begun has ended. */
  idle(): Promise<void>
  /** Begins nothing more; resolves when what was begun has ended, or after `graceMs`: what is left then, another agent takes up. */
  stop(graceMs: number): Promise<void>
}

export function createIntake(deps: IntakeDeps): Intake {
  const { store, clock, log, config, silences, findCause, isModelAway = async () => false, onRows, soleName } = deps
  const places = createTenantPlaces({ atOnce: MAX_AT_ONCE, ofTenant: MAX_OF_TENANT, keptFree: KEPT_FREE }, clock)
  const seen = new RecentVersions()
  let isStopping = false
  const refusedUntil = new Map<string, number>()
  /** Claims of this agent by document, so that it takes up at once an incident at which the store failed. */
  const ownClaims = new Map<string, string>()
  /** When the log told of it last, by tenant and reason. */
  const untoldLogged = new Map<string, number>()
  const iso = (ms = clock.nowMs()) => new Date(ms).toISOString()

  const begin = (hit: Versioned<TicketedIncident>) => {
    const key = keyOf(hit)
    const work = attendTo(hit)
      .then(() => void ownClaims.delete(key))
      .catch(error => {
        if (error instanceof SearchStoreRefusal) keepBounded(refusedUntil, key, clock.nowMs() + REFUSED_PAUSE_MS, MAX_REFUSED)
        log.warn({ error, incident: hit.id }, 'an incident waits for its tickets, tries again')
      })
    void places.take(key, hit.source.tenantId, work)
  }

  /** Undefined when another agent takes the incident up. */
  const claim = async (current: Versioned<TicketedIncident>): Promise<Versioned<TicketedIncident> | undefined> => {
    const claimedUntil = iso(clock.nowMs() + CLAIM_MS)
    const claimed = { ...current.source.ticketing, claimedUntil, ...(soleName !== undefined && { claimedBy: soleName }) }
    const source = { ...current.source, ticketing: claimed }
    keepBounded(ownClaims, keyOf(current), claimedUntil, MAX_OWN_CLAIMS)
    try {
      const version = await store.put(current.index, current.id, source, current)
      return { ...current, ...version, source }
    } catch (error) {
      if (error instanceof VersionConflict) return undefined
      throw error
    }
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

  const attendTo = async ({ index, id }: Versioned<TicketedIncident>): Promise<void> => {
    let current: Versioned<TicketedIncident> | undefined = await readStoredIncident(store, index, id)
    if (current === undefined || !isDue(current.source, clock.nowMs(), isFree(current))) return
    if (current.source.ticketing?.takenAt === undefined) {
      current = await claim(current)
      if (current === undefined) return
      const settledMs = Date.parse(current.source.createdAt) + SETTLE_MS - clock.nowMs()
      if (settledMs > 0) await clock.sleep(Math.min(settledMs, SETTLE_MS))
    }
    const found = await causeOf(current.source)
    const attended = await noteAttention(current, found)
    if (attended === undefined) return
    const { incident, wasTold } = attended
    if (isUntold(incident.source)) noticeUntold(incident.source, wasTold)
    await settle(incident)
    if (found !== undefined && found !== 'not now') tellCause(incident.source)
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

  const noticeUntold = ({ id, tenantId: tenant, service, severity, ticketing }: TicketedIncident, isNew: boolean) => {
    const reason = ticketing?.untold
    if (isNew) deps.onUntold?.()
    const key = `${tenant}\n${reason}`
    const nowMs = clock.nowMs()
    if (isRecent(untoldLogged.get(key) ?? Number.NEGATIVE_INFINITY, UNTOLD_PAUSE_MS, nowMs)) return
    keepBounded(untoldLogged, key, nowMs, MAX_UNTOLD)
    log.warn({ tenant, incident: id, service, severity, reason }, 'nobody is told of an incident')
  }

  const tellCause = (incident: TicketedIncident) => {
    if (incident.status !== 'resolved' && incident.ticketing?.quietBy === undefined) deps.onCause?.(incident)
  }

  /** Writes the rows that the incident is owed, and notes in the incident that they are written. */
  const settle = async (changed: Versioned<TicketedIncident>): Promise<void> => {
    const { index, id, source } = changed
    const owed = source.ticketing?.owed ?? []
    seen.add(changed)
    if (owed.length === 0) return
    await writeRows(store, source, owed, iso())
    onRows()
    await retryOnConflict(async conflicts => {
      const current = conflicts === 0 ? changed : await readStoredIncident(store, index, id)
      if (current === undefined) return
      const next = scheduled(settleOwed(current.source, owed.at(-1)!.seq), clock.nowMs())
      seen.add({ ...current, ...(await store.put(index, id, next, current)) })
    })
  }

  return {
    async round() {
      const nowMs = clock.nowMs()
      const { groups } = await findDue<TicketedIncident>({
        store,
        index: ALL_INCIDENTS,
        filter: [{ bool: { should: [UNSEEN, { range: { 'ticketing.attentionAt': { lte: iso(nowMs) } } }], minimum_should_match: 1 } }],
        sort: [{ createdAt: { order: 'asc', unmapped_type: 'date' } }, { id: { order: 'asc', unmapped_type: 'keyword' } }],
        groupField: 'tenantId',
        room: places.freeFor,
      })
      let left = 0
      const queues = [...groups].map(([tenant, hits]) => ({ tenant, hits: hits.filter(hit => isNews(hit, nowMs)) }))
      // One of each tenant, then another one of each.
      for (let turn = 0; queues.some(({ hits }) => hits.length > turn); turn++)
        for (const { tenant, hits } of queues) {
          const hit = hits[turn]
          if (hit === undefined) continue
          if (isStopping) return undefined
          if (places.freeFor(tenant) > 0) begin({ ...hit, source: { ...hit.source, tenantId: tenant } })
          else left++
        }
      return left > 0 ? BUSY_MS : undefined
    },
    idle: places.idle,
    stop(graceMs) {
      isStopping = true
      return places.idleWithin(graceMs)
    },
  }

  /** Whether a hit is to be attended to. Searches show an incident that was written a moment ago as it was before. */
  function isNews(hit: Versioned<TicketedIncident>, nowMs: number): boolean {
    const key = keyOf(hit)
    if (places.isTaken(key) || seen.isKnown(hit)) return false
    if ((refusedUntil.get(key) ?? 0) > nowMs) return false
    return hit.source.ticketing?.takenAt !== undefined || isFree(hit)
  }

  /** Whether no other agent takes it up now: a claim of this agent, or of one that is gone, is none. The agent itself knows what it has under way. */
  function isFree(hit: Versioned<TicketedIncident>): boolean {
    const { claimedUntil, claimedBy } = hit.source.ticketing ?? {}
    if (claimedUntil === undefined || claimedUntil === ownClaims.get(keyOf(hit))) return true
    if (soleName !== undefined && claimedBy === soleName) return true
    const leftMs = Date.parse(claimedUntil) - clock.nowMs()
    return leftMs <= 0 || leftMs > TOO_FAR_MS
  }
}

/** An old one tells nobody by its age, and one that was not taken up because it is over. */
function isUntold({ platforms, ticketing }: TicketedIncident): boolean {
  return platforms.length === 0 && ticketing?.untold !== undefined && ticketing.takenAt !== undefined && ticketing.quietBy !== 'age'
}

const BUSY_MS = 50
const UNSEEN = { bool: { filter: [{ term: { status: 'open' } }], must_not: [{ exists: { field: 'ticketing.takenAt' } }] } }

const keyOf = ({ index, id }: Pick<Versioned<unknown>, 'index' | 'id'>) => `${index}/${id}`

function isDue({ status, ticketing = {} }: TicketedIncident, nowMs: number, isFree: boolean): boolean {
  const { takenAt, attentionAt } = ticketing
  if (attentionAt !== undefined && Date.parse(attentionAt) <= nowMs) return takenAt !== undefined || isFree
  return takenAt === undefined && status === 'open' && isFree
}
