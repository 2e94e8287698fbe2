import { backendAddress } from '../../testing/real/address.ts'
import { describeSearchStore } from './contract.ts'
import { createSearchStore } from './search-store.ts'

export const needs = ['opensearch']

describeSearchStore(
  'OpenSearch',
  async () => {
    const store = createSearchStore({ endpoint: backendAddress('opensearch') })
    return { store, stop: () => store.close() }
  },
  { hasMappings: true },
)
