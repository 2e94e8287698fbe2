import { openBus } from '../open-bus.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { createCollector } from './collector.ts'

export async function start({ settings, log, clock }: RoleContext<'collector'>): Promise<RunningRole> {
  const bus = await openBus(settings, clock, log)
  const collector = createCollector({
    bus,
    clock,
    log,
    settings: {
      host: settings.HOST,
      grpcPort: settings.OTLP_GRPC_PORT,
      httpPort: settings.OTLP_HTTP_PORT,
      healthPort: settings.HEALTH_PORT,
      maxRequestBytes: settings.MAX_REQUEST_BYTES,
      maxPendingBytes: settings.MAX_PENDING_BYTES,
      tenantId: settings.SERVICE_TENANT_ID,
      rawTopic: settings.RAW_TOPIC,
    },
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
