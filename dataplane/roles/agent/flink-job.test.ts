import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type FlinkReading, type FlinkResource, hasJob, readFlinkState, rememberReading, stateOf, uptimeOf } from './flink-job.ts'
import { flinkDeployment, flinkSessionJob } from './testing/cluster-objects.ts'

const job = (state: string) => ({ jobStatus: { state } })

const STATES: readonly { readonly name: string; readonly status: object; readonly spec?: object; readonly expected: FlinkReading }[] = [
  { name: 'lifecycle FAILED', status: { lifecycleState: 'FAILED', ...job('RUNNING') }, expected: 'FAILED' },
  { name: 'job FAILED', status: { lifecycleState: 'STABLE', ...job('FAILED') }, expected: 'FAILED' },
  { name: 'job FAILING', status: { lifecycleState: 'STABLE', ...job('FAILING') }, expected: 'FAILED' },
  { name: 'job manager ERROR', status: { jobManagerDeploymentStatus: 'ERROR', ...job('RECONCILING') }, expected: 'FAILED' },
  {
    name: 'job manager MISSING with an error',
    status: { jobManagerDeploymentStatus: 'MISSING', error: 'no such image', ...job('RECONCILING') },
    expected: 'FAILED',
  },
  {
    name: 'job manager MISSING without one, as while it is upgraded',
    status: { lifecycleState: 'UPGRADING', jobManagerDeploymentStatus: 'MISSING', ...job('SUSPENDED') },
    expected: 'passing',
  },
  { name: 'spec suspended', status: job('RUNNING'), spec: { job: { state: 'suspended' } }, expected: 'SUSPENDED' },
  { name: 'lifecycle SUSPENDED', status: { lifecycleState: 'SUSPENDED', ...job('FINISHED') }, expected: 'SUSPENDED' },
  { name: 'job SUSPENDED', status: { lifecycleState: 'STABLE', ...job('SUSPENDED') }, expected: 'SUSPENDED' },
  { name: 'job CANCELED', status: { lifecycleState: 'STABLE', ...job('CANCELED') }, expected: 'SUSPENDED' },
  { name: 'job FINISHED by itself', status: { lifecycleState: 'STABLE', ...job('FINISHED') }, expected: 'SUSPENDED' },
  { name: 'job FINISHED to be upgraded', status: { lifecycleState: 'UPGRADING', ...job('FINISHED') }, expected: 'passing' },
  { name: 'job RUNNING, lifecycle STABLE', status: { lifecycleState: 'STABLE', ...job('RUNNING') }, expected: 'RUNNING' },
  { name: 'job RUNNING, lifecycle DEPLOYED', status: { lifecycleState: 'DEPLOYED', ...job('RUNNING') }, expected: 'RUNNING' },
  { name: 'job RUNNING, lifecycle ROLLED_BACK', status: { lifecycleState: 'ROLLED_BACK', ...job('RUNNING') }, expected: 'RUNNING' },
  { name: 'job RUNNING without a lifecycle', status: job('RUNNING'), expected: 'RUNNING' },
  { name: 'lifecycle UPGRADING', status: { lifecycleState: 'UPGRADING', ...job('RUNNING') }, expected: 'passing' },
  { name: 'lifecycle ROLLING_BACK', status: { lifecycleState: 'ROLLING_BACK', ...job('RUNNING') }, expected: 'passing' },
  { name: 'job RESTARTING', status: { lifecycleState: 'STABLE', ...job('RESTARTING') }, expected: 'passing' },
  { name: 'job RECONCILING', status: { lifecycleState: 'DEPLOYED', ...job('RECONCILING') }, expected: 'passing' },
  { name: 'no status yet', status: {}, expected: 'passing' },
]

describe('Jobs of Flink', () => {
  for (const { name, status, spec, expected } of STATES)
    it(`${name}: ${expected}`, () => {
      const resource = flinkDeployment('etl', status, { job: { state: 'running' }, ...spec })
      expect(readFlinkState(resource)).to.equal(expected)
    })

  it('a session cluster is no job; the jobs on it are', () => {
    expect(hasJob(flinkDeployment('session', { jobManagerDeploymentStatus: 'READY', jobStatus: {} }, {}))).to.equal(false)
    expect(hasJob(flinkDeployment('application', {}))).to.equal(true)
    expect(hasJob(flinkSessionJob('report', 'session', {}))).to.equal(true)
  })

  it('a passing state keeps the last one for two minutes, then is FAILED', () => {
    const running = rememberReading(undefined, 'RUNNING', 0)
    const passing = rememberReading(running, 'passing', 10_000)
    expect(stateOf(passing, 129_999)).to.equal('RUNNING')
    expect(stateOf(passing, 130_000)).to.equal('FAILED')
    expect(stateOf(rememberReading(passing, 'passing', 100_000), 130_000), 'another passing state').to.equal('FAILED')
    expect(stateOf(rememberReading(passing, 'RUNNING', 140_000), 500_000)).to.equal('RUNNING')
  })

  it('a job that begins is neither working nor failed for two minutes', () => {
    const begins = rememberReading(undefined, 'passing', 0)
    expect(stateOf(begins, 119_999)).to.equal('SUSPENDED')
    expect(stateOf(begins, 120_000)).to.equal('FAILED')
  })

  it('uptime counts from startTime while RUNNING', () => {
    const resource: FlinkResource = flinkDeployment('etl', { jobStatus: { state: 'RUNNING', startTime: '1767225600000' } })
    expect(uptimeOf(resource, 'RUNNING', 1767225660000)).to.equal(60_000)
    expect(uptimeOf(resource, 'FAILED', 1767225660000)).to.equal(0)
    expect(uptimeOf(flinkDeployment('etl', job('RUNNING')), 'RUNNING', 1767225660000), 'no start time').to.equal(0)
  })
})
