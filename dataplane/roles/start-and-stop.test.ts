import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { loadSettings } from '../config/environment.ts'
import { isRoleName, ROLES, type RoleName } from '../contract/roles.ts'
import { testStartAndStop } from '../process/testing/start-and-stop-suite.ts'
import { SILENT } from '../telemetry/log.ts'
import { freePorts } from '../testing/free-port.ts'
import { ROLE_LOADERS } from './index.ts'

/** The port that a role takes last. */
const LAST_PORT: Partial<Record<RoleName, string>> = { collector: 'OTLP_GRPC_PORT', gateway: 'HEALTH_PORT', standalone: 'DASHBOARD_PORT' }

describe('start and stop of each role', () => {
  let directory: string
  const occupied = new Set<Server>()
  const ports = new Map<string, number>()
  const occupy = async (port: number): Promise<Server> => {
    const server = createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    occupied.add(server)
    return server
  }
  const free = async (server: Server) => {
    occupied.delete(server)
    await new Promise(resolve => server.close(resolve))
  }
  const settingOf = (role: RoleName) => LAST_PORT[role] ?? ROLES[role].listens[0]!.setting
  const environment = (role: RoleName) => ({
    ...Object.fromEntries(Object.values(ROLES).flatMap(({ listens }) => listens.map(({ setting }) => [setting, '0']))),
    ...{ AGENT_PORT: '0', SCHEDULER_PORT: '0', LOG_LEVEL: 'silent', SERVICE_TENANT_ID: 'acme' },
    [settingOf(role)]: String(ports.get(role)),
    HOST: '127.0.0.1',
    DATA_DIR: join(directory, role.replace(' ', '-')),
    ...(role !== 'standalone' && { SEARCH_ENDPOINT: 'http://127.0.0.1:1' }),
    ...((role === 'agent' || role.startsWith('stream')) && { BUS_BROKERS: '127.0.0.1:1' }),
  })

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'logpipeline-start-and-stop-'))
    const roles = Object.keys(ROLE_LOADERS)
    for (const [at, port] of (await freePorts(roles.length)).entries()) ports.set(roles[at]!, port)
  })
  afterEach(async () => {
    for (const server of occupied) await free(server)
  })
  after(() => rmSync(directory, { recursive: true }))

  // The operator needs a cluster: `operator/main.test.ts` and its cluster suites start and stop it.
  for (const role of Object.keys(ROLE_LOADERS)
    .filter(isRoleName)
    .filter(name => name !== 'operator'))
    testStartAndStop(role, () => ({
      async start() {
        const { start } = await ROLE_LOADERS[role]()
        const known = loadSettings(role, environment(role)) as never
        return start({ settings: known, log: SILENT, clock: systemClock })
      },
      async breakStart() {
        const server = await occupy(ports.get(role)!)
        return () => free(server)
      },
    }))
})
