/** Rows that wait: those of a paused target say why, those that waited for too long are given up. */
import { ALL_DISPATCHES } from '../../../contract/indices.ts'
import { expireRows, explainWait } from '../../../domain/tickets/delivery.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import type { Log } from '../../../telemetry/log.ts'
import { type LaneTable, MAX_LANES, partsOf } from '../lanes/lane-table.ts'
import type { RecentVersions } from '../recent-versions.ts'
import type { DispatchOutcomes } from './dispatch-outcomes.ts'
import { fingerprint } from './target-settings.ts'

export interface WaitingRowsDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly config: TicketingConfigSource
  readonly lanes: Pick<LaneTable, 'of'>
  readonly seen: RecentVersions
  readonly tellFailures: DispatchOutcomes['tellFailures']
}

export interface WaitingRows {
  /** Has rows of a lane say why they wait, if it is paused. Whatever hinders that must not keep other rows from being sent: it never rejects. */
  explain(lane: string, hits: readonly Versioned<TicketThread>[]): Promise<void>
  /** Now and then, gives up rows that waited for too long, and looks for the oldest. */
  keepHouse(isUnderWay: (hit: Versioned<TicketThread>) => boolean): Promise<void>
  /** Seconds that the oldest row waits, as of the last look. */
  oldestSeconds(): number
}

/** Rows of a paused lane that are told why they wait, in one round. */
const MAX_EXPLAINED = 20
/** How often to look for rows that are to be given up, and for the age of the oldest row. */
const HOUSEKEEPING_MS = 10_000
const MAX_EXPIRED = 100

export function createWaitingRows({ store, clock, log, config, lanes, seen, tellFailures }: WaitingRowsDeps): WaitingRows {
  /** Lanes in whose rows the reason for waiting could not be written, and until when no further attempt is made. */
  const unexplained = new Map<string, number>()
  let housekeptMs = Number.NEGATIVE_INFINITY
  let oldestSince: number | undefined

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

  /** A target that was configured anew is not paused any longer. */
  const explain = async (name: string, hits: readonly Versioned<TicketThread>[]) => {
    const lane = lanes.of(name)
    const { tenant, target } = partsOf(name)
    const configured = (await config.load(tenant)).targets.get(target)
    // A target that is gone is waited for no longer, either.
    lane.configured(configured === undefined ? '' : fingerprint(configured))
    const pause = lane.pause(clock.nowMs())
    if (pause === undefined) return
    const restsUntil = isoTime(pause.untilMs)
    for (const hit of hits.slice(0, MAX_EXPLAINED))
      await rewrite(hit, thread => explainWait(thread, pause.reason, isoTime(clock.nowMs()), restsUntil))
  }

  const search = (filter: readonly object[], field: string, size: number) =>
    store.search<TicketThread>({
      index: ALL_DISPATCHES,
      takesPart: true,
      body: {
        size,
        track_total_hits: false,
        query: { bool: { filter: [{ term: { state: 'pending' } }, ...filter] } },
        sort: [{ [field]: { order: 'asc', unmapped_type: 'date' } }],
      },
    })

  const giveUp = async (hit: Versioned<TicketThread>) => {
    const { platform, incidentId: incident } = hit.source
    await rewrite(hit, thread => expireRows(thread, clock.nowMs())).catch(error =>
      log.warn({ error, platform, incident }, 'a dispatch was not given up, tries again'),
    )
  }

  return {
    async explain(name, hits) {
      if (clock.nowMs() < (unexplained.get(name) ?? 0)) return
      unexplained.delete(name)
      await explain(name, hits).catch(error => {
        if (unexplained.size >= MAX_LANES) unexplained.clear()
        unexplained.set(name, clock.nowMs() + HOUSEKEEPING_MS)
        log.warn({ error, lane: name }, 'rows of a paused target were not told why they wait')
      })
    },
    async keepHouse(isUnderWay) {
      const nowMs = clock.nowMs()
      if (Math.abs(nowMs - housekeptMs) < HOUSEKEEPING_MS) return
      housekeptMs = nowMs
      const { hits: over } = await search([{ range: { deadlineAt: { lte: isoTime(clock.nowMs()) } } }], 'deadlineAt', MAX_EXPIRED)
      for (const hit of over) if (!isUnderWay(hit)) await giveUp(hit)
      const { hits } = await search([], 'pendingSince', 1)
      const since = hits[0]?.source.pendingSince
      oldestSince = since === undefined ? undefined : Date.parse(since)
    },
    oldestSeconds: () => (oldestSince === undefined ? 0 : Math.max(0, (clock.nowMs() - oldestSince) / 1_000)),
  }
}
