import type { SettingsOf } from '../../contract/env.ts'
import { startHttp2Server } from '../../http/http2/server.ts'
import { createPlainLane } from '../../http/plain-lane/plain-lane.ts'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createOtlpGrpc } from './grpc/otlp-grpc.ts'
import { createHealthHttp } from './http/health-http.ts'
import { createOtlpHttp, LOGS_PATH } from './http/otlp-http.ts'
import { createPlainExports } from './http/plain-exports.ts'
import { createCollectorCounters } from './intake/collector-counters.ts'
import { Intake } from './intake/intake.ts'

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
  /** How long records wait until they are searchable, ms; absent where that is not known. */
  readonly delayMs?: () => number
}

/** Ports actually bound. */
export interface CollectorAddresses {
  readonly host: string
  readonly grpcPort: number
  readonly httpPort: number
  readonly healthPort: number
}

export interface Collector {
  /** Opens the three ports; rejects, with none left open, when one cannot be had. */
  start(): Promise<CollectorAddresses>
  /** Refuses new requests, answers those under way, closes the ports. The bus stays open. */
  stop(): Promise<void>
  /** Known once started. */
  readonly addresses: CollectorAddresses | undefined
}

/** OTLP in over HTTP and gRPC, OTLP JSON out to `raw-logs` (Spec: Log collector; Decisions 3). */
export function createCollector({ bus, clock, log, settings, delayMs }: CollectorDeps): Collector {
  const metrics = createMetrics()
  const counters = createCollectorCounters(metrics)
  const intake = new Intake({ bus, clock, log, counters, settings, delayMs })
  const description = { name: 'service_collector_pending_bytes', help: 'Request bytes held in memory.' }
  metrics.gauge(description, () => intake.budget.usedBytes)
  metrics.processMetrics()
  const open: HttpServer[] = []
  let addresses: CollectorAddresses | undefined
  let isStarted = false

  const at = (port: number, setting: string) => ({ host: settings.host, port, setting })
  const keep = <T extends HttpServer>(server: T): T => {
    open.push(server)
    return server
  }
  const closeAll = async () => {
    await Promise.all(open.map(server => server.stop()))
    open.length = 0
  }
  return {
    get addresses() {
      return addresses
    },
    async start() {
      try {
        const health = createHealthHttp({ clock, metrics, log, isReady: () => isStarted && bus.isOpen !== false && intake.isReady })
        const { port: healthPort } = keep(await startHttpServer(health, at(settings.healthPort, 'HEALTH_PORT')))
        const http = createOtlpHttp({ intake, counters, log })
        const nowMs = () => clock.nowMs()
        const onError = (error: Error) => log.debug({ error }, 'HTTP connection failed')
        const createHandler = createPlainExports({ intake, counters, log })
        const lane = createPlainLane({ path: LOGS_PATH, createHandler, nowMs, onError })
        const { port: httpPort } = keep(await startHttpServer(http, at(settings.httpPort, 'OTLP_HTTP_PORT'), lane))
        const grpc = createOtlpGrpc({ intake, counters, clock, log })
        const { port: grpcPort } = keep(
          await startHttp2Server({ createHandler: grpc, nowMs, log }, at(settings.grpcPort, 'OTLP_GRPC_PORT')),
        )
        isStarted = true
        addresses = { host: settings.host, grpcPort, httpPort, healthPort }
        log.info(addresses, 'collector listens')
        return addresses
      } catch (error) {
        await closeAll()
        throw error
      }
    },
    async stop() {
      await intake.drain()
      await closeAll()
      log.info({}, 'collector stopped')
    },
  }
}
