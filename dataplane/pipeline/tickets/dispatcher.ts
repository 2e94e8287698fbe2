/** Sends what waits in the outbox: each target in its own lane, tenants in turn, several replicas beside each other (Decisions 6). */
import { randomUUID } from 'node:crypto'
import { ALL_DISPATCHES } from '../../contract/indices.ts'
import type { TargetId } from '../../contract/target-id.ts'
import { buildAuditEntry } from '../../domain/incidents/audit-entry.ts'
import { expireRows, explainWait } from '../../domain/tickets/delivery.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import type { OutboxRow } from '../../domain/tickets/outbox-row.ts'
import type { TicketThread } from '../../domain/tickets/ticket-thread.ts'
import type { TicketOutcome } from '../../ports/incident-platform.ts'
import { VersionConflict, type Versioned } from '../../ports/search-store.ts'
import { writeAuditEntry } from '../sinks/incidents/audit-trail.ts'
import { findDue } from './find-due.ts'
import { ALONE, type LaneOwners } from './lane-owners.ts'
import { createLaneTable, MAX_LANES, partsOf } from './lane-table.ts'
import { RecentVersions } from './recent-versions.ts'
import { type SendDeps, sendRow } from './send-row.ts'
import type { SentRow } from './sent-row.ts'
import type { TargetLane } from './target-lane.ts'
import type { TargetLimits } from './target-limits.ts'
import { fingerprint } from './target-settings.ts'
import { createTenantPlaces } from './tenant-places.ts'

export interface DispatcherDeps extends Omit<SendDeps, 'instance'> {
  readonly onAttempt?: (attempt: Attempt) => void
  /** A row that will not be tried again by itself. */
  readonly onFailed?: (thread: TicketThread, row: OutboxRow) => void
  /** A target has the ticket of this incident now. */
  readonly onOpened?: (incident: TicketedIncident) => void
  /** Something may be sent at once. */
  readonly nudge?: () => void
  /** Name that no other living agent has: with it the leases are known to be over when this agent is gone. */
  readonly soleName?: string | undefined
  /** Which lanes are this agent's. Default: all. */
  readonly owners?: LaneOwners
  /** Default: those of the platforms. */
  readonly limits?: (target: TargetId) => TargetLimits
}

export interface Attempt {
  readonly target: TargetId
  /** `refused`: the target takes nothing until somebody mends it. */
  readonly result: 'delivered' | 'rejected' | 'refused' | 'retryable'
  readonly atMs: number
}

export interface Dispatcher {
  /** Begins to send what is due; resolves to the pause until the next round, undefined when nothing is left. */
  round(): Promise<number | undefined>
  /** Resolves when what was begun has ended. */
  idle(): Promise<void>
  /** Begins nothing more, cuts short what does not end within `graceMs`, and gives it back. */
  stop(graceMs: number): Promise<void>
  /** Seconds that the oldest row waits, as of the last look. */
  oldestPendingSeconds(): number
  /**
   * Until when the target of a lane takes nothing, ms since the epoch; undefined where it does, or where another agent has the lane. `evenIfAsked`: not
   * even what somebody asks for, as the platform wants the time.
   */
  restsUntil(lane: string, evenIfAsked?: 'evenIfAsked'): number | undefined
}

/** Attempts of the last second. Older ones wait for a platform that is slow: they cost a socket, and stand in nobody's way. */
const MAX_AT_ONCE = 64
const SLOW_MS = 1_000
/** All attempts under way, and those of one tenant. */
const MAX_UNDER_WAY = 512
const MAX_OF_TENANT = 24
const KEPT_FREE = 16
const REFUSAL = 'a ticket platform takes nothing until its settings are mended'
/** Rows of a paused lane that are told why they wait, in one round. */
const MAX_EXPLAINED = 20
const BUSY_MS = 50
const LIMITED_MS = 200
/** How often to look for rows that are to be given up, and for the age of the oldest row. */
const HOUSEKEEPING_MS = 10_000
const MAX_EXPIRED = 100
/** No lease lasts so long: one that ends further ahead is of a clock that has been set back since. */
const TOO_FAR_MS = 7_200_000
/** Clocks of agents differ by less. A row that was written later than that is of a clock that has been set back since, and so is the time that it waits for. */
const CLOCKS_MS = 60_000
/** An attempt whose end cannot be written keeps its place for so long. */
const AGAIN_MS = 1_000

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { store, clock, log, config, nudge = () => undefined, owners = ALONE, soleName } = deps
  const sending: SendDeps = { ...deps, instance: soleName ?? randomUUID() }
  const lanes = createLaneTable({ store, clock, owners, limits: deps.limits })
  const places = createTenantPlaces(
    { atOnce: MAX_AT_ONCE, freshMs: SLOW_MS, total: MAX_UNDER_WAY, ofTenant: MAX_OF_TENANT, keptFree: KEPT_FREE },
    clock,
  )
  const seen = new RecentVersions()
  /** Lanes in whose rows the reason for waiting could not be written, and until when no further attempt is made. */
  const unexplained = new Map<string, number>()
  /** Lanes whose target takes nothing until somebody mends its settings. */
  const refusing = new Set<string>()
  const stopping = new AbortController()
  let isStopping = false
  let housekeptMs = Number.NEGATIVE_INFINITY
  let oldestSince: number | undefined
  const iso = (ms = clock.nowMs()) => new Date(ms).toISOString()
  const isDue = () => ({
    bool: {
      should: [{ range: { dueAt: { lte: iso() } } }, { range: { updatedAt: { gt: iso(clock.nowMs() + CLOCKS_MS) } } }],
      minimum_should_match: 1,
    },
  })

  const room = (name: string) => {
    if (!owners.owns(name)) return 0
    return Math.max(0, Math.min(lanes.of(name).room(clock.nowMs()), places.freeFor(partsOf(name).tenant)))
  }

  const begin = (hit: Versioned<TicketThread>, lane: TargetLane) => {
    const work = sendRow(sending, hit, lane, stopping.signal)
      .then(sent => (sent === undefined ? undefined : afterwards(sent)))
      .catch(async error => {
        log.warn({ error, platform: hit.source.platform, incident: hit.source.incidentId }, 'a dispatch waits, tries again')
        await clock.sleep(AGAIN_MS, stopping.signal)
      })
    void places.take(keyOf(hit), hit.source.tenantId, work).then(nudge)
  }

  const afterwards = async ({ thread, before, row, outcome, incident }: SentRow) => {
    seen.add(thread)
    const { platform } = thread.source
    // Nothing was sent: that says nothing of the target.
    const isLeftOut = outcome?.kind === 'delivered' && outcome.isLeftOut === true
    if (row !== undefined && outcome !== undefined && !isLeftOut) {
      deps.onAttempt?.({ target: platform, result: isRefusal(outcome) ? 'refused' : outcome.kind, atMs: clock.nowMs() })
      tellRefusal(thread.source, outcome)
    }
    await tellFailures(before, thread.source)
    if (outcome?.kind === 'delivered' && row?.event === 'open' && incident !== undefined) deps.onOpened?.(incident)
  }

  /** Logs a refusal once, until the target takes something again, as the target is tried each minute. */
  const tellRefusal = ({ lane, tenantId: tenant, platform }: TicketThread, outcome: TicketOutcome) => {
    const isRefusing = isRefusal(outcome)
    if (isRefusing && !refusing.has(lane)) log.error({ tenant, platform, reason: outcome.reason }, REFUSAL)
    if (isRefusing && refusing.size < MAX_LANES) refusing.add(lane)
    if (outcome.kind === 'delivered') refusing.delete(lane)
  }

  /** An audit entry for each row that failed for good. */
  const tellFailures = async (before: TicketThread, after: TicketThread) => {
    for (const row of after.rows) {
      if (row.status !== 'failed' || before.rows.some(({ id, status }) => id === row.id && status === 'failed')) continue
      deps.onFailed?.(after, row)
      const { incidentId, tenantId, platform } = after
      const details = `${row.event} not told to ${platform}: ${row.lastError ?? 'unknown reason'}`
      // The row says the same as the entry: an entry that cannot be written is not worth another attempt.
      await writeAuditEntry(store, tenantId, buildAuditEntry(incidentId, 'dispatch', iso(), details)).catch(error =>
        log.warn({ error, incident: incidentId }, 'no audit entry of a dispatch that failed'),
      )
    }
  }

  /** Rows that wait for a paused target say so; a target that was configured anew is not paused any longer. */
  const explain = async (name: string, hits: readonly Versioned<TicketThread>[]) => {
    const lane = lanes.of(name)
    const { tenant, target } = partsOf(name)
    const configured = (await config.load(tenant)).targets.get(target)
    // A target that is gone is waited for no longer, either.
    lane.configured(configured === undefined ? '' : fingerprint(configured))
    const pause = lane.pause(clock.nowMs())
    if (pause === undefined) return
    const restsUntil = new Date(pause.untilMs).toISOString()
    for (const hit of hits.slice(0, MAX_EXPLAINED)) await rewrite(hit, thread => explainWait(thread, pause.reason, iso(), restsUntil))
  }
  /** Whatever hinders the explaining of one tenant's rows must not keep others from being sent. */
  const tryExplain = async (name: string, hits: readonly Versioned<TicketThread>[]) => {
    if (clock.nowMs() < (unexplained.get(name) ?? 0)) return
    unexplained.delete(name)
    await explain(name, hits).catch(error => {
      if (unexplained.size >= MAX_LANES) unexplained.clear()
      unexplained.set(name, clock.nowMs() + HOUSEKEEPING_MS)
      log.warn({ error, lane: name }, 'rows of a paused target were not told why they wait')
    })
  }

  const rewrite = async (hit: Versioned<TicketThread>, change: (thread: TicketThread) => TicketThread) => {
    const source = change(hit.source)
    if (source === hit.source) return
    try {
      seen.add({ ...hit, ...(await store.put(hit.index, hit.id, source, hit)) })
      await tellFailures(hit.source, source)
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
    }
  }

  const keepHouse = async (nowMs: number) => {
    if (Math.abs(nowMs - housekeptMs) < HOUSEKEEPING_MS) return
    housekeptMs = nowMs
    const pending = { term: { state: 'pending' } }
    const search = (filter: readonly object[], field: string, size: number) =>
      store.search<TicketThread>({
        index: ALL_DISPATCHES,
        takesPart: true,
        body: {
          size,
          track_total_hits: false,
          query: { bool: { filter } },
          sort: [{ [field]: { order: 'asc', unmapped_type: 'date' } }],
        },
      })
    const { hits: over } = await search([pending, { range: { deadlineAt: { lte: iso() } } }], 'deadlineAt', MAX_EXPIRED)
    for (const hit of over)
      if (!isUnderWay(hit))
        await rewrite(hit, thread => expireRows(thread, clock.nowMs())).catch(error =>
          log.warn({ error, platform: hit.source.platform, incident: hit.source.incidentId }, 'a dispatch was not given up, tries again'),
        )
    const { hits } = await search([pending], 'pendingSince', 1)
    const since = hits[0]?.source.pendingSince
    oldestSince = since === undefined ? undefined : Date.parse(since)
  }

  const isUnderWay = (hit: Versioned<TicketThread>) => {
    const leftMs = hit.source.lease === undefined ? 0 : Date.parse(hit.source.lease.until) - clock.nowMs()
    return places.isTaken(keyOf(hit)) || (leftMs > 0 && leftMs <= TOO_FAR_MS)
  }

  return {
    idle: places.idle,
    async round() {
      if (isStopping) return undefined
      const nowMs = clock.nowMs()
      await keepHouse(nowMs)
      await lanes.recall()
      const { groups, counts } = await findDue<TicketThread>({
        store,
        index: ALL_DISPATCHES,
        filter: [{ term: { state: 'pending' } }, isDue()],
        sort: [{ dueAt: { order: 'asc', unmapped_type: 'date' } }],
        groupField: 'lane',
        room,
      })
      const queues: { readonly name: string; readonly hits: readonly Versioned<TicketThread>[] }[] = []
      for (const [name, all] of groups) {
        if (!owners.owns(name)) continue
        const hits = all.filter(hit => !seen.isKnown(hit) && !isUnderWay(hit))
        for (const { source } of hits) if (source.askedAt !== undefined) lanes.of(name).asked(Date.parse(source.askedAt))
        if (hits.length > 0 && lanes.of(name).pause(clock.nowMs()) !== undefined) await tryExplain(name, hits)
        queues.push({ name, hits: hits.length > 1 ? askedFirst(inTurn(hits)) : hits })
      }
      let begun = 0
      for (let turn = 0; queues.some(({ hits }) => hits.length > turn); turn++)
        for (const { name, hits } of queues) {
          const hit = hits[turn]
          const lane = lanes.of(name)
          if (hit === undefined || isStopping || room(name) === 0 || !lane.take(clock.nowMs())) continue
          begin(hit, lane)
          begun++
        }
      // Those of a target that rests come up again once it is over, or when somebody asks.
      const own = [...counts].filter(([name]) => owners.owns(name) && lanes.of(name).pause(clock.nowMs()) === undefined)
      const left = own.reduce((sum, [, count]) => sum + count, 0) - begun
      if (left <= 0) return undefined
      return begun > 0 ? BUSY_MS : LIMITED_MS
    },
    async stop(graceMs) {
      isStopping = true
      await places.idleWithin(graceMs)
      stopping.abort()
      await places.idle()
    },
    restsUntil(name, evenIfAsked) {
      const pause = lanes.known(name)?.pause(clock.nowMs())
      return evenIfAsked === undefined || pause?.isOfPlatform ? pause?.untilMs : undefined
    },
    oldestPendingSeconds: () => (oldestSince === undefined ? 0 : Math.max(0, (clock.nowMs() - oldestSince) / 1_000)),
  }
}

const keyOf = ({ index, id }: Versioned<TicketThread>) => `${index}/${id}`

/** Tickets that somebody asked for come before the others of their target. */
function askedFirst(hits: readonly Versioned<TicketThread>[]): readonly Versioned<TicketThread>[] {
  return hits.toSorted((a, b) => (b.source.askedAt ?? '').localeCompare(a.source.askedAt ?? ''))
}

/** The most severe first, as they came; of one severity from a random one on: other replicas may see the same rows in the same order. */
function inTurn(hits: readonly Versioned<TicketThread>[]): readonly Versioned<TicketThread>[] {
  return [...Map.groupBy(hits, ({ source }) => source.severity).values()].flatMap(turned)
}

/** The same rows, beginning at a random one. */
function turned<T>(items: readonly T[]): readonly T[] {
  const from = Math.floor(Math.random() * items.length)
  return [...items.slice(from), ...items.slice(0, from)]
}

/** Whether a target refuses all that it is told, such as by a key that is not valid any more. */
function isRefusal(outcome: TicketOutcome): outcome is Extract<TicketOutcome, { kind: 'rejected' }> {
  return outcome.kind === 'rejected' && outcome.isTargetBroken === true
}
