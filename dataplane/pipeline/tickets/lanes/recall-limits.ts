/** Reads, after a start and where lanes may have changed hands, which targets have asked for no requests until when (Decisions 6). */
import { ALL_DISPATCHES } from '../../../contract/indices.ts'
import { headOf, type TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import type { SearchStore } from '../../../ports/search-store.ts'

export interface AskedRest {
  readonly lane: string
  readonly untilMs: number
  readonly reason: string
}

/** Threads, those whose target wants to be left alone longest first: an agent has a few of each lane under way. */
const MAX_RECALLED = 1_000
/** No platform is left alone for so long: a time that lies further ahead is of a clock that has been set back since. */
const TOO_FAR_MS = 7_200_000

/** Rejects with the search store's errors. */
export async function recallLimits(store: Pick<SearchStore, 'search'>, nowMs: number): Promise<readonly AskedRest[]> {
  const [gt, lte] = [nowMs, nowMs + TOO_FAR_MS].map(ms => new Date(ms).toISOString())
  const { hits } = await store.search<TicketThread>({
    index: ALL_DISPATCHES,
    takesPart: true,
    body: {
      size: MAX_RECALLED,
      track_total_hits: false,
      query: { bool: { filter: [{ range: { limitedUntil: { gt, lte } } }] } },
      sort: [{ limitedUntil: { order: 'desc', unmapped_type: 'date' } }],
    },
  })
  return hits.map(({ source }) => ({
    lane: source.lane,
    untilMs: Date.parse(source.limitedUntil!),
    reason: headOf(source)?.lastError ?? 'the platform asked for a pause',
  }))
}
