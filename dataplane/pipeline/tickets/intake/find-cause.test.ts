import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { buildIncident } from '../../../testing/incident-fixture.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createFindCause } from './find-cause.ts'

describe('the cause of an incident', () => {
  const clock = createFakeClock(Date.UTC(2026, 0, 1))
  const make = (search: SearchStore['search']) => createFindCause({ store: { ...createMemorySearchStore(), search }, clock, log: SILENT })
  const empty: SearchStore['search'] = async () => ({ total: 0, hits: [], aggregations: {} })

  it('comes from the search store, and says how much of the time after it was looked at', async () => {
    const found = await make(empty)(buildIncident({ firstSeen: new Date(clock.nowMs() - 5_000).toISOString() }))
    expect(found).to.deep.include({ windowMs: 20_000 })
    expect(found!.rootCause).to.include({ mode: 'rules', fallback: false })
  })

  it('is read in the background: the queries of users go first', async () => {
    const asked: (boolean | undefined)[] = []
    const search: SearchStore['search'] = async request => {
      asked.push(request.isBackground)
      return empty(request)
    }
    await make(search)(buildIncident({ firstSeen: new Date(clock.nowMs() - 5_000).toISOString() }))
    expect(new Set(asked)).to.deep.equal(new Set([true]))
  })

  it('incidents of one tenant and time share an analysis, others do not', async () => {
    let searches = 0
    const find = make(async () => {
      searches++
      return empty({ index: '', body: {} })
    })
    const at = (ms: number, tenantId = 'default') =>
      find(buildIncident({ tenantId, firstSeen: new Date(clock.nowMs() - 60_000 + ms).toISOString() }))
    await at(0)
    const one = searches
    await Promise.all(Array.from({ length: 50 }, (_, i) => at(i * 100)))
    expect(searches).to.equal(one)
    await at(0, 'other')
    expect(searches).to.equal(2 * one)
    clock.advance(20_000)
    await at(-20_000)
    expect(searches).to.equal(3 * one)
  })

  it('an analysis that began before an incident, and does not name its service, is made again once', async () => {
    let searches = 0
    const find = make(async () => {
      searches++
      return empty({ index: '', body: {} })
    })
    const firstSeen = new Date(clock.nowMs() - 5_000).toISOString()
    const created = (atMs: number) => find(buildIncident({ firstSeen, createdAt: new Date(atMs).toISOString() }))
    await created(clock.nowMs())
    const one = searches
    clock.advance(1_000)
    await created(clock.nowMs())
    expect(searches).to.equal(2 * one)
    await created(clock.nowMs())
    expect(searches).to.equal(2 * one)
  })

  it('looks at fewer records where analyses of the same minute have looked at many, and at as many again a minute later', async () => {
    interface Body {
      readonly size: number
      readonly query: {
        readonly bool: { readonly filter: readonly [object, { readonly range: { readonly timestamp: { gte: string; lt: string } } }] }
      }
    }
    let readMs = 0
    const find = make(async ({ body }) => {
      const { size, query } = body as unknown as Body
      const { gte, lt } = query.bool.filter[1].range.timestamp
      if (size > 0) readMs += Date.parse(lt) - Date.parse(gte)
      return { total: 1_000_000, hits: [], aggregations: { times: { buckets: [] } } }
    })
    /** Records of a million that lie in the parts of the time that were read, for each two that are looked for. */
    const recordsAt = async (minutesAgo: number) => {
      readMs = 0
      await find(buildIncident({ firstSeen: new Date(clock.nowMs() - minutesAgo * 60_000).toISOString() }))
      // Five minutes of baseline, three of leads and window each.
      return Math.round(((readMs / (11 * 60_000)) * 1_000_000) / 2 / 1_000)
    }
    expect(await recordsAt(20)).to.be.closeTo(50, 1)
    expect(await recordsAt(30)).to.be.closeTo(50, 1)
    expect(await recordsAt(40)).to.be.closeTo(10, 1)
    clock.advance(60_000)
    expect(await recordsAt(50)).to.be.closeTo(50, 1)
  })

  it('of records from a clock that is an hour ahead is looked for at their time, not at the present, where they are not', async () => {
    const searched: string[] = []
    const find = make(async ({ body }) => {
      searched.push(JSON.stringify(body))
      return empty({ index: '', body: {} })
    })
    const at = (ms: number) => new Date(clock.nowMs() + 3_600_000 + ms).toISOString()
    const found = await find(buildIncident({ firstSeen: at(0), lastSeen: at(100_000) }))
    expect(found).to.deep.include({ windowMs: 115_001 })
    expect(searched.join()).to.include(at(-180_000))
  })

  it('that fails is none', async () => {
    const find = make(async () => {
      throw new Error('away')
    })
    expect(await find(buildIncident())).to.equal(undefined)
  })

  it('that takes longer than ten seconds is none', async () => {
    const found = make(() => new Promise(() => undefined))(buildIncident())
    clock.advance(10_000)
    expect(await found).to.equal(undefined)
  })

  it('that took longer is there for who asks again', async () => {
    let answer: () => void = () => undefined
    let searches = 0
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    const find = make(async request => {
      searches++
      await answered
      return empty(request)
    })
    const incident = buildIncident({ firstSeen: new Date(clock.nowMs() - 5_000).toISOString() })
    const first = find(incident)
    clock.advance(10_000)
    expect(await first).to.equal(undefined)
    clock.advance(5_000)
    answer()
    await new Promise(resolve => setImmediate(resolve))
    const before = searches
    clock.advance(55_000)
    expect(await find(incident)).to.have.property('rootCause')
    expect(searches).to.equal(before)
  })
})
