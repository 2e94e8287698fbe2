import { expect } from 'chai'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { eventually } from '../../dataplane/kube/testing/eventually.ts'
import { startTestCluster, type TestCluster } from '../../dataplane/kube/testing/test-cluster.ts'
import { SILENT } from '../../dataplane/telemetry/log.ts'
import { createLeaderElection, type LeaderElection, RENEW_MS } from './leader-election.ts'
import { LEASES } from './lease.ts'

describe('Leader election', () => {
  let cluster: TestCluster
  let elections: LeaderElection[]

  beforeEach(async () => {
    cluster = await startTestCluster([LEASES])
    elections = []
  })
  afterEach(async () => {
    await Promise.all(elections.map(election => election.stop()))
    await cluster.stop()
  })

  const run = (identity: string) => {
    const config = { namespace: 'ops', name: 'operator', identity }
    const { client, clock } = cluster
    const election = createLeaderElection(config, { client, clock, log: SILENT, random: () => 0 })
    elections.push(election)
    election.start()
    return election
  }
  const spec = () => cluster.server.storage.get('leases.coordination.k8s.io', 'ops/operator')['spec'] as Readonly<Record<string, unknown>>
  const tick = (seconds: number, sleepers: number) => cluster.pass(seconds * 1000, 2000, sleepers)

  it('leads at once where there is no Lease, with microsecond times', async () => {
    const election = run('a')
    await election.acquired
    const now = '2026-01-01T00:00:00.000000Z'
    expect(spec()).to.deep.equal({ holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime: now, renewTime: now, leaseTransitions: 0 })
    expect(election.leads).to.equal(true)
  })

  it('renews every 2 s with one request', async () => {
    const election = run('a')
    await election.acquired
    cluster.server.forgetRequests()
    await tick(20, 1)
    expect(cluster.server.requests.map(({ verb }) => verb)).to.deep.equal(Array(10).fill('update'))
    expect(spec()).to.include({ renewTime: '2026-01-01T00:00:20.000000Z', acquireTime: '2026-01-01T00:00:00.000000Z' })
  })

  it('stands by while another leads, and leads as soon as that one gives it back', async () => {
    const a = run('a')
    await a.acquired
    const b = run('b')
    await tick(30, 2)
    expect([a.leads, b.leads, b.holder]).to.deep.equal([true, false, 'a'])
    await a.stop()
    expect(spec()).to.include({ holderIdentity: '', leaseDurationSeconds: 1 })
    await tick(2, 1)
    await b.acquired
    expect(spec()).to.include({ holderIdentity: 'b', leaseTransitions: 1 })
  })

  it('gives the lead back, too, when it is stopped before the answer to its first write', async () => {
    const election = run('a')
    await eventually('the Lease is there', () => cluster.server.storage.list('leases.coordination.k8s.io').length === 1)
    await election.stop()
    expect(spec()).to.include({ holderIdentity: '' })
  })

  it('takes over 15 s after a leader fell silent, by its own clock alone', async () => {
    const old = '1999-01-01T00:00:00.000000Z'
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace: 'ops', name: 'operator' } }
    const held = { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: old, acquireTime: old, leaseTransitions: 4 }
    cluster.server.storage.create('leases.coordination.k8s.io', 'ops/operator', { ...lease, spec: held }, 'other')
    const election = run('a')
    await tick(14, 1)
    expect(election.leads).to.equal(false)
    await tick(2, 1)
    await election.acquired
    expect(spec()).to.include({ holderIdentity: 'a', leaseTransitions: 5 })
  })

  it('has lost when it cannot renew for 10 s, before another may take over', async () => {
    const election = run('a')
    await election.acquired
    await tick(2, 1)
    cluster.server.fault({ verb: 'update' }, { kind: 'status', code: 500, reason: 'InternalError' }, 99)
    cluster.server.fault({ verb: 'get' }, { kind: 'status', code: 500, reason: 'InternalError' }, 99)
    await tick(8, 1)
    expect(election.leads).to.equal(true)
    cluster.clock.advance(2000)
    const error = await election.lost.catch((error: Error) => error)
    expect(error.message).to.contain('a no longer leads').and.contain('500 InternalError')
    expect(election.leads).to.equal(false)
  })

  it('makes the Lease anew when somebody deletes it, and goes on; where another was quicker it has lost', async () => {
    const remove = () => cluster.server.storage.delete('leases.coordination.k8s.io', 'ops/operator')
    const election = run('a')
    await election.acquired
    await tick(2, 1)
    remove()
    await tick(20, 1)
    expect([election.leads, election.surelyLeads]).to.deep.equal([true, true])
    expect(spec()).to.include({ holderIdentity: 'a' })
    remove()
    const now = '2026-01-01T00:00:22.000000Z'
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace: 'ops', name: 'operator' } }
    const taken = { ...lease, spec: { holderIdentity: 'b', leaseDurationSeconds: 15, renewTime: now } }
    cluster.server.storage.create('leases.coordination.k8s.io', 'ops/operator', taken, 'b')
    await cluster.settle(1)
    cluster.clock.advance(2000)
    const error = await election.lost.catch((error: Error) => error)
    expect(error.message).to.contain('a no longer leads')
    expect(spec()).to.include({ holderIdentity: 'b' })
  })

  it('no longer leads for sure once the time to renew is over, before it has noticed', async () => {
    const election = run('a')
    await election.acquired
    expect(election.surelyLeads).to.equal(true)
    // As after a standstill: all timers are due at once.
    cluster.clock.advance(RENEW_MS)
    expect([election.leads, election.surelyLeads]).to.deep.equal([true, false])
    await tick(2, 1)
    expect([election.leads, election.surelyLeads]).to.deep.equal([true, true])
  })

  it('has lost when the API server is silent for 10 s', async () => {
    const election = run('a')
    await election.acquired
    cluster.server.fault({ verb: 'update' }, { kind: 'silence' }, 99)
    cluster.server.fault({ verb: 'get' }, { kind: 'silence' }, 99)
    const lost = election.lost.catch((error: Error) => error)
    const startMs = cluster.clock.nowMs()
    while (election.leads) {
      await eventually('it waits', () => cluster.clock.sleepers > 0 || !election.leads)
      cluster.clock.advance(1000)
      await new Promise(resolve => setImmediate(resolve))
    }
    await lost
    expect(cluster.clock.nowMs() - startMs).to.be.at.most(11_000)
  })

  const passSlowly = async (until: () => boolean) => {
    while (!until()) {
      await eventually('it waits', () => cluster.clock.sleepers > 0 || until())
      cluster.clock.advance(100)
      for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
    }
  }

  for (const { title, hangs, ms } of [
    { title: 'keeps the lead where each answer takes nearly the 5 s that it has, from the first on', hangs: 0, ms: 4800 },
    { title: 'keeps the lead where one renewal is not answered, and each other only after 2 s', hangs: 1, ms: 2000 },
  ])
    it(title, async () => {
      cluster.server.pace(() => cluster.clock.sleep(ms))
      const election = run('a')
      await passSlowly(() => election.leads)
      if (hangs > 0) cluster.server.fault({ verb: 'update' }, { kind: 'silence' }, hangs)
      const endMs = cluster.clock.nowMs() + 60_000
      await passSlowly(() => !election.leads || cluster.clock.nowMs() >= endMs)
      cluster.server.pace(async () => {})
      expect(election.leads).to.equal(true)
    })

  it('keeps the lead where a renewal that it gave up arrived all the same', async () => {
    const election = run('a')
    await election.acquired
    // As the API server has it after such a renewal: ours, under another version.
    cluster.server.storage.patch('leases.coordination.k8s.io', 'ops/operator', { metadata: { labels: { seen: 'late' } } }, 'a')
    cluster.server.forgetRequests()
    await tick(2, 1)
    expect(cluster.server.requests.map(({ verb }) => verb)).to.deep.equal(['update', 'get', 'update'])
    expect(spec()).to.include({ renewTime: '2026-01-01T00:00:02.000000Z' })
    expect(election.leads).to.equal(true)
  })

  it('has lost after a standstill in which another led, also where that one has given the Lease back', async () => {
    const election = run('a')
    await election.acquired
    await cluster.settle(1)
    const released = { spec: { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 } }
    cluster.server.storage.patch('leases.coordination.k8s.io', 'ops/operator', released, 'b')
    cluster.clock.advance(30_000)
    const error = await election.lost.catch((error: Error) => error)
    expect(error.message).to.contain('no longer leads')
    expect(spec()).to.include({ holderIdentity: '' })
  })

  it('has lost when another holds the Lease', async () => {
    const election = run('a')
    await election.acquired
    const patch = { spec: { holderIdentity: 'b', renewTime: '2026-01-01T00:00:01.000000Z' } }
    cluster.server.storage.patch('leases.coordination.k8s.io', 'ops/operator', patch, 'other')
    const lost = election.lost.catch((error: Error) => error)
    await cluster.settle(1)
    cluster.clock.advance(2000)
    expect((await lost).message).to.contain('no longer leads')
    expect(spec()).to.include({ holderIdentity: 'b' })
  })

  it('never has two leaders while two of three fall silent in turn', async () => {
    const all = ['a', 'b', 'c'].map(run)
    await cluster.settle(3)
    for (let step = 0; step < 30; step++) {
      if (step % 7 === 3) cluster.server.fault({ verb: 'update' }, { kind: 'status', code: 503, reason: 'ServiceUnavailable' }, 2)
      if (step % 5 === 2) cluster.server.fault({ verb: 'get' }, { kind: 'status', code: 503, reason: 'ServiceUnavailable' }, 1)
      await cluster.settle(3)
      expect(all.filter(({ leads }) => leads)).to.have.length(1)
      cluster.clock.advance(2000)
    }
  })

  it('never has two that surely lead, however slowly each answer comes and whichever never does (property)', async function () {
    this.timeout(60_000)
    const pace = fc.record({ slowestMs: fc.constantFrom(300, 3000, 9000, 14_000), hangs: fc.constantFrom('update', 'get', undefined) })
    await fc.assert(
      fc.asyncProperty(fc.array(pace, { minLength: 3, maxLength: 8 }), async paces => {
        let count = 0
        for (const identity of ['a', 'b', 'c']) run(identity)
        for (const { slowestMs, hangs } of paces) {
          cluster.server.pace(() => cluster.clock.sleep((count++ * 3701) % slowestMs))
          if (hangs !== undefined) cluster.server.fault({ verb: hangs }, { kind: 'silence' }, 2)
          for (let step = 0; step < 100; step++) {
            cluster.clock.advance(200)
            for (let turn = 0; turn < 6; turn++) await new Promise(resolve => setImmediate(resolve))
            expect(elections.filter(({ surelyLeads }) => surelyLeads).length).to.be.below(2)
          }
        }
        cluster.server.pace(async () => {})
        let areOver = false
        void Promise.all(elections.splice(0).map(election => election.stop())).then(() => {
          areOver = true
        })
        await eventually('they end', () => {
          cluster.clock.advance(100)
          return areOver
        })
      }),
      { numRuns: 10, seed: 7, endOnFailure: true },
    )
  })
})
