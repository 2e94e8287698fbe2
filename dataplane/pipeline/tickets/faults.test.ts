/** Trouble around tickets: the store away, slow targets, floods, stops. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import type { TicketOutcome } from '../../ports/incident-platform.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { type Log, SILENT } from '../../telemetry/log.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../testing/memory-search-store.ts'
import { TARGET_LIMITS } from './lanes/target-limits.ts'
import { buildConfig, buildTarget } from './testing/fake-config.ts'
import { createTicketWorld, type TicketWorld } from './testing/ticket-world.ts'

const SECOND_MS = 1_000

describe('faults around tickets', function () {
  this.timeout(60_000)
  let store: MemorySearchStore
  let world: TicketWorld
  beforeEach(() => {
    store = createMemorySearchStore()
    world = createTicketWorld(store)
  })

  const add = (count: number, tenantId = 'default') =>
    storeIncidents(store, ...Array.from({ length: count }, (_, i) => ({ id: `${tenantId}-${i}`, tenantId })))
  const takeUp = async () => {
    for (let i = 0; i < 1_000 && (await world.intake.round()) !== undefined; i++) await world.intake.idle()
    await world.intake.idle()
  }
  const turns = async (count = 50) => {
    for (let i = 0; i < count; i++) await nextTurn()
  }
  const statusOf = (id: string) =>
    [...store.documents('service-dispatches-default').values()].find(({ incidentId }) => incidentId === id)?.['state']

  it('the log says once an hour why nobody is told of incidents', async () => {
    const told: object[] = []
    const log: Log = { ...SILENT, warn: fields => void told.push(fields) }
    world = createTicketWorld(store, { log })
    world.config.current = buildConfig(['slack'], { targets: new Map([['slack', buildTarget('slack', {}, false)]]) })
    await add(3)
    await takeUp()
    expect(told).to.have.length(1)
    expect(told[0]).to.include({ tenant: 'default', reason: 'slack is switched off' })
    world.clock.advance(3_600 * SECOND_MS)
    await storeIncidents(store, { id: 'later', tenantId: 'default' })
    await takeUp()
    expect(told).to.have.length(2)
  })

  it('the search store is away for a minute after a ticket was sent: its end is written when it is back, and nothing is sent twice', async () => {
    await add(1)
    await takeUp()
    world.platforms.answer = () => {
      store.unavailable = true
      return undefined
    }
    await world.dispatcher.round()
    await turns()
    expect(world.platforms.events()).to.deep.equal(['slack open'])
    // Within the lease nobody else may send.
    for (let i = 0; i < 50; i++) {
      world.clock.advance(SECOND_MS)
      await turns(5)
    }
    store.unavailable = false
    world.clock.advance(SECOND_MS)
    await world.dispatcher.idle()
    expect(statusOf('default-0')).to.equal('settled')
    world.platforms.answer = () => undefined
    world.clock.advance(600 * SECOND_MS)
    await world.settle()
    expect(world.platforms.events()).to.deep.equal(['slack open'])
  })

  it('the search store is away while incidents come: they go out once it is back', async () => {
    await add(3)
    store.unavailable = true
    const failed = await world.intake.round().catch(({ name }) => name)
    expect(failed).to.equal('SearchStoreUnavailable')
    store.unavailable = false
    await world.settle()
    expect(world.platforms.events()).to.have.length(3)
  })

  it('the search store fails while an incident is taken up: it is taken up again as soon as the store is back, by the same agent', async () => {
    await add(1)
    world.causes.find = async () => {
      store.unavailable = true
      return undefined
    }
    await world.intake.round()
    await world.intake.idle()
    store.unavailable = false
    world.causes.find = async () => undefined
    await world.settle()
    expect(world.platforms.events()).to.deep.equal(['slack open'])
  })

  it('the rows of an incident cannot be written, twice: it stays due, and its ticket goes out once they can', async () => {
    await add(1)
    const { put } = store
    let failures = 0
    store.put = (index, id, document, condition) => {
      if (!index.startsWith('service-dispatches-') || failures === 2) return put(index, id, document, condition)
      failures++
      return Promise.reject(new SearchStoreUnavailable('away for a moment'))
    }
    for (let i = 0; i < 2; i++) await takeUp()
    expect(failures).to.equal(2)
    await world.settle()
    expect(world.platforms.events()).to.deep.equal(['slack open'])
  })

  it('the answer to a claim of a row is lost, and the store is away: the row is sent as soon as it is back, as one that was never sent', async () => {
    await add(1)
    await takeUp()
    const { put } = store
    const losing = world.replica({
      store: {
        ...store,
        put: async (index, id, document, condition) => {
          const version = await put(index, id, document, condition)
          if (!index.startsWith('service-dispatches-') || isLost) return version
          isLost = true
          store.unavailable = true
          throw new SearchStoreUnavailable('the answer got lost')
        },
      },
    })
    let isLost = false
    await losing.dispatcher.round()
    await turns()
    world.clock.advance(10 * SECOND_MS)
    await turns()
    store.unavailable = false
    for (let i = 0; i < 4; i++) {
      world.clock.advance(SECOND_MS / 2)
      await turns()
      await losing.dispatcher.round()
      await turns()
    }
    expect(world.platforms.arrived.map(({ mayBeThere }) => mayBeThere)).to.deep.equal([false])
    expect(statusOf('default-0')).to.equal('settled')
  })

  it('a target that stalls delays no other, and is asked by few at a time', async () => {
    world.config.current = buildConfig(['slack', 'jira'])
    world = Object.assign(
      world,
      world.replica({ limits: target => ({ ...TARGET_LIMITS.jira, burst: 1_000, atOnce: target === 'slack' ? 1 : 3 }) }),
    )
    let release: ((outcome: undefined) => void)[] = []
    world.platforms.answer = ({ target }) => (target.id === 'slack' ? new Promise<undefined>(resolve => release.push(resolve)) : undefined)
    await add(40)
    await takeUp()
    for (let i = 0; i < 40; i++) {
      await world.dispatcher.round()
      await turns(20)
    }
    const events = world.platforms.events()
    expect(events.filter(event => event === 'jira open')).to.have.length(40)
    expect(events.filter(event => event === 'slack open')).to.have.length(1)
    // After 30 s the attempt counts as one that may have arrived.
    world.clock.advance(30 * SECOND_MS)
    await world.dispatcher.idle()
    const [first] = world.platforms.arrived.filter(({ target }) => target.id === 'slack')
    const thread = [...store.documents('service-dispatches-default').values()].find(
      ({ incidentId, platform }) => incidentId === first!.content.incidentId && platform === 'slack',
    )
    expect((thread!['rows'] as readonly object[])[0]).to.deep.include({
      status: 'pending',
      mayBeThere: true,
      lastError: 'no answer within 30 s',
    })
    release = []
  })

  it('a critical incident that comes behind 300 others is taken up and told first', async () => {
    await add(300)
    await storeIncidents(store, {
      id: 'worst',
      severity: 'critical',
      createdAt: new Date(world.clock.nowMs() - 2 * SECOND_MS).toISOString(),
    })
    const isTaken = () =>
      [...store.documents('service-incidents-default').values()].some(({ id, platforms }) => id === 'worst' && `${platforms}` !== '')
    await world.intake.round()
    await world.intake.idle()
    expect(isTaken()).to.equal(true)
    await takeUp()
    const { dispatcher } = world.replica({ limits: () => ({ perSecond: 1, burst: 1, atOnce: 1 }) })
    await dispatcher.round()
    await dispatcher.idle()
    expect(world.platforms.arrived.map(({ content }) => content.incidentId)).to.deep.equal(['worst'])
  })

  it('1,000 incidents at once go out within the limits of the target, each once', async () => {
    world.config.current = buildConfig(['opsgenie'])
    const limited = world.replica({ limits: () => ({ perSecond: 100, burst: 200, atOnce: 16 }) })
    await add(1_000)
    await takeUp()
    const perSecond: number[] = []
    while (world.platforms.arrived.length < 1_000 && perSecond.length < 100) {
      const before = world.platforms.arrived.length
      for (let begun = true; begun; ) {
        const left = world.platforms.arrived.length
        await limited.dispatcher.round()
        await limited.dispatcher.idle()
        begun = world.platforms.arrived.length > left
      }
      perSecond.push(world.platforms.arrived.length - before)
      world.clock.advance(SECOND_MS)
    }
    expect(perSecond[0]).to.equal(200)
    expect(Math.max(...perSecond.slice(1))).to.be.at.most(100)
    expect(perSecond).to.have.length.within(9, 10)
    expect(new Set(world.platforms.tickets().values())).to.deep.equal(new Set([1]))
    expect(world.platforms.tickets().size).to.equal(1_000)
  })

  it("one tenant's flood never starves another, neither at the intake nor at the outbox", async () => {
    await add(500, 'flood')
    await world.intake.round()
    await add(1, 'small')
    await world.intake.idle()
    await world.intake.round()
    await world.intake.idle()
    expect(store.documents('service-dispatches-small').size).to.equal(1)
    await takeUp()
    await add(1, 'late')
    await takeUp()
    await world.dispatcher.round()
    await world.dispatcher.idle()
    const tenants = new Set(world.platforms.arrived.map(({ content }) => content.tenantId))
    expect([...tenants].sort()).to.deep.equal(['flood', 'late', 'small'])
  })

  it('stopped while it sends, it gives back what it holds: another one goes on at once, and looks first', async () => {
    await add(1)
    await takeUp()
    world.platforms.answer = (_request, signal) =>
      new Promise<TicketOutcome>(resolve => {
        signal.addEventListener('abort', () => resolve({ kind: 'retryable', reason: 'aborted', isAmbiguous: true }))
      })
    await world.dispatcher.round()
    await turns()
    const stopped = world.dispatcher.stop(5 * SECOND_MS)
    await turns()
    world.clock.advance(5 * SECOND_MS)
    await stopped
    world.platforms.answer = () => undefined
    const other = world.replica()
    await other.dispatcher.round()
    await other.dispatcher.idle()
    expect(world.platforms.arrived.map(({ mayBeThere }) => mayBeThere)).to.deep.equal([false, true])
    expect(statusOf('default-0')).to.equal('settled')
  })

  for (const downMs of [70 * SECOND_MS, 3_600 * SECOND_MS])
    it(`a platform was down for ${downMs / SECOND_MS} s: all that waits goes out within 15 s of its return, and few attempts were made meanwhile`, async () => {
      const { clock, platforms, dispatcher } = world
      const upAtMs = clock.nowMs() + downMs
      let attempts = 0
      platforms.loses = () => clock.nowMs() < upAtMs
      platforms.answer = () => {
        if (clock.nowMs() >= upAtMs) return undefined
        attempts++
        return { kind: 'retryable', reason: '503', isTargetDown: true }
      }
      await add(20)
      await takeUp()
      while (clock.nowMs() < upAtMs + 15 * SECOND_MS) {
        await dispatcher.round()
        await dispatcher.idle()
        clock.advance(SECOND_MS)
      }
      expect(platforms.arrived).to.have.length(20)
      // Those at once before the breaker opens, then one at a time, at least 3.75 s apart.
      expect(attempts).to.be.at.most(16 + downMs / 3_750)
    })

  it('a row that a target failed says when the target is tried again, and is tried then', async () => {
    world.platforms.answer = () => ({ kind: 'retryable', reason: '503', isTargetDown: true })
    await add(1)
    await takeUp()
    const head = () => {
      const [thread] = store.documents('service-dispatches-default').values()
      return (thread!['rows'] as readonly { readonly attempts: number; readonly nextAttemptAt: string }[])[0]!
    }
    for (let attempts = 1; attempts <= 12; attempts++) {
      await world.dispatcher.round()
      await world.dispatcher.idle()
      expect(head().attempts).to.equal(attempts)
      const waitMs = Date.parse(head().nextAttemptAt) - world.clock.nowMs()
      expect(waitMs).to.be.within(1, 10 * SECOND_MS)
      expect(world.dispatcher.restsUntil('default/slack') ?? 0).to.be.at.most(world.clock.nowMs() + waitMs)
      world.clock.advance(waitMs)
    }
  })

  it('a row that waits for its next attempt is tried at once after the clock was set back, by seconds over a minute or by hours', async () => {
    for (const [backMs, name] of [
      [61 * SECOND_MS, 'by-a-minute'],
      [3_600 * SECOND_MS, 'by-an-hour'],
    ] as const) {
      world.platforms.answer = () => ({ kind: 'retryable', reason: '503' })
      await storeIncidents(store, { id: name, tenantId: 'default' })
      await world.settle()
      expect(statusOf(name)).to.equal('pending')
      world.platforms.answer = () => undefined
      world.clock.advance(-backMs)
      await world.settle()
      expect(statusOf(name)).to.equal('settled')
    }
  })

  it('a platform that asked for time is left alone until then by an agent that was started since, and by one that takes the lane over', async () => {
    let generation = 0
    const taker = world.replica({ owners: { owns: () => generation > 0, generation: () => generation } })
    await taker.dispatcher.round()
    await add(1)
    await takeUp()
    world.platforms.answer = () => ({ kind: 'retryable', reason: 'Slack answered 429', afterMs: 60 * SECOND_MS })
    await world.dispatcher.round()
    await world.dispatcher.idle()
    world.platforms.answer = () => undefined
    await storeIncidents(store, { id: 'later', tenantId: 'default' })
    await takeUp()
    generation++
    const started = world.replica()
    world.clock.advance(59 * SECOND_MS)
    for (const { dispatcher } of [started, taker]) {
      await world.settle(dispatcher)
      expect(world.platforms.events()).to.deep.equal(['slack open'])
      expect(dispatcher.restsUntil('default/slack', 'evenIfAsked')).to.equal(world.clock.nowMs() + SECOND_MS)
    }
    world.clock.advance(SECOND_MS)
    await world.settle(started.dispatcher)
    expect(world.platforms.events()).to.deep.equal(['slack open', 'slack open', 'slack open'])
  })

  it('a target whose secret cannot be read is told of once in the log, and counts as refused', async () => {
    const told: object[] = []
    const results: string[] = []
    const log: Log = { ...SILENT, error: fields => void told.push(fields) }
    world = createTicketWorld(store, { log, onAttempt: ({ result }) => results.push(result) })
    const problem = 'slack.webhookUrl: was encrypted with another key'
    world.config.current = buildConfig(['slack'], { targets: new Map(), unusable: new Map([['slack', problem]]) })
    await add(2)
    await world.settle()
    expect(told).to.deep.equal([{ tenant: 'default', platform: 'slack', reason: problem }])
    expect(results).to.deep.equal(['refused', 'refused'])
    world.config.current = buildConfig(['slack'])
    world.clock.advance(60 * SECOND_MS)
    await world.settle()
    expect(world.platforms.events()).to.deep.equal(['slack open', 'slack open'])
  })

  it('an adapter is told of all secrets that are configured, so that no reason holds one', async () => {
    const targets = (['slack', 'jira'] as const).map(
      id => [id, buildTarget(id, { webhookUrl: 'slack-secret', apiToken: 'jira-secret' })] as const,
    )
    const llm = { provider: 'openai', model: 'small', apiKey: 'model-secret' } as const
    world.config.current = buildConfig(['slack'], { targets: new Map(targets), llm })
    await add(1)
    await world.settle()
    expect(world.platforms.arrived[0]?.secrets).to.deep.equal(['slack-secret', 'jira-secret', 'model-secret'])
  })

  it('a platform whose adapter fails in a way it should not is tried again', async () => {
    world.platforms.answer = () => {
      throw new Error('defect')
    }
    await add(1)
    await world.settle()
    world.platforms.answer = () => undefined
    world.clock.advance(60 * SECOND_MS)
    await world.settle()
    expect(statusOf('default-0')).to.equal('settled')
  })

  it('the index of a tenant finds no room: its tickets wait, those of others go out', async () => {
    await add(1, 'crowded')
    await add(1)
    store.red.add('service-dispatches-crowded')
    await world.settle()
    expect(world.platforms.arrived.map(({ content }) => content.tenantId)).to.deep.equal(['default'])
  })

  it('an index that takes nothing while its target is paused, or its rows are given up, holds up nobody else', async () => {
    world.platforms.answer = ({ content }) =>
      content.tenantId === 'crowded' ? { kind: 'rejected', reason: 'the key was refused', isTargetBroken: true } : undefined
    await add(20, 'crowded')
    await takeUp()
    await world.dispatcher.round()
    await world.dispatcher.idle()
    store.red.add('service-dispatches-crowded')
    await add(1)
    await takeUp()
    world.clock.advance(2 * SECOND_MS)
    await world.dispatcher.round()
    await world.dispatcher.idle()
    expect(statusOf('default-0'), 'a paused target').to.equal('settled')
    world.clock.advance(86_400 * SECOND_MS)
    await storeIncidents(store, { id: 'other-0', tenantId: 'other', updatedAt: new Date(world.clock.nowMs()).toISOString() })
    await takeUp()
    await world.dispatcher.round()
    await turns()
    expect(world.platforms.arrived.at(-1)!.content.tenantId, 'rows whose time is over').to.equal('other')
    store.red.clear()
    world.clock.advance(SECOND_MS)
    await world.dispatcher.idle()
  })

  it('platforms of a few tenants that stall leave room for the others', async () => {
    const slow = ['slow-1', 'slow-2', 'slow-3']
    for (const tenant of slow) world.config.tenants.set(tenant, buildConfig(['jira', 'slack']))
    world.platforms.answer = ({ content }) => (slow.includes(content.tenantId) ? new Promise<undefined>(() => undefined) : undefined)
    for (const tenant of slow) await add(30, tenant)
    await takeUp()
    for (let i = 0; i < 10; i++) {
      await world.dispatcher.round()
      await turns()
    }
    await add(1)
    await takeUp()
    await world.dispatcher.round()
    await turns()
    expect(statusOf('default-0')).to.equal('settled')
  })

  it("a hundred tenants' platforms that hang delay another tenant by seconds", async () => {
    for (let i = 0; i < 100; i++) await add(3, `dead-${i}`)
    world.platforms.answer = ({ content }) => (content.tenantId === 'default' ? undefined : new Promise<undefined>(() => undefined))
    await takeUp()
    await world.dispatcher.round()
    await turns()
    await add(1)
    await takeUp()
    let waitedMs = 0
    for (; statusOf('default-0') !== 'settled' && waitedMs < 60 * SECOND_MS; waitedMs += SECOND_MS) {
      await world.dispatcher.round()
      await turns()
      world.clock.advance(SECOND_MS)
    }
    expect(waitedMs).to.be.at.most(10 * SECOND_MS)
  })

  it('analyses of a few tenants that stall leave room for the others', async () => {
    const slow = ['slow-1', 'slow-2', 'slow-3']
    world.causes.find = ({ tenantId }) => (slow.includes(tenantId) ? new Promise<undefined>(() => undefined) : Promise.resolve(undefined))
    for (const tenant of slow) await add(10, tenant)
    await world.intake.round()
    await turns()
    await add(1)
    await world.intake.round()
    await turns()
    expect(store.documents('service-dispatches-default').size).to.equal(1)
  })
})
