import { backendAddress } from '../../testing/real/address.ts'
import { createSearchStore } from './search-store.ts'
import { describeSearchStore } from './testing/search-store-suite.ts'

export const needs = ['opensearch']

describeSearchStore(
  'OpenSearch',
  async () => {
    const store = createSearchStore({ endpoint: backendAddress('opensearch') })
    return { store, stop: () => store.close() }
  },
  { hasMappings: true },
)
