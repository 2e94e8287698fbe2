import { createSearchStore } from '../../../adapters/search/search-store.ts'
import { backendAddress } from '../../../testing/real/address.ts'
import { describeRecurrence } from '../testing/recurrence-suite.ts'

export const needs = ['opensearch']

describeRecurrence('OpenSearch', async () => {
  const store = createSearchStore({ endpoint: backendAddress('opensearch') })
  return { store, stop: () => store.close() }
})
