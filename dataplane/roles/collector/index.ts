import { defineRole, type RoleContext } from '../role.ts'
import { collectorSettings, startCollector } from './collector.ts'

export const start = defineRole(async ({ settings, log, clock, standalone }: RoleContext<'collector'>, { keep, backends }) => {
  const bus = await backends.bus(settings)
  const { addresses, accept } = keep(
    await startCollector({ bus, clock, log, settings: collectorSettings(settings), delayMs: standalone?.delayMs }),
  )
  return { addresses, accept }
})
