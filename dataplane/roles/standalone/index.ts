import { join, resolve } from 'node:path'
import { createSearchStore } from '../../adapters/search/search-store.ts'
import { version } from '../../config/version.ts'
import { consumerGroup } from '../../contract/consumer-groups.ts'
import { lockDirectory } from '../../lifecycle/directory-lock.ts'
import type { Clock } from '../../ports/clock.ts'
import { startAgent } from '../agent/agent.ts'
import { agentConfig } from '../agent/index.ts'
import { type Bridge, startBridge } from '../bridge/bridge.ts'
import { collectorSettings, createCollector } from '../collector/collector.ts'
import { startDlqService } from '../dlq/dlq-service.ts'
import { startFeatures } from '../features/features.ts'
import { openRoleBus } from '../open-bus.ts'
import { openOnlineStore } from '../open-online-store.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { startScheduler } from '../scheduler/scheduler.ts'
import { start as startTicketing } from '../ticketing/index.ts'
import { banner } from './banner.ts'
import { watchPipelineDelay } from './pipeline-delay.ts'
import { startSearchThread } from './search-thread.ts'

/** Starts the whole data plane in one process: storage first, then what works on it, intake last; stops it in the opposite order. */
export async function start({ settings, log, clock }: RoleContext<'standalone'>): Promise<RunningRole> {
  const started: { stop(): unknown }[] = []
  const keep = <T extends { stop(): unknown }>(part: T): T => {
    started.push(part)
    return part
  }
  const stop = async () => {
    for (const part of started.splice(0).reverse()) await part.stop()
  }
  const logFormat = process.stdout.isTTY ? 'readable' : 'json'
  try {
    const lock = lockDirectory(settings.DATA_DIR)
    keep({ stop: () => lock.release() })
    const searchEndpoint = settings.SEARCH_ENDPOINT ?? (await startEmbeddedSearch())
    const bus = keep(await openRoleBus(settings, clock, log))
    keep(await startDlqService({ dataDir: settings.DATA_DIR, bus, settings, clock, log: log.child({ role: 'dlq' }) }))
    const ticketing = keep(
      await startTicketing({ settings: { ...settings, SEARCH_ENDPOINT: searchEndpoint }, log: log.child({ role: 'ticketing' }), clock }),
    )
    const online = await openOnlineStore(settings)
    keep({ stop: () => online.close() })
    const features = keep(
      await startFeatures({
        store: online,
        log: log.child({ role: 'features' }),
        clock,
        host: settings.HOST,
        port: settings.FEATURES_PORT,
      }),
    )
    const bridge = keep(
      await startBridge({
        settings: { ...settings, SEARCH_ENDPOINT: searchEndpoint, DEFAULT_TENANT: settings.SERVICE_TENANT_ID },
        bus,
        logFormat,
        log: log.child({ role: 'bridge' }),
        clock,
      }),
    )
    const search = createSearchStore({
      endpoint: searchEndpoint,
      username: settings.SEARCH_USERNAME,
      password: settings.SEARCH_PASSWORD,
      caFile: settings.SEARCH_CA_FILE,
    })
    keep({ stop: () => search.close() })
    const scheduler = keep(
      await startScheduler({
        search,
        online,
        log: log.child({ role: 'scheduler' }),
        clock,
        host: settings.HOST,
        port: settings.SCHEDULER_PORT,
        portSetting: 'SCHEDULER_PORT',
        version,
      }),
    )
    const agent = keep(
      await startAgent({
        bus: async () => bus,
        ...agentConfig(settings),
        search: {
          endpoint: searchEndpoint,
          username: settings.SEARCH_USERNAME,
          password: settings.SEARCH_PASSWORD,
          caFile: settings.SEARCH_CA_FILE,
        },
        host: settings.HOST,
        port: settings.AGENT_PORT,
        portSetting: 'AGENT_PORT',
        log: log.child({ role: 'agent' }),
        clock,
      }),
    )
    const { RAW_TOPIC: raw, ENRICHED_TOPIC: enriched, ANOMALY_TOPIC: anomaly } = settings
    const stages = [
      { topic: raw, groupId: consumerGroup('etl', [raw]) },
      { topic: enriched, groupId: consumerGroup('indexer', [enriched, anomaly]) },
    ]
    const delay = keep(watchPipelineDelay({ bus, stages, clock }))
    const collector = keep(
      createCollector({
        bus,
        clock,
        log: log.child({ role: 'collector' }),
        settings: collectorSettings(settings),
        delayMs: () => delay.currentMs(),
      }),
    )
    // Who is told that it is up, by the banner or by the collector's readiness, finds it working.
    const starting = await stillStarting(bridge, clock, bus.isOpen ? BRIDGE_WAIT_MS : 0)
    const missingBrokers = bus.isOpen ? undefined : settings.BUS_BROKERS
    const ports = await collector.start()
    const addresses = {
      otlpGrpc: `${settings.HOST}:${ports.grpcPort}`,
      otlpHttp: `http://${settings.HOST}:${ports.httpPort}`,
      health: `http://${settings.HOST}:${ports.healthPort}`,
      search: searchEndpoint,
      bridge: `http://${settings.HOST}:${bridge.port}`,
      ticketing: `http://${settings.HOST}:${ticketing.port}`,
      features: `http://${settings.HOST}:${features.port}`,
      scheduler: `http://${settings.HOST}:${scheduler.port}`,
      agent: `http://${settings.HOST}:${agent.port}`,
      dataDir: resolve(settings.DATA_DIR),
    }
    const missing = { ...(starting.length > 0 && { starting }), ...(missingBrokers !== undefined && { missingBrokers }) }
    log.info({ ...addresses, ...missing }, 'logpipeline is up')
    if (logFormat === 'readable') process.stdout.write(banner(addresses, starting, missingBrokers))
    return { stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function startEmbeddedSearch(): Promise<string> {
    const data = {
      directory: join(settings.DATA_DIR, 'search'),
      host: settings.HOST,
      port: settings.SEARCH_PORT,
      logLevel: settings.LOG_LEVEL,
      logFormat,
    } as const
    const { port } = keep(await startSearchThread({ data, log, clock }))
    return `http://${reachable(settings.HOST)}:${port}`
  }
}

/** How long the start waits for the bridge's threads: one that cannot run must not keep logs from being taken in. */
const BRIDGE_WAIT_MS = 10_000

/** Threads of the bridge that do not run after a while. */
async function stillStarting(bridge: Bridge, clock: Clock, waitMs: number): Promise<readonly string[]> {
  const waited = new AbortController()
  await Promise.race([bridge.running, clock.sleep(waitMs, waited.signal)])
  waited.abort()
  return bridge.notRunning()
}

/** An address on this machine where a listener on `host` answers. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
