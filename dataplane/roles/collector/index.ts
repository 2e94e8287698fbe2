import { createHeapMarking } from '../../process/heap-marking.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { collectorSettings, startCollector } from './collector.ts'

export const start = defineRole(async ({ settings, log, clock, standalone }: RoleContext<'collector'>, { keep, backends }) => {
  const bus = await backends.bus(settings)
  // The flags of V8 are for the whole process.
  const marking = standalone === undefined ? keep(createHeapMarking()) : undefined
  const { addresses, accept } = keep(
    await startCollector({
      ...{ bus, clock, log },
      settings: collectorSettings(settings),
      onBody: marking?.noteBody,
      delayMs: standalone?.delayMs,
    }),
  )
  return { addresses, accept }
})
