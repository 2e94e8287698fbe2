import { join } from 'node:path'
import { lockDirectory } from '../../process/directory-lock.ts'
import { withFailingDisk } from '../../process/failing-disk.ts'
import { createSearchServer } from '../../search-store/search-server.ts'
import { noteFormat } from '../data-format.ts'
import { defineRole, type RoleContext } from '../role.ts'

/** The embedded search store by itself, over the same files that standalone keeps in `DATA_DIR`. */
export const start = defineRole(async ({ settings, log, clock }: RoleContext<'search'>, { keep }) => {
  const { HOST: host, DATA_DIR: dataDir } = settings
  keep(lockDirectory(dataDir), lock => lock.release())
  noteFormat(dataDir)
  const server = keep(createSearchServer({ dir: join(dataDir, 'search'), host, port: settings.SEARCH_PORT, clock, log }))
  await server.start().catch((error: unknown) => {
    throw withFailingDisk(error, dataDir)
  })
  const { port = settings.SEARCH_PORT } = server.address ?? {}
  log.info({ host, port, dataDir }, 'search listens')
  return { port }
})
