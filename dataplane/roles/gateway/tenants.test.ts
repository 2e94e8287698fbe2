import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { testTenants } from './testing/tenants-suite.ts'

testTenants('the embedded search store', startEmbeddedSearchStore)
