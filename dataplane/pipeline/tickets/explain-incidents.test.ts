import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { buildIncident, storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../testing/memory-search-store.ts'
import { createExplaining } from './explain-incidents.ts'
import { CAUSE } from './testing/ticket-world.ts'

const VERDICT: RootCause = { ...CAUSE, mode: 'llm', summary: 'The payment database ran out of connections.' }
const INCIDENT = buildIncident({ id: 'i1', platforms: ['slack'] })

describe('what a language model says of an incident', () => {
  let store: MemorySearchStore
  let asked: TicketedIncident[]
  beforeEach(async () => {
    store = createMemorySearchStore()
    asked = []
    await storeIncidents(store, INCIDENT)
  })

  const explain = async (answer: RootCause | undefined, times = 1) => {
    const clock = createFakeClock()
    let owed = 0
    const explaining = createExplaining({
      store,
      clock,
      log: SILENT,
      onOwed: () => owed++,
      explain: async incident => {
        asked.push(incident)
        return answer
      },
    })
    for (let i = 0; i < times; i++) explaining.ask(INCIDENT)
    clock.advance(2_000)
    for (let i = 0; i < 20; i++) await nextTurn()
    const stopped = explaining.stop()
    clock.advance(1_000)
    await stopped
    return { owed, incident: (await store.get<TicketedIncident>('service-incidents-default', 'i1'))!.source }
  }

  it('is written to the root cause and follows as a comment', async () => {
    const { owed, incident } = await explain(VERDICT)
    expect(incident.rootCause).to.deep.equal(VERDICT)
    expect(incident.ticketing!.owed).to.deep.include.members([
      { ...incident.ticketing!.owed![0], event: 'comment', targets: ['slack'], news: [VERDICT.summary] },
    ])
    expect(owed).to.equal(1)
  })

  it('an incident is asked about once, however many targets got its ticket', async () => {
    await explain(VERDICT, 5)
    expect(asked).to.have.length(1)
    await explain(VERDICT)
    expect(asked, 'after a restart').to.have.length(1)
  })

  it('a model that could not be used: fallback, without a comment', async () => {
    const { owed, incident } = await explain({ ...CAUSE, fallback: true })
    expect(incident.rootCause).to.deep.include({ mode: 'rules', fallback: true })
    expect([owed, incident.ticketing!.owed]).to.deep.equal([0, undefined])
  })

  it('one tenant’s slow model holds up no other tenant', async () => {
    const clock = createFakeClock()
    const of = (id: string, tenantId: string) => buildIncident({ id, tenantId })
    await storeIncidents(store, of('quick', 'other'), ...Array.from({ length: 100 }, (_, i) => of(`slow-${i}`, 'slow')))
    const explaining = createExplaining({
      store,
      clock,
      log: SILENT,
      onOwed: () => undefined,
      explain: async incident => {
        asked.push(incident)
        return incident.tenantId === 'slow' ? new Promise<undefined>(() => undefined) : undefined
      },
    })
    for (let i = 0; i < 100; i++) explaining.ask(of(`slow-${i}`, 'slow'))
    explaining.ask(of('quick', 'other'))
    clock.advance(2_000)
    for (let i = 0; i < 20; i++) await nextTurn()
    const stopped = explaining.stop()
    clock.advance(1_000)
    await stopped
    expect(asked.map(({ tenantId }) => tenantId)).to.include('other')
  })

  it('nothing to say changes nothing', async () => {
    const { incident } = await explain(undefined)
    expect(incident).not.to.have.property('rootCause')
  })
})
