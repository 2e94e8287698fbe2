import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { withBulkPort } from './bulk-port-client.ts'
import { describeSearchStore } from './testing/search-store-suite.ts'

describeSearchStore(
  'embedded, with bulks through a port',
  async () => {
    const { store, connect, stop } = await startEmbeddedSearchStore()
    const port = connect()
    return {
      store: withBulkPort(store, port),
      async stop() {
        port.close()
        await stop()
      },
    }
  },
  { hasMappings: true },
)
