import { unpackBulk } from '../bulk-port/packed-bulk.ts'
import type { SearchStore } from '../ports/search-store.ts'

/** The packed bulks of a store of the same process, by way of its ordinary ones. */
export function packedBulkBy(bulk: SearchStore['bulk']): NonNullable<SearchStore['bulkPacked']> {
  return async packed => {
    const outcomes = await bulk(
      unpackBulk(packed).map(({ upsert, ...operation }) => ({ ...operation, ...(upsert !== undefined && { upsert }) })),
    )
    const isAllMade = outcomes.every(outcome => outcome.status === 'done' && outcome.created)
    return { outcomes: isAllMade ? 'created' : outcomes, bytes: packed.bytes }
  }
}
