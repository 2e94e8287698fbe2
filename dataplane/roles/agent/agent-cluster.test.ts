import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { type ConfigError, loadSettings } from '../../config/environment.ts'
import { eventually } from '../../kube/testing/eventually.ts'
import { type FakeApiServer, startFakeApiServer } from '../../kube/testing/fake-api-server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createCaller } from '../../testing/http-caller.ts'
import { start } from './index.ts'
import { EXTERNAL_SECRETS, externalSecret, FLINK_DEPLOYMENTS, flinkDeployment, store } from './testing/cluster-objects.ts'

describe('the infrastructure agent in a cluster', () => {
  let dir: string
  let server: FakeApiServer
  let stops: (() => Promise<void>)[]

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'agent-'))
    stops = []
    server = await startFakeApiServer([EXTERNAL_SECRETS, FLINK_DEPLOYMENTS])
    store(server, EXTERNAL_SECRETS, externalSecret('kafka', 'SecretSynced', '2026-01-01T00:00:00Z'))
    store(server, FLINK_DEPLOYMENTS, flinkDeployment('etl', { jobStatus: { state: 'RUNNING' }, taskManager: { replicas: 2 } }))
  })
  afterEach(async () => {
    for (const stop of stops) await stop()
    await server.stop()
    rmSync(dir, { recursive: true })
  })

  const kubeconfig = (namespace: string): string => {
    const path = join(dir, 'config')
    const config = {
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'fake', user: 'agent', namespace } }],
      clusters: [{ name: 'fake', cluster: { server: server.access.server } }],
      users: [{ name: 'agent', user: { token: 'secret' } }],
    }
    writeFileSync(path, JSON.stringify(config))
    return path
  }
  const agent = async (environment: Readonly<Record<string, string>>) => {
    const fixed = { HOST: '127.0.0.1', PORT: '0', SERVICE_TENANT_ID: 'acme', SEARCH_ENDPOINT: 'http://127.0.0.1:1' }
    const running = await start({ settings: loadSettings('agent', { ...fixed, ...environment }), log: SILENT, clock: systemClock })
    stops.push(() => running.stop())
    return createCaller(`http://127.0.0.1:${running.port}`)
  }

  it('GET /metrics shows external secrets and Flink jobs, and asks the API server nothing', async () => {
    const { get } = await agent({ KUBECONFIG: kubeconfig('shop') })
    await eventually('both are watched', () => server.watches.count === 2)
    server.forgetRequests()
    const { body } = await get('/metrics')
    expect(body.secrets).to.deep.equal({
      status: 'healthy',
      externalSecrets: [{ name: 'kafka', status: 'SecretSynced', lastSyncTime: '2026-01-01T00:00:00Z' }],
    })
    expect(body.stream).to.deep.equal({
      status: 'healthy',
      jobs: [{ name: 'etl', state: 'RUNNING', taskManagers: 2, uptime: '0s' }],
    })
    expect((await get('/ready')).body.collectors).to.include({ stream: 'initialized', secrets: 'initialized' })
    expect(server.requests).to.deep.equal([])
  })

  it('asks as its service account, for its namespace and tenant alone', async () => {
    await agent({ KUBECONFIG: kubeconfig('shop') })
    await eventually('both are watched', () => server.watches.count === 2)
    const lists = server.requests.filter(({ verb }) => verb === 'list')
    expect(lists.map(({ url }) => url.pathname).sort()).to.deep.equal([
      '/apis/external-secrets.io/v1/namespaces/shop/externalsecrets',
      '/apis/flink.apache.org/v1beta1/namespaces/shop/flinkdeployments',
    ])
    for (const { url, headers } of lists) {
      expect(url.searchParams.get('labelSelector')).to.equal('logpipeline.dev/tenant=acme')
      expect(headers.authorization).to.equal('Bearer secret')
    }
  })

  it('SERVICE_NAMESPACE names another namespace than the current one', async () => {
    const { get } = await agent({ KUBECONFIG: kubeconfig('elsewhere'), SERVICE_NAMESPACE: 'shop' })
    expect((await get('/metrics')).body.secrets.externalSecrets).to.have.length(1)
    const other = await agent({ KUBECONFIG: kubeconfig('elsewhere') })
    expect((await other.get('/metrics')).body.secrets).to.deep.equal({ status: 'healthy', externalSecrets: [] })
  })

  it('GET /ready returns 503 while the cluster refuses a list', async () => {
    server.deny({ resource: 'externalsecrets.external-secrets.io' })
    const { get } = await agent({ KUBECONFIG: kubeconfig('shop') })
    const { status, body } = await get('/ready')
    expect(status).to.equal(503)
    expect(body.collectors).to.include({ stream: 'initialized', secrets: 'error' })
  })

  it('is down in both sections of a cluster that answers nothing', async () => {
    server.fault({}, { kind: 'status', code: 500, reason: 'InternalError' }, Number.POSITIVE_INFINITY)
    const { get } = await agent({ KUBECONFIG: kubeconfig('shop') })
    const { body } = await get('/metrics')
    expect([body.stream, body.secrets]).to.deep.equal([
      { status: 'down', jobs: [] },
      { status: 'down', externalSecrets: [] },
    ])
  })

  it('does not start with a kubeconfig that cannot be used, and says why', async () => {
    writeFileSync(join(dir, 'empty'), '{}')
    const problems: string[] = []
    for (const KUBECONFIG of [join(dir, 'none'), join(dir, 'empty')])
      await agent({ KUBECONFIG }).catch(error => problems.push(...(error as ConfigError).problems))
    expect(problems).to.deep.equal([
      `KUBECONFIG: expected a readable file, seen ${join(dir, 'none')} (ENOENT)`,
      'KUBECONFIG: kubeconfig: expected a current-context, found none',
    ])
  })
})
