/** Standalone: the whole data plane in one process, as a loop over the table of roles. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startCommandSocket } from '../../command-socket/command-socket.ts'
import { consumerGroup } from '../../contract/consumer-groups.ts'
import { portSettings } from '../../contract/env.ts'
import { lockDirectory } from '../../process/directory-lock.ts'
import { withFailingDisk } from '../../process/failing-disk.ts'
import { type Running, startTogether } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { createBackends } from '../backends.ts'
import { createBackupHandler } from '../backup/backup-handler.ts'
import { refuseUnfinishedRestore } from '../backup/unfinished-restore.ts'
import { noteFormat } from '../data-format.ts'
import { createDlqHandler } from '../dlq/dlq-handler.ts'
import type { RoleContext } from '../role.ts'
import { ROLE_MODULES } from '../role-modules.ts'
import { type Addresses, addressesOf, endpointsOf, reachable } from './addresses.ts'
import { banner } from './banner.ts'
import { readOrMakeEncryptionKey } from './encryption-key.ts'
import { ownCommand } from './own-command.ts'
import { watchPipelineDelay } from './pipeline-delay.ts'
import { publishSearchAddress } from './publish-address.ts'
import { type SearchThread, startSearchThread } from './search-thread.ts'
import { stillStarting } from './still-starting.ts'

/** Roles in the order in which they start, before the collector. They stop in the opposite order. */
const WORKING = ['ticketing', 'features', 'bridge', 'scheduler', 'agent'] as const
type Part = (typeof WORKING)[number] | 'collector'
type Started = { -readonly [P in Part]: Awaited<ReturnType<Awaited<ReturnType<(typeof ROLE_MODULES)[P]>>['start']>> }

/** The settings of ports that for a role alone are `PORT`. */
const PORT_SETTINGS = { scheduler: 'SCHEDULER_PORT', agent: 'AGENT_PORT' } as const

/** The agent of a standalone shows its own parts alone. */
const WITHOUT_CLUSTER = { KUBECONFIG: undefined, SERVICE_NAMESPACE: undefined } as const

/** Where tickets lead that only people at this machine can have asked for; undefined where others are served. */
function consoleHere({ HOST, DASHBOARD_PORT }: RoleContext<'standalone'>['settings']): string | undefined {
  return HOST === '127.0.0.1' && DASHBOARD_PORT !== 0 ? `http://localhost:${DASHBOARD_PORT}` : undefined
}

/** Starts the whole data plane in one process: storage first, then the roles that work on it, intake last; stops it in the opposite order. */
export function start({ settings, log, clock }: RoleContext<'standalone'>): Promise<Running> {
  const { HOST: host, DATA_DIR, RAW_TOPIC: raw, ENRICHED_TOPIC: enriched, ANOMALY_TOPIC: anomaly } = settings
  const logFormat = process.stdout.isTTY ? 'readable' : 'json'
  return startTogether(async keep => {
    refuseUnfinishedRestore(DATA_DIR)
    const isEmpty = !existsSync(join(DATA_DIR, 'search'))
    keep(lockDirectory(DATA_DIR), lock => lock.release())
    noteFormat(DATA_DIR)
    const search = settings.SEARCH_ENDPOINT === undefined ? await startEmbeddedSearch() : undefined
    const searchEndpoint = settings.SEARCH_ENDPOINT ?? `http://${reachable(host)}:${search!.port}`
    keep(publishSearchAddress(searchEndpoint, { dataDir: DATA_DIR, clock, log }))
    const backends = keep(createBackends({ clock, log }))
    const bus = await backends.bus(settings)
    const commands = new Map([
      ['dlq', createDlqHandler({ bus, settings, clock })],
      ['backup', createBackupHandler(DATA_DIR, search?.backUp)],
    ])
    keep(await startCommandSocket({ dataDir: DATA_DIR, commands, log }))
    const stages = [
      { topic: raw, groupId: consumerGroup('etl', [raw]) },
      { topic: enriched, groupId: consumerGroup('indexer', [enriched, anomaly]) },
    ]
    const delay = keep(watchPipelineDelay({ bus, stages, clock }))
    const shared = {
      backends,
      logFormat,
      dataDir: DATA_DIR,
      defaultTenant: settings.SERVICE_TENANT_ID,
      delayMs: delay.currentMs,
      ports: portSettings('standalone').map(name => Number(settings[name as keyof typeof settings])),
      connectSearch: search?.connect,
    } as const
    const encryptionKey = settings.ENCRYPTION_KEY ?? readOrMakeEncryptionKey(DATA_DIR)
    const started = {} as Started
    const startPart = async (role: Part) => {
      const portSetting = role === 'scheduler' || role === 'agent' ? PORT_SETTINGS[role] : 'PORT'
      const { start } = await ROLE_MODULES[role]()
      const PORT = portSetting === 'PORT' ? 0 : settings[portSetting]
      const own = { ...settings, ...WITHOUT_CLUSTER, SEARCH_ENDPOINT: searchEndpoint, ENCRYPTION_KEY: encryptionKey, PORT }
      if (role === 'ticketing') own.PUBLIC_URL ??= consoleHere(settings)
      const part = keep(await start({ settings: own, log: log.child({ role }), clock, standalone: { ...shared, portSetting } }))
      Object.assign(started, { [role]: part })
    }
    for (const role of WORKING) await startPart(role)
    // Readers of the banner, and callers that find the collector ready, find the bridge working.
    const { bridge } = started
    const starting = await stillStarting(bridge, clock, bus.isOpen ? BRIDGE_WAIT_MS : 0)
    const missingBrokers = bus.isOpen ? undefined : settings.BUS_BROKERS
    const [gatewayModule, dashboardModule] = await Promise.all([ROLE_MODULES.gateway(), ROLE_MODULES.dashboard()])
    // Callers that find the collector ready find the gateway and the dashboard a moment later.
    await gatewayModule.prepare({ settings, clock, dataDir: DATA_DIR })
    await startPart('collector')
    const endpoints = { ...endpointsOf(host, started), SEARCH_ENDPOINT: searchEndpoint }
    const atTheDoor = (role: 'gateway' | 'dashboard') => ({
      settings: { ...settings, ...endpoints },
      ...{ log: log.child({ role }), clock, standalone: { ...shared, collector: started.collector, portSetting: 'PORT' } as const },
    })
    const gateway = keep(await gatewayModule.start(atTheDoor('gateway')))
    const toDashboard = atTheDoor('dashboard')
    const dashboard = keep(
      await dashboardModule.start({ ...toDashboard, standalone: { ...toDashboard.standalone, gatewayPort: gateway.port } }),
    )
    const addresses = {
      ...addressesOf(host, started, { dashboard: dashboard.port, gateway: gateway.port }),
      search: searchEndpoint,
      dataDir: resolve(DATA_DIR),
    }
    announce(log, addresses, { starting, missingBrokers })
    if (logFormat === 'readable')
      process.stdout.write(
        banner(addresses, starting, { missingBrokers, isEmpty, command: ownCommand(process.argv[1] ?? '', process.cwd()) }),
      )
    return {}

    async function startEmbeddedSearch(): Promise<SearchThread> {
      const directory = join(DATA_DIR, 'search')
      const data = { directory, host, port: settings.SEARCH_PORT, logLevel: settings.LOG_LEVEL, logFormat } as const
      return keep(await startSearchThread({ data, log, clock }))
    }
  }).catch((error: unknown) => {
    throw withFailingDisk(error, DATA_DIR)
  })
}

/** How long the start waits for the bridge's threads: one that cannot run must not keep logs from being taken in. */
const BRIDGE_WAIT_MS = 10_000

interface Missing {
  /** Threads of the bridge that are not at work yet. */
  readonly starting: readonly string[]
  /** Brokers that do not answer yet. */
  readonly missingBrokers: string | undefined
}

function announce(log: Log, addresses: Addresses, { starting, missingBrokers }: Missing): void {
  const fields = { ...addresses, ...(starting.length > 0 && { starting }) }
  if (missingBrokers === undefined) log.info(fields, 'logpipeline is up')
  else log.warn({ ...fields, missingBrokers }, 'logpipeline is up, waiting for brokers: nothing is taken in yet')
}
