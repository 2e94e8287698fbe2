/** The collector: three servers around one intake. */
import type { SettingsOf } from '../../contract/env.ts'
import { startHttp2Server } from '../../http/http2/server.ts'
import { createPlainLane } from '../../http/plain-lane/plain-lane.ts'
import { type Listening, startHttpServer } from '../../http/server.ts'
import type { LocalCollector } from '../../otlp-intake/local-collector.ts'
import { exportErrorBody } from '../../otlp-intake/refusal.ts'
import type { Bus } from '../../ports/bus.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import { type Running, startTogether } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createHttp1Answer, createOtlpGrpc } from './grpc/otlp-grpc.ts'
import { createHealthHttp } from './http/health-http.ts'
import { createOtlpHttp, LOGS_PATH } from './http/otlp-http.ts'
import { createPlainExports } from './http/plain-exports.ts'
import { createCollectorCounters } from './intake/collector-counters.ts'
import { Intake } from './intake/intake.ts'
import { createLocalIntake } from './intake/local-intake.ts'

export interface CollectorSettings {
  readonly host: string
  /** 0: a free one. */
  readonly grpcPort: number
  readonly httpPort: number
  readonly healthPort: number
  /** Before and after decompression. */
  readonly maxRequestBytes: number
  /** Request bytes held in memory at once. */
  readonly maxPendingBytes: number
  /** Tenant of records whose resource names none. */
  readonly tenantId: string
  readonly rawTopic: string
}

/** The collector's part of a role's settings. */
export function collectorSettings(settings: SettingsOf<'collector'>): CollectorSettings {
  return {
    host: settings.HOST,
    grpcPort: settings.OTLP_GRPC_PORT,
    httpPort: settings.OTLP_HTTP_PORT,
    healthPort: settings.HEALTH_PORT,
    maxRequestBytes: settings.MAX_REQUEST_BYTES,
    maxPendingBytes: settings.MAX_PENDING_BYTES,
    tenantId: settings.SERVICE_TENANT_ID,
    rawTopic: settings.RAW_TOPIC,
  }
}

export interface CollectorDeps {
  /** `isOpen` false: it is not there yet. */
  readonly bus: Bus & { readonly isOpen?: boolean }
  readonly clock: Clock
  readonly log: Log
  readonly settings: CollectorSettings
  /** Called with the size of each body, unpacked, bytes. */
  readonly onBody?: ((bytes: number) => void) | undefined
  /** How long records wait until they are searchable, ms; absent where that is not known. */
  readonly delayMs?: (() => number) | undefined
}

/** Ports actually bound. */
export interface CollectorAddresses {
  readonly host: string
  readonly grpcPort: number
  readonly httpPort: number
  readonly healthPort: number
}

export interface Collector extends Running, LocalCollector {
  readonly addresses: CollectorAddresses
}

/**
 * OTLP in over HTTP and gRPC, OTLP JSON out to `raw-logs` (Spec: Log collector; Decisions 3). Rejects when one of the three ports cannot be had.
 * Once stopped it refuses new requests, answers those under way, and closes the ports; the bus stays open.
 */
export function startCollector({ bus, clock, log, settings, onBody, delayMs }: CollectorDeps): Promise<Collector> {
  const metrics = createMetrics()
  const counters = createCollectorCounters(metrics)
  const intake = new Intake({ bus, clock, log, counters, settings, onBody, delayMs })
  const description = { name: 'service_collector_pending_bytes', help: 'Request bytes held in memory.' }
  metrics.gauge(description, () => intake.budget.usedBytes)
  metrics.processMetrics()
  const nowMs = () => clock.nowMs()
  const elapsedMs = () => monotonicMs(clock)
  const { host } = settings
  const at = (port: number, setting: string) => ({ host, port, setting })
  let isStarted = false
  return startTogether(async keep => {
    const health = createHealthHttp({ clock, metrics, log, isReady: () => isStarted && bus.isOpen !== false && intake.isReady })
    const open: Listening[] = keep([], closeAll)
    const { port: healthPort } = keepOpen(await startHttpServer(health, at(settings.healthPort, 'HEALTH_PORT')))
    const onError = (error: Error) => log.debug({ error }, 'HTTP connection failed')
    const createExports = createPlainExports({ intake, counters, log })
    const lane = createPlainLane({ paths: [LOGS_PATH], createHandler: createExports, nowMs, monotonicMs: elapsedMs, onError })
    const http = createOtlpHttp({ intake, counters, log })
    const { port: httpPort } = keepOpen(
      await startHttpServer(http, { ...at(settings.httpPort, 'OTLP_HTTP_PORT'), errorBody: exportErrorBody }, lane),
    )
    const createHandler = createOtlpGrpc({ intake, counters, clock, log })
    const { port: grpcPort } = keepOpen(
      await startHttp2Server(
        { createHandler, monotonicMs: elapsedMs, log, http1Answer: createHttp1Answer(httpPort) },
        at(settings.grpcPort, 'OTLP_GRPC_PORT'),
      ),
    )
    keep(intake, held => {
      for (const server of open) server.announceStop()
      return held.drain()
    })
    isStarted = true
    const addresses = { host, grpcPort, httpPort, healthPort }
    log.info(addresses, 'collector listens')
    return { addresses, accept: createLocalIntake({ intake, counters, log }).accept }

    function keepOpen(server: Listening): Listening {
      open.push(server)
      return server
    }
  })

  /** At the same time, since each may wait for its clients. */
  async function closeAll(servers: readonly Listening[]): Promise<void> {
    await Promise.all(servers.map(server => server.stop()))
    log.info({}, 'collector stopped')
  }
}
