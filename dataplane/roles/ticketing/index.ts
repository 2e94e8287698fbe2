import { createDeclaredTicketing } from '../../adapters/declared-ticketing/declared-ticketing.ts'
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
  const declared = createDeclaredTicketing(settings.TICKETING_CONFIG_DIR, { clock, log })
  await declared.start()
  const close = () => Promise.all([store.close(), declared.stop()])
  const listen = { host: settings.HOST, port: settings.TICKETING_PORT }
  const server = await startTicketing({ store, clock, log, declared, ...listen }).catch(async error => {
    await close()
    throw error
  })
  log.info({ host: settings.HOST, port: server.port, searchEndpoint: settings.SEARCH_ENDPOINT }, 'ticketing listens')
  return {
    port: server.port,
    async stop() {
      await server.stop()
      await close()
    },
  }
}
