import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { until } from '../../dataplane/testing/cluster/kubectl.ts'
import { operatorRequests, operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, openClusterSuite, untilReady } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'
import { LEASE_MS } from './lease.ts'

export const needs = ['kubernetes']

/** Others wait for the end of the Lease, and look every two seconds and a bit. */
const TAKE_OVER_MS = LEASE_MS + 5000

describe('Two operators before a real API server', function () {
  this.timeout(180_000)
  let suite: ClusterSuite
  let leader: OperatorProcess
  let standby: OperatorProcess
  before(async () => {
    suite = await openClusterSuite('leader')
    leader = await start('first')
    await until('it leads', async () => (await holder()).startsWith('first'))
    standby = await start('second')
    await untilReady(standby)
  })
  after(() => suite.close())

  const start = (name: string) => suite.startOperator({ LEADER_ELECTION: 'true', POD_NAME: name })
  const lease = async () => (await suite.objects.get('Lease', 'logpipeline-operator'))?.spec ?? {}
  const holder = async (): Promise<string> => (await lease()).holderIdentity ?? ''
  const untilLeads = (name: string, limitMs?: number) => until(`${name} leads`, async () => (await holder()).startsWith(name), limitMs)
  /** The one that is left leads now; another stands by. */
  const swap = async (name: string) => {
    leader = standby
    standby = await start(name)
    await untilReady(standby)
  }

  it('one leads, by a Lease of 15 s with microsecond times; the other writes nothing', async () => {
    const spec = await lease()
    expect(spec).to.include({ leaseDurationSeconds: 15, leaseTransitions: 0 })
    expect(spec.renewTime).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    await suite.ready('shop')
    const gauge = async ({ url }: OperatorProcess) =>
      (await (await fetch(`${url}/metrics`)).text()).match(/leader_election_master_status\{.*\} (\d)/)?.[1]
    expect([await gauge(leader), await gauge(standby)]).to.deep.equal(['1', '0'])
    expect(standby.output()).not.to.contain('"leading"')
  })

  it('the leader is killed in the middle of its work: the other takes over within 20 s and finishes it', async () => {
    const { objects } = suite
    const startMs = Date.now()
    await objects.apply(suite.pipeline('half'))
    await until('it has begun', () => operatorWrites(startMs, suite.namespace).some(write => write.includes('half-')))
    const killedMs = Date.now()
    await leader.stop('SIGKILL')
    await untilLeads('second', TAKE_OVER_MS)
    expect(Date.now() - killedMs).to.be.within(10_000, TAKE_OVER_MS)
    await objects.condition('LogPipeline', 'half', 'Ready', 'True')
    expect((await lease()).leaseTransitions).to.equal(1)
    const created = operatorWrites(startMs, suite.namespace).filter(write => !write.includes('/status'))
    expect(new Set(created), 'each object is written once').to.have.property('size', created.length)
    await swap('third')
  })

  it('the leader is asked to end: it gives the Lease back and ends with 0, the other leads at once', async () => {
    const askedMs = Date.now()
    expect(await leader.stop('SIGTERM')).to.equal(0)
    await untilLeads('third', 10_000)
    expect(Date.now() - askedMs).to.be.below(8000)
    await swap('fourth')
  })

  it('the leader is frozen until another leads: it ends with an error as it thaws, and writes nothing', async () => {
    const { objects, namespace } = suite
    await suite.ready('cold')
    // It hears of this, and would look at it a second later: the first thing that it does as it thaws.
    await objects.remove('Service', 'cold-bridge')
    await sleep(300)
    leader.child.kill('SIGSTOP')
    await untilLeads('fourth', TAKE_OVER_MS)
    await objects.condition('LogPipeline', 'cold', 'Ready', 'True')
    standby.child.kill('SIGSTOP')
    const startMs = Date.now()
    for (const kind of ['bridge', 'collector', 'agent']) await objects.remove('Service', `cold-${kind}`)
    await objects.patch('LogPipeline', 'cold', { spec: { logLevel: 'debug' } })
    leader.child.kill('SIGCONT')
    const code = await new Promise(done => leader.child.once('exit', done))
    expect(code).to.equal(1)
    expect(leader.output()).to.contain('no longer leads')
    expect(operatorWrites(startMs, namespace)).to.deep.equal([])
    const events = operatorRequests(startMs).filter(request => request.namespace === namespace && request.resource === 'events')
    expect(events).to.deep.equal([])
    standby.child.kill('SIGCONT')
    await objects.condition('LogPipeline', 'cold', 'Ready', 'True')
  })
})
