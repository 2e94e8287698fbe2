import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type DirectoryLock, lockDirectory } from '../dataplane/process/directory-lock.ts'

const PROGRAM = resolve(import.meta.dirname, '../hack/logpipeline')

describe('what keeps a role from starting', function () {
  this.timeout(60_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-start-'))
  const used = join(directory, 'used')
  let lock: DirectoryLock
  let server: Server
  let port: string
  before(async () => {
    lock = lockDirectory(used)
    server = createServer().listen(0, '127.0.0.1')
    await new Promise(done => server.once('listening', done))
    port = String((server.address() as AddressInfo).port)
  })
  after(() => {
    lock.release()
    server.close()
    rmSync(directory, { recursive: true })
  })

  /** The lines of a role that does not start, without those that only inform. */
  const start = (role: string, settings: Readonly<Record<string, string>>) => {
    const ports = ['OTLP_GRPC_PORT', 'OTLP_HTTP_PORT', 'HEALTH_PORT', 'BRIDGE_PORT', 'SEARCH_PORT', 'FEATURES_PORT']
    const env = { PATH: process.env['PATH'], HOST: '127.0.0.1', DATA_DIR: join(directory, 'data'), ...settings }
    const { status, stdout, stderr } = spawnSync(PROGRAM, [role], {
      env: { ...Object.fromEntries(ports.map(name => [name, '0'])), ...env },
      encoding: 'utf8',
      timeout: 30_000,
    })
    const lines = (stdout + stderr).split('\n').filter(line => line !== '' && !line.includes('"level":"info"'))
    return { status, lines }
  }

  const cases = [
    [
      'standalone',
      'a directory in use',
      () => ({ DATA_DIR: used }),
      /used is in use by process \d+: stop it first, or choose another directory"/,
    ],
    [
      'search',
      'a port in use',
      () => ({ SEARCH_PORT: port }),
      /SEARCH_PORT: cannot listen on 127\.0\.0\.1:\d+: another program listens there"/,
    ],
    [
      'collector',
      'a port in use',
      () => ({ HEALTH_PORT: port }),
      /HEALTH_PORT: cannot listen on 127\.0\.0\.1:\d+: another program listens there"/,
    ],
    [
      'collector',
      'a directory that cannot be',
      () => ({ DATA_DIR: '/dev/null/x' }),
      /DATA_DIR: the directory \/dev\/null\/x\/bus cannot be made: ENOTDIR/,
    ],
    [
      'features',
      'a directory that cannot be',
      () => ({ DATA_DIR: '/proc/x' }),
      /DATA_DIR: the directory \/proc\/x\/features cannot be made: ENOENT/,
    ],
  ] as const
  const NO_CLUSTER = { HOME: '/nowhere', SERVICE_TENANT_ID: 'shop' }
  const wrongSettings = [
    ['operator', 'no cluster', () => NO_CLUSTER, /KUBECONFIG: no cluster: expected KUBECONFIG, a service account under /],
    ['operator', 'a kubeconfig that is not there', () => ({ ...NO_CLUSTER, KUBECONFIG: '/nowhere' }), /KUBECONFIG: .*ENOENT/],
    ['agent', 'a kubeconfig that is not there', () => ({ ...NO_CLUSTER, KUBECONFIG: '/nowhere' }), /KUBECONFIG: .*ENOENT/],
  ] as const
  for (const [role, what, settings, expected, code] of [
    ...cases.map(each => [...each, 1] as const),
    ...wrongSettings.map(each => [...each, 78] as const),
  ])
    it(`${role}, ${what}: one line says so, without a stack`, () => {
      const { status, lines } = start(role, settings())
      expect(lines).to.have.length(1)
      expect(lines[0]).to.match(expected).and.include('cannot start')
      expect(lines[0]).to.not.match(/ at .*\.[jt]s:\d+/)
      expect(status).to.equal(code)
    })
})
