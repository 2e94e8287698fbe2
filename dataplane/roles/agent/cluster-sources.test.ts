import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { eventually } from '../../kube/testing/eventually.ts'
import { startTestCluster, type TestCluster } from '../../kube/testing/test-cluster.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFlinkSources, createSecretsSource } from './cluster-sources.ts'
import { type ClusterWatch, createClusterWatch } from './cluster-watch.ts'
import { type AgentSources, collectorState, secretsSection, streamSection } from './sections.ts'
import {
  EXTERNAL_SECRETS,
  externalSecret,
  FLINK_DEPLOYMENTS,
  FLINK_SESSION_JOBS,
  flinkDeployment,
  flinkSessionJob,
  store,
} from './testing/cluster-objects.ts'

const SYNCED = '2026-01-01T00:00:00Z'

describe('What the agent sees of a cluster', () => {
  let cluster: TestCluster
  let watch: ClusterWatch
  let secrets: AgentSources['secrets']
  let stream: ReturnType<typeof createFlinkSources>

  beforeEach(async () => {
    cluster = await startTestCluster([])
    const { clock } = cluster
    const config = { access: cluster.server.access, namespace: 'shop', tenant: 'acme' }
    watch = createClusterWatch(config, { clock, log: SILENT, random: () => 0 })
    secrets = [createSecretsSource(watch, clock)]
    stream = createFlinkSources(watch, clock)
  })
  afterEach(async () => {
    await watch.stop()
    await cluster.stop()
  })

  const secretsNow = () => secretsSection(secrets.map(source => source.last()))
  const NO_OWN_JOBS = { state: 'current', value: [], ageMs: 0 } as const
  const streamNow = () => streamSection([NO_OWN_JOBS, ...stream.map(source => source.last())])
  const jobsNow = () => streamNow().jobs.map(({ name, state }) => `${name} ${state}`)
  const isReady = () => [secrets, stream].every(sources => collectorState(sources) === 'initialized')
  /** Lets time pass until it is so. */
  const passUntil = (what: string, holds: () => boolean) =>
    eventually(what, () => {
      const is = holds()
      if (!is && cluster.clock.sleepers > 0) cluster.clock.advance(100)
      return is
    })
  const start = async () => {
    watch.start()
    await passUntil('it is ready', isReady)
  }

  it('is healthy and empty, and initialised, where the CRDs are not installed', async () => {
    expect(collectorState(secrets)).to.equal('initializing')
    await start()
    expect(secretsNow()).to.deep.equal({ status: 'healthy', externalSecrets: [] })
    expect(streamNow()).to.deep.equal({ status: 'healthy', jobs: [] })
  })

  it('shows the ExternalSecrets of its namespace and tenant, by name, as they change', async () => {
    const { server } = cluster
    server.addResource(EXTERNAL_SECRETS)
    store(server, EXTERNAL_SECRETS, externalSecret('kafka', 'SecretSynced', SYNCED))
    store(server, EXTERNAL_SECRETS, externalSecret('deleted', 'SecretDeleted', SYNCED))
    const foreign = externalSecret('other', 'SecretSyncedError')
    store(server, EXTERNAL_SECRETS, { ...foreign, metadata: { ...foreign.metadata, labels: { 'logpipeline.dev/tenant': 'globex' } } })
    store(server, EXTERNAL_SECRETS, { ...foreign, metadata: { ...foreign.metadata, namespace: 'elsewhere' } })
    await start()
    expect(secretsNow()).to.deep.equal({
      status: 'healthy',
      externalSecrets: [
        { name: 'deleted', status: 'SecretSynced', lastSyncTime: SYNCED },
        { name: 'kafka', status: 'SecretSynced', lastSyncTime: SYNCED },
      ],
    })
    await passUntil('it is watched', () => server.watches.count === 1)
    store(server, EXTERNAL_SECRETS, externalSecret('kafka', 'SecretSyncedError', SYNCED))
    store(server, EXTERNAL_SECRETS, externalSecret('search', 'SecretSyncedError'))
    await eventually('the changes are seen', () => secretsNow().externalSecrets.length === 3)
    expect(secretsNow()).to.deep.equal({
      status: 'degraded',
      externalSecrets: [
        { name: 'deleted', status: 'SecretSynced', lastSyncTime: SYNCED },
        { name: 'kafka', status: 'SecretSyncError', lastSyncTime: SYNCED },
        { name: 'search', status: 'SecretSyncError', lastSyncTime: null },
      ],
    })
  })

  it('shows all others beside an object whose status holds anything else, and nothing but what the specification has', async () => {
    const { server } = cluster
    for (const resource of [EXTERNAL_SECRETS, FLINK_DEPLOYMENTS, FLINK_SESSION_JOBS]) server.addResource(resource)
    const statuses: readonly unknown[] = [
      ...[
        null,
        'x',
        7,
        [],
        [null],
        { conditions: 'x', refreshTime: 5 },
        { conditions: [null, { type: 'Ready', status: 'True', reason: 7 }] },
      ],
      ...[{ refreshTime: 'yesterday' }, { jobStatus: 'x' }, { jobStatus: null, error: null, jobManagerDeploymentStatus: 'MISSING' }],
      ...[{ jobStatus: { state: ['RUNNING'] } }, { jobStatus: { state: 'RUNNING', startTime: {} }, taskManager: { replicas: '3' } }],
      ...[
        { jobStatus: { state: 'RUNNING' }, taskManager: { replicas: -1.5 } },
        { lifecycleState: {}, taskManager: 'x' },
      ],
    ]
    for (const [n, status] of statuses.entries()) {
      store(server, EXTERNAL_SECRETS, { ...externalSecret(`odd-${n}`, 'SecretSynced'), status })
      store(server, FLINK_DEPLOYMENTS, { ...flinkDeployment(`odd-${n}`, {}), status })
      store(server, FLINK_SESSION_JOBS, { ...flinkSessionJob(`odd-job-${n}`, `odd-${n}`, {}), status })
    }
    store(server, EXTERNAL_SECRETS, externalSecret('sound', 'SecretSynced', SYNCED))
    store(server, FLINK_DEPLOYMENTS, flinkDeployment('sound', { jobStatus: { state: 'RUNNING' }, taskManager: { replicas: 2 } }))
    await start()
    const { externalSecrets } = secretsNow()
    expect(externalSecrets).to.have.length(statuses.length + 1)
    expect(externalSecrets.at(-1)).to.deep.equal({ name: 'sound', status: 'SecretSynced', lastSyncTime: SYNCED })
    for (const { status, lastSyncTime } of externalSecrets.slice(0, -1))
      expect([status, lastSyncTime]).to.deep.equal(['SecretSyncError', null])
    const { jobs } = streamNow()
    expect(jobs).to.have.length(2 * statuses.length + 1)
    expect(jobs.find(({ name }) => name === 'sound')).to.include({ state: 'RUNNING', taskManagers: 2 })
    for (const { taskManagers } of jobs) expect(taskManagers).to.be.oneOf([0, 2])
  })

  it('takes v1beta1 where v1 is not served', async () => {
    const old = { ...EXTERNAL_SECRETS, version: 'v1beta1' }
    cluster.server.addResource(old)
    store(cluster.server, old, { ...externalSecret('kafka', 'SecretSynced', SYNCED), apiVersion: 'external-secrets.io/v1beta1' })
    await start()
    expect(secretsNow().externalSecrets.map(({ name }) => name)).to.deep.equal(['kafka'])
  })

  it('shows the jobs of Flink; a session job works on the task managers of its session cluster', async () => {
    const { server, clock } = cluster
    for (const resource of [FLINK_DEPLOYMENTS, FLINK_SESSION_JOBS]) server.addResource(resource)
    const running = { state: 'RUNNING', startTime: String(clock.nowMs() - 3_600_000) }
    store(server, FLINK_DEPLOYMENTS, flinkDeployment('etl', { jobStatus: running, taskManager: { replicas: 2 } }))
    store(server, FLINK_DEPLOYMENTS, flinkDeployment('session', { jobStatus: {}, taskManager: { replicas: 3 } }, {}))
    store(server, FLINK_SESSION_JOBS, flinkSessionJob('report', 'session', { jobStatus: { state: 'FAILED' } }))
    const askedMs = clock.nowMs()
    await start()
    clock.advance(60_000 - (clock.nowMs() - askedMs))
    expect(streamNow()).to.deep.equal({
      status: 'degraded',
      jobs: [
        { name: 'etl', state: 'RUNNING', taskManagers: 2, uptime: '1h1m0s' },
        { name: 'report', state: 'FAILED', taskManagers: 3, uptime: '0s' },
      ],
    })
  })

  it('keeps nothing of a job but what it reads: its arguments and configuration may hold passwords', async () => {
    const { server } = cluster
    for (const resource of [FLINK_DEPLOYMENTS, EXTERNAL_SECRETS]) server.addResource(resource)
    const spec = { job: { state: 'running', args: ['--password', 's3cret'] }, flinkConfiguration: { 's3.secret-key': 's3cret' } }
    const status = {
      jobStatus: { state: 'RUNNING', savepointInfo: { location: 's3cret' } },
      taskManager: { replicas: 1, labelSelector: 's3cret' },
      reconciliationStatus: { lastReconciledSpec: JSON.stringify(spec) },
    }
    store(server, FLINK_DEPLOYMENTS, flinkDeployment('etl', status, spec))
    store(server, FLINK_DEPLOYMENTS, flinkDeployment('without-a-state', { jobStatus: {} }, { job: { args: ['s3cret'] } }))
    const template = { data: { password: 's3cret' } }
    const external = { ...externalSecret('a', 'SecretSynced', SYNCED), spec: { target: { template } } }
    store(server, EXTERNAL_SECRETS, external)
    await start()
    expect(jobsNow()).to.deep.equal(['etl RUNNING', 'without-a-state SUSPENDED'])
    expect(secretsNow().externalSecrets).to.have.length(1)
    const kept = [...watch.view('FlinkDeployment').objects, ...watch.view('ExternalSecret').objects]
    expect(kept).to.have.length(3)
    expect(JSON.stringify(kept)).not.to.contain('s3cret')
  })

  it('a passing state keeps the last one for two minutes, then is FAILED; a job that is deleted is forgotten', async () => {
    const { server, clock } = cluster
    server.addResource(FLINK_DEPLOYMENTS)
    const say = (state: string) => store(server, FLINK_DEPLOYMENTS, flinkDeployment('etl', { jobStatus: { state } }))
    say('RUNNING')
    await start()
    await passUntil('it is watched', () => server.watches.count === 1)
    const version = () => watch.view('FlinkDeployment').objects[0]?.metadata.resourceVersion
    const before = version()
    say('RESTARTING')
    await eventually('the change is seen', () => version() !== before)
    expect(jobsNow()).to.deep.equal(['etl RUNNING'])
    // Somebody sets the time of day, forth or back.
    clock.shiftTimeOfDay(3_600_000)
    expect(jobsNow()).to.deep.equal(['etl RUNNING'])
    clock.shiftTimeOfDay(-7_200_000)
    clock.advance(120_000)
    expect(jobsNow()).to.deep.equal(['etl FAILED'])
    server.storage.delete('flinkdeployments.flink.apache.org', 'shop/etl')
    await eventually('it is gone', () => jobsNow().length === 0)
  })

  it('is not ready, and its section down, while a list is forbidden; it is tried again', async () => {
    const { server } = cluster
    server.addResource(EXTERNAL_SECRETS)
    store(server, EXTERNAL_SECRETS, externalSecret('kafka', 'SecretSynced', SYNCED))
    const permit = server.deny({ resource: 'externalsecrets.external-secrets.io' })
    watch.start()
    await passUntil('it is refused', () => collectorState(secrets) === 'error')
    expect(secretsNow()).to.deep.equal({ status: 'down', externalSecrets: [] })
    expect(collectorState(stream), 'the other section').to.equal('initialized')
    permit()
    await passUntil('it is ready', isReady)
    await passUntil('it is watched', () => secretsNow().status === 'healthy')
    expect(secretsNow().externalSecrets).to.have.length(1)
  })

  it('one kind of Flink that may not be read makes the section degraded, and does not hide the other', async () => {
    const { server } = cluster
    for (const resource of [FLINK_DEPLOYMENTS, FLINK_SESSION_JOBS]) server.addResource(resource)
    server.deny({ resource: 'flinksessionjobs.flink.apache.org' })
    store(server, FLINK_DEPLOYMENTS, flinkDeployment('etl', { jobStatus: { state: 'RUNNING' } }))
    watch.start()
    await passUntil('it is refused', () => collectorState(stream) === 'error' && jobsNow().length === 1)
    expect(streamNow().status).to.equal('degraded')
  })

  it('keeps what it knew when the API server goes away, beside down; it stays initialised', async () => {
    const { server, clock } = cluster
    server.addResource(EXTERNAL_SECRETS)
    store(server, EXTERNAL_SECRETS, externalSecret('kafka', 'SecretSynced', SYNCED))
    await start()
    await passUntil('it is watched', () => server.watches.count === 1)
    const mend = server.fault({}, { kind: 'reset' }, Number.POSITIVE_INFINITY)
    server.watches.break('reset')
    await passUntil('it is noticed', () => secretsNow().status === 'down')
    expect(secretsNow().externalSecrets).to.have.length(1)
    expect(isReady()).to.equal(true)
    const ageMs = () => secrets[0]!.last().ageMs!
    const before = ageMs()
    clock.advance(10)
    expect(ageMs()).to.equal(before + 10)
    mend()
    await passUntil('it is watched again', () => secretsNow().status === 'healthy')
    expect(ageMs()).to.equal(0)
  })

  it('an API server that cannot be reached gives error, and is asked again', async () => {
    const mend = cluster.server.fault({}, { kind: 'reset' }, Number.POSITIVE_INFINITY)
    watch.start()
    await passUntil('it is noticed', () => collectorState(secrets) === 'error')
    expect(streamNow().status).to.equal('down')
    mend()
    await passUntil('it is ready', isReady)
  })

  it('notices CRDs that are installed and removed while it runs', async () => {
    const { server } = cluster
    await start()
    server.addResource(EXTERNAL_SECRETS)
    store(server, EXTERNAL_SECRETS, externalSecret('kafka', 'SecretSyncedError'))
    await passUntil('it is seen', () => secretsNow().status === 'down')
    server.removeResource(EXTERNAL_SECRETS)
    await passUntil('it is gone', () => secretsNow().status === 'healthy')
    expect(secretsNow().externalSecrets).to.deep.equal([])
    expect(isReady()).to.equal(true)
  })
})
