import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type Answer, startTestStore, type TestStore } from '../../testing/test-store.ts'

const MIB = 1024 * 1024
/** Time that one piece of work may hold the thread, ms; far more than on a machine with nothing else to do. */
const LONGEST_MS = 500

describe('large writes', () => {
  let store: TestStore

  beforeEach(async () => {
    store = await startTestStore()
  })
  afterEach(async () => {
    await store.stop()
    expect(store.logged).to.deep.equal([])
  })

  /** The answer, and the most CPU time that the process took without another turn of its event loop, ms. */
  async function watched(send: () => Promise<Answer>): Promise<{ readonly answer: Answer; readonly longestMs: number }> {
    let longestMs = 0
    let last = process.cpuUsage()
    const watch = setInterval(() => {
      const { user, system } = process.cpuUsage(last)
      last = process.cpuUsage()
      longestMs = Math.max(longestMs, (user + system) / 1000)
    }, 1)
    try {
      await sleep(20)
      longestMs = 0
      const answer = await send()
      await sleep(5)
      return { answer, longestMs }
    } finally {
      clearInterval(watch)
    }
  }

  for (const index of ['service-logs-2026.11.21', 'a-table']) {
    it(`of one document: what is larger than documents may be is refused before it is read (${index})`, async () => {
      for (const [method, path] of [
        ['PUT', '_doc/1'],
        ['POST', '_doc'],
        ['PUT', '_create/1'],
        ['POST', '_update/1'],
      ]) {
        const bomb = gzipSync('['.repeat(48 * MIB))
        const { answer, longestMs } = await watched(() => store.request(method!, `/${index}/${path}`, bomb, { 'content-encoding': 'gzip' }))
        expect(answer.status, path).to.equal(413)
        expect(longestMs, path).to.be.below(LONGEST_MS)
      }
    })

    it(`of documents with more names than one may have fail alone, updates as well (${index})`, async () => {
      await store.request('PUT', `/${index}`, { mappings: { dynamic: false } })
      const names = (count: number) =>
        JSON.stringify({ a: Object.fromEntries(Array.from({ length: count }, (_none, at) => [`k${at}`, at])) })
      const lines = [
        '{"index":{"_id":"1"}}',
        names(39_999),
        '{"index":{"_id":"2"}}',
        names(40_000),
        '{"update":{"_id":"1"}}',
        '{"doc":{"a":{"another":1}}}',
        '{"update":{"_id":"1"}}',
        `{"doc":${names(150_000)}}`,
        '{"index":{"_id":"3"}}',
        `{"text":"${':'.repeat(150_000)}"}`,
        '',
      ]
      const { answer, longestMs } = await watched(() =>
        store.request('POST', `/${index}/_bulk?filter_path=items.*.status,items.*.error.reason`, lines.join('\n')),
      )
      const items = answer.body.items.map((item: Record<string, { status: number }>) => Object.values(item)[0]!.status)
      expect(items).to.deep.equal([201, 400, 400, 400, 201])
      expect(answer.text).to.contain('at most 40000 names')
      expect(longestMs).to.be.below(LONGEST_MS)
      expect((await store.request('PUT', `/${index}/_doc/4`, names(40_000))).status).to.equal(400)
    })

    it(`in a bulk fail alone when they are larger than documents may be (${index})`, async () => {
      const large = `{"a":[${'{},'.repeat(MIB)}{}]}`
      const deep = `{"a":${'['.repeat(0.5 * MIB)}${']'.repeat(0.5 * MIB)}}`
      const lines = [
        '{"index":{"_id":"1"}}',
        '{"a":1}',
        '{"index":{"_id":"2"}}',
        large,
        '{"index":{"_id":"3"}}',
        deep,
        '{"update":{"_id":"1"}}',
        `{"doc":${large}}`,
        '{"update":{"_id":"1"}}',
        `{"doc":${deep}}`,
        '{"index":{"_id":"4"}}',
        '{"a":2}',
        '',
      ]
      const { answer, longestMs } = await watched(() =>
        store.request('POST', `/${index}/_bulk?filter_path=items.*.status`, lines.join('\n')),
      )
      const statuses = answer.body.items.map((item: Record<string, { status: number }>) => Object.values(item)[0]!.status)
      expect(statuses).to.deep.equal([201, 400, 400, 400, 400, 201])
      expect(longestMs).to.be.below(LONGEST_MS)
      expect((await store.request('GET', `/${index}/_count`)).body.count).to.equal(2)
    })

    it(`grow no document beyond what documents may be by updates (${index})`, async () => {
      for (const member of ['a', 'b', 'c'])
        await store.request('POST', `/${index}/_update/1`, { doc: { [member]: { index: 'x'.repeat(0.9 * MIB) } }, doc_as_upsert: true })
      const { body } = await store.request('GET', `/${index}/_doc/1`)
      expect(Object.keys(body._source)).to.deep.equal(['a', 'b'])
    })

    it(`of many operations let others run meanwhile (${index})`, async () => {
      const lines = Array.from(
        { length: 60_000 },
        (_none, at) => `{"index":{"_id":"${at}"}}\n{"message":"request ${at} took ${at % 97} ms","n":${at}}\n`,
      )
      const { answer, longestMs } = await watched(() => store.request('POST', `/${index}/_bulk?filter_path=items.*.status`, lines.join('')))
      expect(answer.body.items.length).to.equal(60_000)
      expect(longestMs).to.be.below(LONGEST_MS)
      expect((await store.request('GET', `/${index}/_count`)).body.count).to.equal(60_000)
    }).timeout(30_000)
  }

  it('of a table come in the order of a request, whatever comes between', async () => {
    const lines = Array.from({ length: 20_000 }, (_none, at) => `{"index":{"_id":"${at % 100}"}}\n{"n":${at}}\n`)
    const bulk = store.request('POST', '/a-table/_bulk?filter_path=items.*.status', lines.join(''))
    const other = await store.request('PUT', '/another-table/_doc/1', { a: 1 })
    expect(other.status).to.equal(201)
    expect((await bulk).body.items.length).to.equal(20_000)
    const { body } = await store.request('GET', '/a-table/_doc/99')
    expect(body).to.deep.include({ _version: 200, _source: { n: 19_999 } })
  })

  it('of action lines without an end are refused', async () => {
    const { answer, longestMs } = await watched(() => store.request('POST', '/_bulk', `${'['.repeat(32 * MIB)}\n{}\n`))
    expect(answer.status).to.equal(400)
    expect(longestMs).to.be.below(LONGEST_MS)
  })
})
