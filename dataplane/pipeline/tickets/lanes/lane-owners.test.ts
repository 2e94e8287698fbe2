/** Agents that share a store: who sends to which target, while they come and go. */
import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { ownerOf } from '../../../domain/tickets/lane-owner.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { storeIncidents } from '../../../testing/incident-fixture.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { buildConfig } from '../testing/fake-config.ts'
import { createTicketWorld } from '../testing/ticket-world.ts'
import { type AgentPresence, createAgentPresence, LOOK_MS } from './lane-owners.ts'

const LANES = Array.from({ length: 40 }, (_, i) => `tenant-${i}/slack`)

describe('ticketing agents on one store', () => {
  let store: MemorySearchStore
  let clock: FakeClock
  beforeEach(() => {
    store = createMemorySearchStore()
    clock = createFakeClock(Date.UTC(2026, 0, 1))
  })
  const agent = (name: string) => createAgentPresence({ store, clock, log: SILENT, name })
  const owned = (presence: AgentPresence) => LANES.filter(lane => presence.owns(lane))
  /** Time goes on while these look. */
  const pass = async (ms: number, ...agents: readonly AgentPresence[]) => {
    for (let passed = 0; passed < ms; passed += LOOK_MS) {
      clock.advance(LOOK_MS)
      for (const each of agents) await each.round()
      expectOneEach(agents)
    }
  }
  /** No lane is ever two agents'. */
  const expectOneEach = (agents: readonly AgentPresence[]) => {
    for (const lane of LANES) expect(agents.filter(each => each.owns(lane)).length, lane).to.be.at.most(1)
  }

  it('one alone has all targets from its first look on', async () => {
    const a = agent('a')
    expect(owned(a)).to.deep.equal([])
    await a.round()
    expect(owned(a)).to.deep.equal(LANES)
    expect(a.generation()).to.equal(0)
  })

  it('a clock that is set back takes no target from the one that is there', async () => {
    for (const stepMs of [30_000, 3_600_000, 30 * 86_400_000]) {
      const a = agent(`a-${stepMs}`)
      await a.round()
      clock.advance(-stepMs)
      await a.round()
      expect(owned(a), `${stepMs} ms`).to.deep.equal(LANES)
      await a.leave()
    }
  })

  it('one whose clock ran ahead by a month, and that is gone, keeps no target', async () => {
    clock.advance(30 * 86_400_000)
    await agent('ghost').round()
    clock.advance(-30 * 86_400_000)
    const a = agent('a')
    await a.round()
    expect(owned(a)).to.deep.equal(LANES)
  })

  it('a second one has its share, once the first has seen it; no target is ever that of both', async () => {
    const [a, b] = [agent('a'), agent('b')]
    await a.round()
    await b.round()
    expect(owned(b)).to.deep.equal([])
    await pass(10_000, a, b)
    for (const [each, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const)
      expect(owned(each)).to.deep.equal(LANES.filter(lane => ownerOf(lane, ['a', 'b']) === name))
    expect(owned(b)).not.to.have.length(0)
    expect(a.generation()).to.be.above(0)
  })

  it('one that stops gives its targets to the others, after its last attempts', async () => {
    const [a, b] = [agent('a'), agent('b')]
    await a.round()
    await pass(10_000, a, b)
    await b.leave()
    expect(owned(b)).to.deep.equal([])
    await a.round()
    expect(owned(a)).not.to.deep.equal(LANES)
    await pass(10_000, a)
    expect(owned(a)).to.deep.equal(LANES)
  })

  it('one that is killed is missed within half a minute; started again it has its targets at once', async () => {
    const [a, b] = [agent('a'), agent('b')]
    await a.round()
    await pass(12_000, a, b)
    const before = owned(b)
    const again = agent('b')
    await again.round()
    expect(owned(again)).to.deep.equal(before)
    await pass(30_000, a)
    expect(owned(a)).to.deep.equal(LANES)
  })

  it('one that cannot look sends nothing, and waits for its share when it can again', async () => {
    const [a, b] = [agent('a'), agent('b')]
    await a.round()
    await pass(12_000, a, b)
    for (let i = 0; i < 15; i++) {
      clock.advance(LOOK_MS)
      await b.round()
      if (i >= 2) expect(owned(a)).to.deep.equal([])
    }
    expect(owned(b)).to.deep.equal(LANES)
    await a.round()
    expect(owned(a)).to.deep.equal([])
    await pass(12_000, a, b)
    expect(owned(a)).not.to.have.length(0)
    store.unavailable = true
    expect((await a.round().catch(error => error)).name).to.equal('SearchStoreUnavailable')
  })

  it('two that were given one name take names of their own', async () => {
    const [a, b] = [agent('same'), agent('same')]
    await a.round()
    await b.round()
    for (let i = 0; i < 8; i++) {
      clock.advance(LOOK_MS)
      await a.round()
      await b.round()
    }
    expectOneEach([a, b])
    expect(owned(a).length + owned(b).length).to.equal(LANES.length)
    expect(owned(a)).not.to.have.length(0)
  })

  it('two agents together keep to the limits of a target, also while one of them comes', async () => {
    const world = createTicketWorld(store)
    world.config.current = buildConfig(['opsgenie'])
    const limits = () => ({ perSecond: 1, burst: 4, atOnce: 2 })
    const presences = ['a', 'b'].map(name => createAgentPresence({ store, clock: world.clock, log: SILENT, name }))
    const agents = presences.map(owners => world.replica({ limits, owners }))
    const tenants = Array.from({ length: 4 }, (_, i) => `tenant-${i}`)
    for (const tenantId of tenants)
      await storeIncidents(store, ...Array.from({ length: 50 }, (_, i) => ({ id: `${tenantId}-${i}`, tenantId })))
    for (let i = 0; i < 1_000 && (await world.intake.round()) !== undefined; i++) await world.intake.idle()
    await world.intake.idle()
    const sent = new Map(tenants.map(tenant => [tenant, [] as number[]]))
    let seen = 0
    for (let second = 0; second < 40; second++) {
      // The second agent comes after five seconds, and stops after thirty.
      if (second % 2 === 0) for (const presence of second < 5 || second >= 30 ? presences.slice(0, 1) : presences) await presence.round()
      if (second === 30) await presences[1]!.leave()
      for (let before = -1; before < world.platforms.arrived.length; ) {
        before = world.platforms.arrived.length
        for (const { dispatcher } of agents) await dispatcher.round()
        for (const { dispatcher } of agents) await dispatcher.idle()
      }
      for (const { content } of world.platforms.arrived.slice(seen)) sent.get(content.tenantId)!.push(second)
      seen = world.platforms.arrived.length
      world.clock.advance(1_000)
    }
    for (const [tenant, seconds] of sent) {
      expect(seconds.length, tenant).to.be.above(20)
      // From any second on: what may go out at once, and the rate of the time.
      for (let from = 0; from < 40; from++)
        for (let to = from; to < 40; to++)
          expect(seconds.filter(at => at >= from && at <= to).length, `${tenant} ${from} to ${to}`).to.be.at.most(4 + to - from)
    }
    expect(new Set(world.platforms.tickets().values())).to.deep.equal(new Set([1]))
  }).timeout(60_000)
})
