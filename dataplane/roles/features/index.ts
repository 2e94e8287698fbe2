import { openOnlineStore } from '../open-online-store.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { startFeatures } from './features.ts'

export async function start({ settings, log, clock }: RoleContext<'features'>): Promise<RunningRole & { readonly port: number }> {
  const store = await openOnlineStore(settings)
  const server = await startFeatures({ store, clock, log, host: settings.HOST, port: settings.FEATURES_PORT }).catch(async error => {
    await store.close()
    throw error
  })
  log.info({ host: settings.HOST, port: server.port }, 'features listens')
  return {
    port: server.port,
    async stop() {
      await server.stop()
      await store.close()
    },
  }
}
