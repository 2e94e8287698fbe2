import { defineRole, type RoleContext } from '../role.ts'
import { startFeatures } from './features.ts'

export const start = defineRole(async ({ settings, log, clock }: RoleContext<'features'>, { keep, backends }) => {
  const { HOST: host, FEATURES_PORT } = settings
  const { port } = keep(await startFeatures({ store: await backends.onlineStore(settings), clock, log, host, port: FEATURES_PORT }))
  log.info({ host, port }, 'features listens')
  return { port }
})
