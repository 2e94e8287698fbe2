import { openRoleBus } from '../open-bus.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { collectorSettings, createCollector } from './collector.ts'

export async function start({ settings, log, clock }: RoleContext<'collector'>): Promise<RunningRole> {
  const bus = await openRoleBus(settings, clock, log)
  const collector = createCollector({
    bus,
    clock,
    log,
    settings: collectorSettings(settings),
  })
  try {
    await collector.start()
  } catch (error) {
    await bus.stop()
    throw error
  }
  return {
    async stop() {
      await collector.stop()
      await bus.stop()
    },
  }
}
