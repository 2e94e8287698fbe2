import { startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { describeThreadRetention } from '../testing/thread-retention-suite.ts'

describeThreadRetention('the store in memory', async () => ({ store: createMemorySearchStore(), stop: async () => {} }))
describeThreadRetention('the embedded store', startEmbeddedSearchStore)
