import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { describeAirflowApi } from './testing/airflow-suite.ts'

describeAirflowApi('the embedded search store', startEmbeddedSearchStore)
