import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { testTickets } from './testing/tickets-suite.ts'

testTickets('the store in memory', async () => ({ store: createMemorySearchStore(), stop: async () => undefined }))
testTickets('the embedded store', startEmbeddedSearchStore)
