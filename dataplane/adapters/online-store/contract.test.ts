import { createMemoryOnlineStore } from '../../testing/memory-online-store.ts'
import { describeOnlineStore } from './contract.ts'

describeOnlineStore('in memory', async () => {
  const store = createMemoryOnlineStore()
  return { open: async () => store, stop: async () => {} }
})
