import { createSearchStore } from '../../adapters/search/search-store.ts'
import { backendAddress } from '../../testing/real/address.ts'
import { describeFeatureCompute } from './testing/compute-suite.ts'

export const needs = ['opensearch']

describeFeatureCompute('OpenSearch', async () => {
  const store = createSearchStore({ endpoint: backendAddress('opensearch') })
  return { store, stop: () => store.close() }
})
