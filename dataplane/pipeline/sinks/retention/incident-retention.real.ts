import { createSearchStore } from '../../../adapters/search/search-store.ts'
import { backendAddress } from '../../../testing/real/address.ts'
import { describeIncidentRetention } from '../testing/incident-retention-suite.ts'

export const needs = ['opensearch']

describeIncidentRetention('OpenSearch', async () => {
  const endpoint = backendAddress('opensearch')
  const clear = async () => void (await (await fetch(`${endpoint}/service-audit-*,service-incidents-*`, { method: 'DELETE' })).text())
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
