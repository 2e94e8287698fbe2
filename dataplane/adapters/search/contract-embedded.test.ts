import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { describeSearchStore } from './contract.ts'

describeSearchStore('embedded', startEmbeddedSearchStore, { hasMappings: true })
