import { createSearchStore } from '../../adapters/search/search-store.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { backendAddress } from '../../testing/real/address.ts'
import { testTickets } from './testing/tickets-suite.ts'

export const needs = ['opensearch']

testTickets('OpenSearch', async () => {
  const store = createSearchStore({ endpoint: backendAddress('opensearch') })
  const clear = async () => {
    for (const kind of ['incidents', 'dispatches', 'audit'])
      for (const index of await store.listIndices(`service-${kind}-tenant-*`)) await store.deleteIndex(index)
  }
  await clear()
  const fresh: SearchStore = {
    ...store,
    // The rounds of the suite follow each other faster than OpenSearch shows what was written.
    async search(request) {
      await store.refresh(request.index)
      return store.search(request)
    },
  }
  return {
    store: fresh,
    async stop() {
      await clear()
      await store.close()
    },
  }
})
