import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { describeSearchStore } from './testing/search-store-suite.ts'

describeSearchStore(
  'in memory',
  async () => {
    const store = createMemorySearchStore()
    return { store, stop: () => store.close() }
  },
  { hasMappings: false },
)
