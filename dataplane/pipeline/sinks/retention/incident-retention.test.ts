import { startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { describeIncidentRetention } from '../testing/incident-retention-suite.ts'

describeIncidentRetention('the store in memory', async () => ({ store: createMemorySearchStore(), stop: async () => {} }))
describeIncidentRetention('the embedded store', startEmbeddedSearchStore)
