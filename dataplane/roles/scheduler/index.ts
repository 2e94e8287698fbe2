import { createSearchStore } from '../../adapters/search/search-store.ts'
import { version } from '../../config/version.ts'
import { checkSearchStore } from '../check-search-store.ts'
import { openOnlineStore } from '../open-online-store.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { startScheduler } from './scheduler.ts'

export async function start({ settings, log, clock }: RoleContext<'scheduler'>): Promise<RunningRole & { readonly port: number }> {
  const connection = {
    endpoint: settings.SEARCH_ENDPOINT,
    username: settings.SEARCH_USERNAME,
    password: settings.SEARCH_PASSWORD,
    caFile: settings.SEARCH_CA_FILE,
  }
  await checkSearchStore(connection, log)
  const search = createSearchStore(connection)
  const online = await openOnlineStore(settings)
  const close = () => Promise.all([search.close(), online.close()])
  const server = { host: settings.HOST, port: settings.PORT, portSetting: 'PORT' as const }
  const scheduler = await startScheduler({ search, online, log, clock, version, ...server }).catch(async error => {
    await close()
    throw error
  })
  log.info({ host: settings.HOST, port: scheduler.port, searchEndpoint: settings.SEARCH_ENDPOINT }, 'scheduler listens')
  return {
    port: scheduler.port,
    async stop() {
      await scheduler.stop()
      await close()
    },
  }
}
