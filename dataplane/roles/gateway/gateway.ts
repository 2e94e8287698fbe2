/** The auth proxy on the cloud address: key first, then the tenant of the key goes with the request to its back end (Spec: Authentication, Access patterns). */
import { createKeyCheck } from '../../api-keys/key-check.ts'
import { createControlApp } from '../../http/control-app.ts'
import { startHttpServer } from '../../http/server.ts'
import { exportErrorBody } from '../../otlp-intake/refusal.ts'
import { monotonicMs } from '../../ports/clock.ts'
import { type Running, startTogether } from '../../process/running.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createFront } from './front.ts'
import type { GatewayConfig } from './gateway-config.ts'
import type { Certificate } from './tls/certificate.ts'
import { startTlsServer } from './tls/tls-server.ts'

export interface Gateway extends Running {
  readonly port: number
  readonly healthPort: number | undefined
  setCertificate(certificate: Certificate): void
}

export function startGateway(config: GatewayConfig): Promise<Gateway> {
  return startTogether(async keep => {
    const { log, clock, host } = config
    const metrics = createMetrics()
    metrics.processMetrics()
    const check = keep(createKeyCheck({ keys: config.keys, clock, log }))
    const front = keep(createFront(config, check, metrics))
    const at = { host, port: config.port, setting: 'GATEWAY_PORT', errorBody: exportErrorBody }
    const server = keep(
      await startTlsServer(front.listener, config.certificate, at, { ...front, monotonicMs: () => monotonicMs(clock), log }),
    )
    const healthAt = config.healthPort === undefined ? undefined : { host, port: config.healthPort, setting: 'HEALTH_PORT' }
    const health =
      healthAt === undefined ? undefined : keep(await startHttpServer(createControlApp({ routes: [], log, metrics }), healthAt))
    return { port: server.port, healthPort: health?.port, setCertificate: server.setCertificate }
  })
}
