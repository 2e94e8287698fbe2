/** Sends what waits in the outbox: each target in its own lane, tenants in turn, several replicas beside each other (Decisions 6). */
import { randomUUID } from 'node:crypto'
import { ALL_DISPATCHES } from '../../../contract/indices.ts'
import type { TargetId } from '../../../contract/target-id.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import type { Versioned } from '../../../ports/search-store.ts'
import { documentKey } from '../document-key.ts'
import { findDue } from '../find-due.ts'
import { ALONE, type LaneOwners } from '../lanes/lane-owners.ts'
import { createLaneTable, partsOf } from '../lanes/lane-table.ts'
import type { TargetLane } from '../lanes/target-lane.ts'
import type { TargetLimits } from '../lanes/target-limits.ts'
import { RecentVersions } from '../recent-versions.ts'
import { createTenantPlaces } from '../tenant-places.ts'
import { createDispatchOutcomes, type DispatchListener } from './dispatch-outcomes.ts'
import { type SendDeps, sendRow } from './send-row.ts'
import { createWaitingRows } from './waiting-rows.ts'

export interface DispatcherDeps extends Omit<SendDeps, 'instance'>, DispatchListener {
  /** Something may be sent at once. */
  readonly nudge?: () => void
  /** Name that no other living agent has: with it the leases are known to be over when this agent is gone. */
  readonly soleName?: string | undefined
  /** Which lanes are this agent's. Default: all. */
  readonly owners?: LaneOwners
  /** Default: those of the platforms. */
  readonly limits?: (target: TargetId) => TargetLimits
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
const BUSY_MS = 50
const LIMITED_MS = 200
/** No lease lasts so long: one that ends further ahead is of a clock that has been set back since. */
const TOO_FAR_MS = 7_200_000
/** Clocks of agents differ by less. A row from further ahead was written by a clock that has been set back since: the time for which it waits means nothing. */
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
  const stopping = new AbortController()
  let isStopping = false
  const outcomes = createDispatchOutcomes(deps, seen)
  const waiting = createWaitingRows({ store, clock, log, config, lanes, seen, tellFailures: outcomes.tellFailures })
  const isDue = () => ({
    bool: {
      should: [{ range: { dueAt: { lte: isoTime(clock.nowMs()) } } }, { range: { updatedAt: { gt: isoTime(clock.nowMs() + CLOCKS_MS) } } }],
      minimum_should_match: 1,
    },
  })

  const room = (name: string) => {
    if (!owners.owns(name)) return 0
    return Math.max(0, Math.min(lanes.of(name).room(clock.nowMs()), places.freeFor(partsOf(name).tenant)))
  }

  const begin = (hit: Versioned<TicketThread>, lane: TargetLane) => {
    const work = sendRow(sending, hit, lane, stopping.signal)
      .then(sent => (sent === undefined ? undefined : outcomes.tell(sent)))
      .catch(async error => {
        log.warn({ error, platform: hit.source.platform, incident: hit.source.incidentId }, 'a dispatch waits, tries again')
        await clock.sleep(AGAIN_MS, stopping.signal)
      })
    void places.take(documentKey(hit), hit.source.tenantId, work).then(nudge)
  }

  const isUnderWay = (hit: Versioned<TicketThread>) => {
    const leftMs = hit.source.lease === undefined ? 0 : Date.parse(hit.source.lease.until) - clock.nowMs()
    return places.isTaken(documentKey(hit)) || (leftMs > 0 && leftMs <= TOO_FAR_MS)
  }

  return {
    idle: places.idle,
    async round() {
      if (isStopping) return undefined
      await waiting.keepHouse(isUnderWay)
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
        if (hits.length > 0 && lanes.of(name).pause(clock.nowMs()) !== undefined) await waiting.explain(name, hits)
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
    oldestPendingSeconds: waiting.oldestSeconds,
  }
}

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
