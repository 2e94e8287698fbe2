import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { describeAirflowApi } from './airflow-contract.ts'

describeAirflowApi('the embedded search store', startEmbeddedSearchStore)
