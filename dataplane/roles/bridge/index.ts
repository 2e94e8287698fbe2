import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import { checkSearchStore } from '../check-search-store.ts'
import { openRoleBus } from '../open-bus.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { startBridge } from './bridge.ts'
import { searchStoreConfig } from './search-store-config.ts'

export async function start({ settings, log, clock }: RoleContext<'bridge'>): Promise<RunningRole> {
  const bus = await openRoleBus(settings, clock, log)
  try {
    await checkSearchStore(searchStoreConfig(settings), log)
    const bridge = await startBridge({ settings: { ...settings, DEFAULT_TENANT }, bus, logFormat: 'json', log, clock })
    log.info({ host: settings.HOST, port: bridge.port, searchEndpoint: settings.SEARCH_ENDPOINT }, 'bridge listens')
    void bridge.running.then(() => log.info({}, 'all threads of the bridge run'))
    return {
      async stop() {
        await bridge.stop()
        await bus.stop()
      },
    }
  } catch (error) {
    await bus.stop()
    throw error
  }
}
