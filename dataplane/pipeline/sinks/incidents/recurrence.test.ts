import { startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { describeRecurrence } from '../testing/recurrence-suite.ts'

describeRecurrence('the embedded store', startEmbeddedSearchStore)
