import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createProcessRunner } from '../../query-process/process-runner.ts'
import { NOW_MS, startTestStore, type TestStore } from '../../testing/test-store.ts'

const LOGS = 'service-logs-2026.11.21'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const at = (n: number) => new Date(NOW_MS - n * 1000).toISOString()

async function write(store: TestStore, index: string, first: number, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, k) => {
    const n = first + k
    return `${JSON.stringify({ index: { _id: `${index}-${n}` } })}\n${JSON.stringify({ n, service: n % 2 === 0 ? 'cart' : 'shop', timestamp: at(n % 10) })}\n`
  })
  expect((await store.request('POST', `/${index}/_bulk`, lines.join(''))).body.errors).to.equal(false)
}

/** Ids of all pages, and how many pages there were. */
async function scrollAll(
  store: TestStore,
  path: string,
  body: object,
  between = async () => {},
): Promise<{ ids: string[]; pages: number; totals: number[] }> {
  const ids: string[] = []
  const totals: number[] = []
  let page = await store.request('POST', path, body)
  let pages = 0
  for (; page.body.hits.hits.length > 0; pages++) {
    expect(page.status).to.equal(200)
    ids.push(...page.body.hits.hits.map((hit: { _id: string }) => hit._id))
    totals.push(page.body.hits.total.value)
    await between()
    page = await store.request('POST', '/_search/scroll', { scroll: '1m', scroll_id: page.body._scroll_id })
  }
  expect((await store.request('DELETE', '/_search/scroll', { scroll_id: page.body._scroll_id })).body).to.deep.equal({
    succeeded: true,
    num_freed: 1,
  })
  return { ids, pages, totals }
}

const isLocal = { runner: 'in the thread', options: {} }
const isProcess = { runner: 'in the process', options: { createQueryRunner: createProcessRunner } }

for (const { runner, options } of [isLocal, isProcess])
  describe(`searches that go on, ${runner}`, () => {
    let store: TestStore
    const clock = createFakeClock(NOW_MS)
    const dir = mkdtempSync(join(tmpdir(), 'lasting-'))

    before(async () => {
      store = await startTestStore({ ...options, clock, dir })
      const mappings = { properties: { n: { type: 'long' }, service: { type: 'keyword' }, timestamp: { type: 'date' } } }
      for (const index of [LOGS, 'events'])
        await store.request('PUT', `/${index}`, { mappings, aliases: { carts: { filter: { term: { service: 'cart' } } } } })
    })
    after(async () => {
      await store.stop()
      rmSync(dir, { recursive: true, force: true })
    })
    beforeEach(async () => {
      for (const index of [LOGS, 'events']) {
        await store.request('POST', `/${index}/_delete_by_query`, { query: { match_all: {} } })
        await write(store, index, 0, 25)
      }
    })
    afterEach(() => expect(readdirSync(join(dir, 'leases')).length, 'files are gone').to.equal(0))

    const SORTS: readonly [string, object][] = [
      ['without a sort', {}],
      ['by place', { sort: ['_doc'] }],
      ['by time, which is the same for many', { sort: [{ timestamp: 'desc' }] }],
      ['by a keyword and a number', { sort: [{ service: 'asc' }, { n: 'desc' }] }],
      ['by score', { query: { bool: { must: { match_all: {} }, should: [{ term: { service: 'cart' } }] } } }],
    ]
    for (const [name, body] of SORTS)
      it(`a scroll ${name} shows each document once, as the search has them, while others are written, changed and deleted`, async () => {
        const whole = await store.request('POST', `/${LOGS},events/_search`, { ...body, size: 100 })
        let round = 0
        const { ids, pages, totals } = await scrollAll(store, `/${LOGS},events/_search?scroll=1m`, { ...body, size: 7 }, async () => {
          round++
          await write(store, LOGS, 1000 * round, 20)
          await write(store, 'events', 20, 10)
          await store.request('DELETE', `/events/_doc/events-${round}`)
          if (round === 2) await store.request('POST', `/${LOGS}/_delete_by_query`, { query: { range: { n: { lt: 20 } } } })
        })
        expect(ids).to.deep.equal(whole.body.hits.hits.map((hit: { _id: string }) => hit._id))
        expect(pages).to.equal(8)
        expect(new Set(totals)).to.deep.equal(new Set([50]))
      })

    it('a scroll through a filtered alias stays within the filter, and outlives the index', async () => {
      await store.request('PUT', '/short', {
        mappings: { properties: { service: { type: 'keyword' } } },
        aliases: { shorts: { filter: { term: { service: 'cart' } } } },
      })
      await write(store, 'short', 0, 10)
      const { ids } = await scrollAll(
        store,
        '/shorts/_search?scroll=1m',
        { size: 2 },
        async () => void (await store.request('DELETE', '/short')),
      )
      expect(ids).to.deep.equal(['short-0', 'short-2', 'short-4', 'short-6', 'short-8'])
    })

    it('aggregations come with the first page alone, and a page without [scroll] is the last', async () => {
      const first = await store.request('POST', '/events/_search?scroll=1m', { size: 3, aggs: { n: { max: { field: 'n' } } } })
      expect(first.body.aggregations).to.deep.equal({ n: { value: 24 } })
      const second = await store.request('GET', `/_search/scroll/${first.body._scroll_id}?scroll=1m&rest_total_hits_as_int=true`)
      expect(second.body.aggregations).to.equal(undefined)
      expect(second.body.hits.total).to.equal(25)
      const last = await store.request('POST', '/_search/scroll', { scroll_id: first.body._scroll_id })
      expect(last.body._scroll_id).to.equal(undefined)
      expect(last.body.hits.hits.length).to.equal(3)
      expect((await store.request('POST', '/_search/scroll', { scroll_id: first.body._scroll_id })).status).to.equal(404)
    })

    it('a point in time stays as it was, and search_after reads on in it', async () => {
      const opened = await store.request('POST', `/${LOGS},events/_search/point_in_time?keep_alive=1h`)
      expect(opened.body._shards).to.deep.equal({ total: 2, successful: 2, skipped: 0, failed: 0 })
      const id = opened.body.pit_id
      await write(store, LOGS, 100, 5)
      await store.request('DELETE', '/events/_doc/events-3')
      const seen: string[] = []
      let after: unknown[] | undefined
      for (;;) {
        const body = {
          size: 8,
          pit: { id, keep_alive: '2h' },
          sort: [{ timestamp: 'asc' }, '_shard_doc'],
          ...(after && { search_after: after }),
        }
        const page = await store.request('POST', '/_search', body)
        expect(page.body.pit_id).to.equal(id)
        expect(page.body.hits.total.value).to.equal(50)
        if (page.body.hits.hits.length === 0) break
        seen.push(...page.body.hits.hits.map((hit: { _id: string }) => hit._id))
        after = page.body.hits.hits.at(-1).sort
      }
      expect(seen.length).to.equal(50)
      expect(new Set(seen).size).to.equal(50)
      const listed = await store.request('GET', '/_search/point_in_time/_all')
      expect(listed.body.pits).to.deep.equal([{ pit_id: id, creation_time: opened.body.creation_time, keep_alive: 2 * HOUR_MS }])
      const many = await store.request(
        'POST',
        '/_msearch',
        `{}\n${JSON.stringify({ pit: { id }, size: 1 })}\n{"index":"events"}\n{"size":1}\n`,
      )
      expect(many.body.responses.map((each: { hits: { total: { value: number } } }) => each.hits.total.value)).to.deep.equal([50, 24])
      const closed = await store.request('DELETE', '/_search/point_in_time', { pit_id: [id] })
      expect(closed.body).to.deep.equal({ pits: [{ successful: true, pit_id: id }] })
      expect((await store.request('POST', '/_search', { pit: { id } })).body.error.root_cause[0].type).to.equal(
        'search_context_missing_exception',
      )
      expect((await store.request('DELETE', '/_search/point_in_time', { pit_id: [id] })).status).to.equal(200)
    })

    it('what was not asked for within its keep-alive is gone', async () => {
      const { body } = await store.request('POST', '/events/_search?scroll=1m&size=1')
      await clock.advance(MINUTE_MS - 1)
      const next = { scroll: '5m', scroll_id: body._scroll_id }
      expect((await store.request('POST', '/_search/scroll', next)).status).to.equal(200)
      await clock.advance(5 * MINUTE_MS - 1)
      expect((await store.request('POST', '/_search/scroll', next)).status).to.equal(200)
      await clock.advance(5 * MINUTE_MS)
      const { status, body: answer } = await store.request('POST', '/_search/scroll', next)
      expect(status).to.equal(404)
      expect(answer.error.type).to.equal('search_phase_execution_exception')
      expect(answer.error.root_cause[0].type).to.equal('search_context_missing_exception')
      expect((await store.request('DELETE', '/_search/scroll', { scroll_id: body._scroll_id })).body).to.deep.equal({
        succeeded: true,
        num_freed: 0,
      })
      expect((await store.request('DELETE', '/_search/scroll/_all')).status).to.equal(200)
    })

    const REFUSED: readonly [string, string, object | undefined, string][] = [
      ['POST', '/events/_search?scroll=25h', undefined, 'Keep alive for request (1d) is too large. It must be less than (1d).'],
      ['POST', '/events/_search?scroll=1x', undefined, 'failed to parse setting [scroll] with value [1x] as a time value'],
      ['POST', '/events/_search?scroll=1m&size=0', undefined, '[size] cannot be [0] in a scroll context'],
      ['POST', '/events/_search?scroll=1m&from=1', undefined, 'using [from] is not allowed in a scroll context'],
      ['POST', '/events/_search?scroll=1m', { track_total_hits: false }, 'disabling [track_total_hits] is not allowed in a scroll context'],
      ['POST', '/events/_search?scroll=1m', { sort: ['n'], search_after: [1] }, '`search_after` cannot be used in a scroll context.'],
      ['POST', '/events/_search?scroll=1m', { sort: ['_shard_doc'] }, '_shard_doc is only supported with point-in-time (PIT).'],
      ['POST', '/_search/scroll', {}, 'scrollId is missing'],
      ['POST', '/_search/scroll', { scroll_id: 'abc' }, 'Cannot parse scroll id'],
      ['DELETE', '/_search/scroll', {}, 'no scroll ids specified'],
      ['POST', '/events/_search/point_in_time', undefined, 'keep alive not specified'],
      [
        'POST',
        '/events/_search/point_in_time?keep_alive=25h',
        undefined,
        'changing the [point_in_time.max_keep_alive] cluster level setting',
      ],
      ['POST', '/events/_search', { pit: { id: 'abc' } }, '[indices] cannot be used with point in time'],
      ['POST', '/_search?preference=a', { pit: { id: 'abc' } }, '[preference] cannot be used with point in time'],
      ['POST', '/_search', { pit: { id: 'abc', foo: 1 } }, '[pit] unknown field [foo]'],
      ['POST', '/_search', { pit: {} }, 'point int time id is not provided'],
      ['POST', '/_search', { pit: { id: 'abc' } }, 'invalid id: [abc]'],
      ['DELETE', '/_search/point_in_time', {}, 'no pit ids specified'],
    ]
    it('refuses what OpenSearch refuses, in its words', async () => {
      for (const [method, path, body, reason] of REFUSED) {
        const answer = await store.request(method, path, body)
        expect(answer.status, `${method} ${path}`).to.equal(400)
        expect(answer.body.error.reason).to.contain(reason)
      }
      expect((await store.request('POST', '/absent/_search?scroll=1m')).body.error.type).to.equal('index_not_found_exception')
      const none = await store.request('POST', '/absent*/_search?scroll=1m')
      expect([none.status, none.body._scroll_id]).to.deep.equal([200, undefined])
    })

    it('opens so many scrolls and no more', async () => {
      const ids: string[] = []
      for (;;) {
        const { status, body } = await store.request('POST', '/events/_search?scroll=1m&size=1')
        if (status !== 200) {
          expect(status).to.equal(429)
          expect(body.error.reason).to.contain('Trying to create too many scroll contexts. Must be less than or equal to: [500].')
          break
        }
        ids.push(body._scroll_id)
      }
      expect(ids.length).to.equal(500)
      expect((await store.request('DELETE', '/_search/scroll/_all')).body.num_freed).to.equal(500)
    }).timeout(60_000)

    if (runner === isProcess.runner)
      it('a scroll goes on after the end of the query process', async () => {
        const path = `/${LOGS},events/_search?scroll=1m`
        let ended = 0
        const { ids } = await scrollAll(store, path, { size: 20, sort: ['_doc'] }, async () => {
          await write(store, 'events', 0, 25)
          await store.request('POST', `/${LOGS}/_delete_by_query`, { query: { match_all: {} } })
          for (const pid of readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')) {
            if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('query-process-entry')) continue
            process.kill(Number(pid), 'SIGKILL')
            ended++
          }
        })
        expect(ended).to.be.greaterThan(1)
        expect(new Set(ids).size).to.equal(50)
        expect(ids.length).to.equal(50)
      }).timeout(60_000)
  })
