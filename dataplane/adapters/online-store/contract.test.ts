import { createMemoryOnlineStore } from '../../testing/memory-online-store.ts'
import { describeOnlineStore } from './testing/online-store-suite.ts'

describeOnlineStore('in memory', async () => {
  const store = createMemoryOnlineStore()
  return { open: async () => store, stop: async () => {} }
})
