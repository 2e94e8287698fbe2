import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { describeSearchStore } from './testing/search-store-suite.ts'

describeSearchStore('embedded', startEmbeddedSearchStore, { hasMappings: true })
