/** Jira takes issues without answering, and shows them late: who looks for them holds up no other incident, and none has two issues. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { createHttpPlatform } from '../../adapters/incident-platform/http-platform.ts'
import { jira } from '../../adapters/incident-platform/jira.ts'
import type { OutboundAnswer, OutboundRequest } from '../../ports/outbound-http.ts'
import { TargetUnreachable } from '../../ports/outbound-http.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../testing/memory-search-store.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import { TARGET_LIMITS } from './lanes/target-limits.ts'
import { buildConfig, buildTarget } from './testing/fake-config.ts'
import { createTicketWorld, type TicketWorld } from './testing/ticket-world.ts'

const SECOND_MS = 1_000
const FIELDS = { baseUrl: 'https://jira.example.com', userEmail: 'bot@example.com', apiToken: 'secret-token' }

/** Answers each request; `lost` creates are taken, and not answered. With `refuses` it fails each create. */
function createLateJira(nowMs: () => number, showsAfterMs: number, lost: number, refuses = false) {
  let creates = 0
  const issues: { readonly key: string; readonly label: string; readonly atMs: number }[] = []
  let searches = 0
  let left = lost
  const answer = (status: number, body: unknown): OutboundAnswer => ({ status, headers: {}, text: JSON.stringify(body), isCut: false })
  const request = async ({ url, body }: OutboundRequest): Promise<OutboundAnswer> => {
    if (url.endsWith('/search/jql')) {
      searches++
      const label = /"([^"]+)"/.exec((body as { readonly jql: string }).jql)?.[1]
      const shown = issues.filter(issue => issue.label === label && nowMs() - issue.atMs >= showsAfterMs)
      return answer(200, { issues: shown.map(({ key }) => ({ key })), isLast: true })
    }
    const { labels } = (body as { readonly fields: { readonly labels: readonly string[] } }).fields
    creates++
    if (refuses) return answer(503, {})
    issues.push({ key: `OPS-${issues.length + 1}`, label: labels[1]!, atMs: nowMs() })
    if (left-- > 0) throw new TargetUnreachable('jira.example.com: the connection was reset', true)
    return answer(201, { key: issues.at(-1)!.key })
  }
  return { issues, searches: () => searches, creates: () => creates, outbound: { request, close: async () => undefined } }
}

describe('rows that look for what may be there', () => {
  let store: MemorySearchStore
  let world: TicketWorld
  beforeEach(() => {
    store = createMemorySearchStore()
    world = createTicketWorld(store)
    world.config.current = buildConfig(['jira'], { targets: new Map([['jira', buildTarget('jira', FIELDS)]]) })
  })

  const dispatcherTo = ({ outbound }: ReturnType<typeof createLateJira>): Dispatcher =>
    world.replica({
      limits: () => TARGET_LIMITS.jira,
      platforms: { ...world.platforms.platforms, jira: createHttpPlatform(jira, { outbound, clock: world.clock }) },
    }).dispatcher
  /** Lets the time go by until `isOver`, in seconds. */
  const secondsUntil = async (dispatcher: Dispatcher, isOver: () => boolean, max = 120): Promise<number> => {
    for (let second = 0; second < max; second++) {
      await world.intake.round()
      await world.intake.idle()
      await dispatcher.round()
      for (let turn = 0; turn < 50; turn++) await nextTurn()
      if (isOver()) return second
      world.clock.advance(SECOND_MS)
    }
    return Number.POSITIVE_INFINITY
  }
  const settled = () => [...store.documents('service-dispatches-default').values()].filter(({ state }) => state === 'settled').length
  const add = (...ids: readonly string[]) => storeIncidents(store, ...ids.map(id => ({ id, tenantId: 'default' })))

  it('leave their places to other incidents, and make no second issue', async () => {
    const late = createLateJira(world.clock.nowMs, 40 * SECOND_MS, 3)
    const dispatcher = dispatcherTo(late)
    await add('a', 'b', 'c')
    await secondsUntil(dispatcher, () => late.issues.length === 3)
    await add('d')
    expect(await secondsUntil(dispatcher, () => late.issues.length === 4), 'the rest of a target that failed three times').to.be.below(15)
    await secondsUntil(dispatcher, () => settled() === 4)
    expect(late.issues.map(({ label }) => label).sort()).to.deep.equal(['a', 'b', 'c', 'd'])
    expect(late.searches()).to.be.below(3 * 14)
    for (const { rows } of store.documents('service-dispatches-default').values() as Iterable<{ rows: readonly object[] }>)
      expect(rows[0]).to.include({ status: 'sent' }).and.not.have.any.keys('lookedSince', 'mayBeThere')
  })

  it('leave a target alone that shows what it has, and takes nothing', async () => {
    const failing = createLateJira(world.clock.nowMs, 0, 0, true)
    await add(...Array.from({ length: 20 }, (_, i) => `failing-${i}`))
    await secondsUntil(dispatcherTo(failing), () => false, 120)
    expect(failing.creates()).to.be.within(10, 3 + 120 / 7)
  })

  it('are as many as there are, within the rate of their target', async () => {
    const late = createLateJira(world.clock.nowMs, 5 * SECOND_MS, 1_000)
    const dispatcher = dispatcherTo(late)
    const ids = Array.from({ length: 30 }, (_, i) => `many-${String(i).padStart(2, '0')}`)
    await add(...ids)
    expect(await secondsUntil(dispatcher, () => settled() === ids.length, 600)).to.be.below(300)
    expect(late.issues.map(({ label }) => label).sort()).to.deep.equal(ids)
  })
})
