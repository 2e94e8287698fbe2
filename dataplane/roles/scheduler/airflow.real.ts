import { createSearchStore } from '../../adapters/search/search-store.ts'
import { backendAddress } from '../../testing/real/address.ts'
import { describeAirflowApi } from './testing/airflow-suite.ts'

export const needs = ['opensearch']

describeAirflowApi('OpenSearch', async () => {
  const store = createSearchStore({ endpoint: backendAddress('opensearch') })
  return { store, stop: () => store.close() }
})
