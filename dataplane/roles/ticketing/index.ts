import { createSearchStore } from '../../adapters/search/search-store.ts'
import { checkSearchStore } from '../check-search-store.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { startTicketing } from './ticketing.ts'

export async function start({ settings, log, clock }: RoleContext<'ticketing'>): Promise<RunningRole & { readonly port: number }> {
  const connection = {
    endpoint: settings.SEARCH_ENDPOINT,
    username: settings.SEARCH_USERNAME,
    password: settings.SEARCH_PASSWORD,
    caFile: settings.SEARCH_CA_FILE,
  }
  await checkSearchStore(connection, log)
  const store = createSearchStore(connection)
  const server = await startTicketing({ store, clock, log, host: settings.HOST, port: settings.TICKETING_PORT }).catch(async error => {
    await store.close()
    throw error
  })
  log.info({ host: settings.HOST, port: server.port, searchEndpoint: settings.SEARCH_ENDPOINT }, 'ticketing listens')
  return {
    port: server.port,
    async stop() {
      await server.stop()
      await store.close()
    },
  }
}
