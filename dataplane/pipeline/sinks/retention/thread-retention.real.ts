import { createSearchStore } from '../../../adapters/search/search-store.ts'
import { backendAddress } from '../../../testing/real/address.ts'
import { describeThreadRetention } from '../testing/thread-retention-suite.ts'

export const needs = ['opensearch']

describeThreadRetention('OpenSearch', async () => {
  const endpoint = backendAddress('opensearch')
  const clear = async () => void (await (await fetch(`${endpoint}/service-dispatches-*,service-incidents-*`, { method: 'DELETE' })).text())
  await clear()
  const store = createSearchStore({ endpoint })
  return {
    store,
    async stop() {
      await store.close()
      await clear()
    },
  }
})
