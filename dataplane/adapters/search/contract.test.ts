import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { describeSearchStore } from './contract.ts'
import { createSearchStore } from './search-store.ts'

describeSearchStore(
  'in memory',
  async () => {
    const store = createMemorySearchStore()
    return { store, stop: () => store.close() }
  },
  { hasMappings: false },
)

/** A real OpenSearch, where one is named. */
const endpoint = process.env['TEST_SEARCH_ENDPOINT']
if (endpoint !== undefined) {
  describeSearchStore(
    `OpenSearch at ${endpoint}`,
    async () => {
      const store = createSearchStore({ endpoint })
      return { store, stop: () => store.close() }
    },
    { hasMappings: true },
  )
}
