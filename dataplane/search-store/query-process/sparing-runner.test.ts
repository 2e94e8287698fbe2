import { expect } from 'chai'
import type { QueryRunner } from '../calls/query-call.ts'
import { startTestStore, type TestStore } from '../testing/test-store.ts'
import { createProcessRunner } from './process-runner.ts'
import { createSparingRunner } from './sparing-runner.ts'

const open = { query: { bool: { filter: [{ term: { status: 'open' } }, { range: { n: { gte: 5 } } }] } }, sort: [{ n: 'desc' }] }
const groups = { size: 0, aggs: { services: { terms: { field: 'service' }, aggs: { most: { max: { field: 'n' } } } } } }

describe('plain searches over small tables', () => {
  let store: TestStore
  let left = 0

  before(async () => {
    store = await startTestStore({
      createQueryRunner: config => {
        const others: QueryRunner = createProcessRunner(config)
        const counting: QueryRunner = {
          run(call, signal) {
            left++
            return others.run(call, signal)
          },
          get counters() {
            return others.counters
          },
          stop: () => others.stop(),
        }
        return createSparingRunner({ ...config, others: counting })
      },
    })
    const properties = { status: { type: 'keyword' }, service: { type: 'keyword' }, n: { type: 'long' }, text: { type: 'keyword' } }
    for (const index of ['incidents-a', 'incidents-b', 'large']) await store.request('PUT', `/${index}`, { mappings: { properties } })
    const documents = (count: number, text = '') =>
      Array.from({ length: count }, (_none, n) => {
        const document = { n, service: `service ${n % 3}`, status: n % 2 === 0 ? 'open' : 'closed', text }
        return `{"index":{"_id":"${n}"}}\n${JSON.stringify(document)}\n`
      }).join('')
    await store.request('POST', '/incidents-a/_bulk', documents(20))
    await store.request('POST', '/incidents-b/_bulk', documents(200, 'x'.repeat(1000)))
    await store.request('POST', '/large/_bulk', documents(6_000))
    await store.request('POST', '/service-logs-2026.11.21/_bulk', '{"create":{}}\n{"n":1,"status":"open"}\n')
  })
  after(() => store.stop())
  beforeEach(() => {
    left = 0
  })

  for (const [name, body] of Object.entries({ open, groups, 'all of them': { size: 300, seq_no_primary_term: true } }))
    it(`are answered without the query process, as it answers them: ${name}`, async () => {
      const here = await store.request('POST', '/incidents-*/_search', body)
      expect([here.status, left]).to.deep.equal([200, 0])
      // A parameter that changes nothing here.
      const there = await store.request('POST', '/incidents-*/_search?preference=_local', body)
      expect(left).to.equal(1)
      expect({ ...here.body, took: 0 }).to.deep.equal({ ...there.body, took: 0 })
    })

  it('see what was written, changed and deleted before', async () => {
    const find = async () => {
      const { body } = await store.request('POST', '/changing/_search', { query: { term: { n: 7 } } })
      return body.hits.hits.map(({ _id }: { readonly _id: string }) => _id)
    }
    for (const id of ['1', '2', '3']) {
      await store.request('PUT', `/changing/_doc/${id}`, { n: 7 })
      expect(await find()).to.include(id)
    }
    await store.request('PUT', '/changing/_doc/1', { n: 8 })
    await store.request('DELETE', '/changing/_doc/2')
    expect(await find()).to.deep.equal(['3'])
    expect(left).to.equal(0)
  })

  it('leave large tables, logs and aliases with a filter to the query process', async () => {
    await store.request('POST', '/_aliases', {
      actions: [{ add: { index: 'incidents-a', alias: 'some', filter: { wildcard: { service: '*1' } } } }],
    })
    for (const index of ['large', 'service-logs-*', 'some', 'incidents-a,large'])
      expect((await store.request('POST', `/${index}/_search`, open)).status, index).to.equal(200)
    expect(left).to.equal(4)
  })

  it('are refused as the query process refuses them', async () => {
    const wrong = { query: { range: { n: { least: 1 } } } }
    for (const [index, body] of [
      ['incidents-a', wrong],
      ['nowhere', {}],
      ['nowhere', wrong],
    ] as const) {
      const here = await store.request('POST', `/${index}/_search`, body)
      const there = await store.request('POST', `/${index}/_search?preference=_local`, body)
      expect([here.status, here.body]).to.deep.equal([there.status, there.body])
      expect(here.status).to.be.within(400, 404)
    }
  })
})
