/** Recalls incidents that an earlier version left owing tickets, and looking at nothing: their rows were not written when the agent ended or the store failed. */
import { ALL_INCIDENTS } from '../../../contract/indices.ts'
import { isStranded, type TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, SearchStoreRefusal, VersionConflict, type Versioned } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import { incidentOf, readStoredIncident } from '../../incident-of.ts'

export interface RecallDeps {
  readonly store: Pick<SearchStore, 'search' | 'get' | 'put'>
  readonly clock: Clock
  readonly log: Log
}

/** Incidents that one turn looks at, the newest first. */
const PAGE_SIZE = 200
/** Incidents that are looked at after a start. */
const MAX_LOOKED_AT = 20_000

type Position = readonly (string | number)[]

/** One turn of the work that follows a start; turns after its end do nothing. Rejects while the store is away: that turn is to be made again. */
export type Recall = () => Promise<void>

/** The intake finds what is recalled. Rows are written once by their numbers: no ticket is made twice, however often an incident is recalled. */
export function createRecall({ store, clock, log }: RecallDeps): Recall {
  let after: Position | undefined
  let looked = 0
  let recalled = 0
  let isOver = false

  const turn = async () => {
    const hits = await findIdle(store, after)
    for (const hit of hits) if (isStranded(incidentOf(hit), clock.nowMs()) && (await recall(hit))) recalled++
    looked += hits.length
    after = hits.at(-1)?.sort
    isOver = hits.length < PAGE_SIZE || looked >= MAX_LOOKED_AT
    if (isOver && recalled > 0) log.info({ incidents: recalled }, 'incidents whose tickets were owed are attended to again')
  }

  /** False where somebody else changed the incident: then it is attended to. */
  const recall = async ({ index, id }: Versioned<TicketedIncident>): Promise<boolean> => {
    const current = await readStoredIncident(store, index, id)
    if (current === undefined || !isStranded(current.source, clock.nowMs())) return false
    const ticketing = { ...current.source.ticketing, attentionAt: new Date(clock.nowMs()).toISOString() }
    try {
      await store.put(index, id, { ...current.source, ticketing }, current)
      return true
    } catch (error) {
      if (error instanceof VersionConflict) return false
      throw error
    }
  }

  return async () => {
    if (isOver) return
    try {
      await turn()
    } catch (error) {
      if (!(error instanceof SearchStoreRefusal)) throw error
      isOver = true
      log.warn({ error }, 'incidents of an earlier version that owe tickets could not be looked for')
    }
  }
}

/** Incidents that wait for nothing, with what they owe. */
async function findIdle(store: RecallDeps['store'], after: Position | undefined) {
  const { hits } = await store.search<TicketedIncident>({
    index: ALL_INCIDENTS,
    takesPart: true,
    body: {
      size: PAGE_SIZE,
      track_total_hits: false,
      _source: ['ticketing', 'updatedAt'],
      query: { bool: { must_not: [{ exists: { field: 'ticketing.attentionAt' } }] } },
      sort: [{ updatedAt: { order: 'desc', unmapped_type: 'date' } }, { id: { order: 'asc', unmapped_type: 'keyword' } }],
      ...(after !== undefined && { search_after: after }),
    },
  })
  return hits
}
