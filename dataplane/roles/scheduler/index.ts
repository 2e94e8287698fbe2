import { version } from '../../config/version.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { startScheduler } from './scheduler.ts'

export const start = defineRole(async ({ settings, log, clock, standalone }: RoleContext<'scheduler'>, { keep, backends }) => {
  const { HOST: host, SEARCH_ENDPOINT: searchEndpoint } = settings
  const search = await backends.searchStore(settings)
  const online = await backends.onlineStore(settings)
  const listen = { host, port: settings.PORT, portSetting: standalone?.portSetting ?? 'PORT' } as const
  const { port } = keep(await startScheduler({ search, online, log, clock, version, ...listen }))
  log.info({ host, port, searchEndpoint }, 'scheduler listens')
  return { port }
})
