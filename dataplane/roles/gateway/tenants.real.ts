import { createSearchStore } from '../../adapters/search/search-store.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { backendAddress } from '../../testing/real/address.ts'
import { testTenants } from './testing/tenants-suite.ts'

export const needs = ['opensearch']

testTenants('OpenSearch', async () => {
  const endpoint = backendAddress('opensearch')
  const store = createSearchStore({ endpoint })
  const clear = async () => {
    for (const index of await store.listIndices('service-*')) await store.deleteIndex(index)
  }
  await clear()
  const fresh: SearchStore = {
    ...store,
    // The tests follow each other faster than OpenSearch shows what was written.
    async search(request) {
      await store.refresh(request.index)
      return store.search(request)
    },
  }
  return {
    ...{ store: fresh, endpoint },
    async stop() {
      await clear()
      await store.close()
    },
  }
})
