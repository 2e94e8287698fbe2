import { join } from 'node:path'
import { lockDirectory } from '../../lifecycle/directory-lock.ts'
import { createSearchServer } from '../../search-store/search-server.ts'
import type { RoleContext, RunningRole } from '../role.ts'

/** The embedded search store by itself, over the same files that standalone keeps in `DATA_DIR`. */
export async function start({ settings, log, clock }: RoleContext<'search'>): Promise<RunningRole & { readonly port: number }> {
  const lock = lockDirectory(settings.DATA_DIR)
  const server = createSearchServer({ dir: join(settings.DATA_DIR, 'search'), host: settings.HOST, port: settings.SEARCH_PORT, clock, log })
  try {
    await server.start()
  } catch (error) {
    lock.release()
    throw error
  }
  const { port = settings.SEARCH_PORT } = server.address ?? {}
  log.info({ host: settings.HOST, port, dataDir: settings.DATA_DIR }, 'search listens')
  return {
    port,
    async stop() {
      await server.stop()
      lock.release()
    },
  }
}
