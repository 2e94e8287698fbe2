import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import type { QueryMemory } from '../../query/budget/query-memory.ts'
import { useTestStore } from '../../testing/use-test-store.ts'
import type { MatchView } from '../match-view.ts'
import { type Below, BucketTable } from './bucket-table.ts'

describe('a composite aggregation of documents with several values', () => {
  const store = useTestStore()
  before(async () => {
    await store.request('PUT', '/many', { mappings: { properties: { id: { type: 'long' }, n: { type: 'integer' } } } })
    await store.request('PUT', '/many/_doc/large', '{"id":[9007199254740993,5,9007199254740993]}')
    await store.request('PUT', '/many/_doc/long', { n: new Array(600).fill(1) })
  })

  const source = (field: string, at: number) => ({ [`s${at}`]: { terms: { field } } })
  const compose = (fields: readonly string[], below?: object) =>
    store.request('POST', '/many/_search', {
      size: 0,
      query: { match_all: {} },
      aggs: { c: { composite: { sources: fields.map(source) }, ...(below && { aggs: below }) } },
    })

  it('counts numbers that doubles do not hold as often as others', async () => {
    const { text } = await compose(['id'])
    expect(text).to.contain('"buckets":[{"key":{"s0":5},"doc_count":1},{"key":{"s0":9007199254740993},"doc_count":2}]')
  })

  it('counts all pairs of the values', async () =>
    expect((await compose(['n', 'n'])).body.aggregations.c.buckets).to.deep.equal([{ key: { s0: 1, s1: 1 }, doc_count: 360_000 }]))
})

describe('groups of addresses', () => {
  const store = useTestStore()
  before(async () => {
    await store.request('PUT', '/hosts', { mappings: { properties: { ip: { type: 'ip' }, by: { type: 'keyword' } } } })
    const addresses = ['10.0.0.21', '2001:db8::a', '10.0.0.3', '9.1.1.1', '2001:db8::9', '10.0.0.3']
    const lines = addresses.flatMap(ip => [{ index: {} }, { ip, by: 'x' }])
    await store.request('POST', '/hosts/_bulk?refresh=true', `${lines.map(line => JSON.stringify(line)).join('\n')}\n`)
  })

  const ORDERED = ['9.1.1.1', '10.0.0.3', '10.0.0.21', '2001:db8::9', '2001:db8::a']
  const answer = async (aggregation: object, query: object = { match_all: {} }) =>
    (await store.request('POST', '/hosts/_search', { size: 0, query, aggs: { a: aggregation } })).body.aggregations.a
  const keys = async (aggregation: object, query?: object) =>
    (await answer(aggregation, query)).buckets.map(({ key }: { key: unknown }) => key)

  it('stand in the order of the addresses, as those of equal counts do', async () => {
    expect(await keys({ terms: { field: 'ip', order: { _key: 'asc' } } })).to.deep.equal(ORDERED)
    expect(await keys({ terms: { field: 'ip', order: { _key: 'desc' }, size: 2 } })).to.deep.equal(['2001:db8::a', '2001:db8::9'])
    expect(await keys({ terms: { field: 'ip' } })).to.deep.equal(['10.0.0.3', '9.1.1.1', '10.0.0.21', '2001:db8::9', '2001:db8::a'])
    expect(await keys({ rare_terms: { field: 'ip' } })).to.deep.equal(ORDERED.filter(ip => ip !== '10.0.0.3'))
  })

  it('have what stands for none behind them', async () => {
    await store.request('PUT', '/hosts/_doc/none?refresh=true', { by: 'y' })
    expect(await keys({ terms: { field: 'ip', missing: '1st', order: { _key: 'asc' } } })).to.deep.equal([...ORDERED, '1st'])
    await store.request('DELETE', '/hosts/_doc/none?refresh=true')
  })

  it('stand so where they have no match', async () =>
    expect(await keys({ terms: { field: 'ip', min_doc_count: 0, order: { _key: 'asc' }, size: 3 } }, { match_none: {} })).to.deep.equal(
      ORDERED.slice(0, 3),
    ))

  it('stand so in combinations, page after page', async () => {
    const terms = [{ field: 'by' }, { field: 'ip' }]
    expect(await keys({ multi_terms: { terms, order: { _key: 'asc' } } })).to.deep.equal(ORDERED.map(ip => ['x', ip]))
    const page = (after?: object) =>
      answer({ composite: { size: 3, sources: [{ ip: { terms: { field: 'ip' } } }], ...(after && { after }) } })
    const first = await page()
    const second = await page(first.after_key)
    expect([...first.buckets, ...second.buckets].map(({ key }) => key.ip)).to.deep.equal(ORDERED)
    const [last] = (await answer({ composite: { size: 1, sources: [{ ip: { terms: { field: 'ip', order: 'desc' } } }] } })).buckets
    expect(last.key.ip).to.equal('2001:db8::a')
  })
})

describe('a table of buckets', () => {
  it('counts the memory of matches that are listed again for what is below', () => {
    let held = 0
    let most = 0
    const charge = (bytes: number): void => {
      held += bytes
      most = Math.max(most, held)
    }
    const memory: QueryMemory = { charge, giveBack: bytes => charge(-bytes), usedBytes: 0, release: () => undefined }
    const seen: number[] = []
    const below = new Map([['b', { collect: (_view: MatchView, places: Uint32Array) => seen.push(places.length), result: () => ({}) }]])
    const table = new BucketTable<string>(() => below as unknown as Below, { memory, budget: { used: 0 } })
    const ordinal = table.ordinal('a')
    const before = held
    const putOften = (_place: number, put: (ordinal: number) => void): void => {
      for (let time = 0; time < 1_000; time++) put(ordinal)
    }
    table.collect({ size: 1, weights: undefined } as MatchView, undefined, putOften, true)
    expect(table.counts).to.deep.equal([1_000])
    expect(seen).to.deep.equal([1_000])
    expect(most).to.be.greaterThan(8 * 1_000)
    expect(held).to.equal(before)
    table.collect({ size: 1, weights: undefined } as MatchView, undefined, putOften)
    expect(table.counts).to.deep.equal([1_001])
  })
})
