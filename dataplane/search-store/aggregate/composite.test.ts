import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { QueryMemory } from '../query/budget/query-memory.ts'
import { startTestStore, type TestStore } from '../testing/test-store.ts'
import { type Below, BucketTable } from './bucket-table.ts'
import type { MatchView } from './match-view.ts'

describe('a composite aggregation of documents with several values', () => {
  let store: TestStore
  before(async () => {
    store = await startTestStore()
    await store.request('PUT', '/many', { mappings: { properties: { id: { type: 'long' }, n: { type: 'integer' } } } })
    await store.request('PUT', '/many/_doc/large', '{"id":[9007199254740993,5,9007199254740993]}')
    await store.request('PUT', '/many/_doc/long', { n: new Array(600).fill(1) })
  })
  after(() => store.stop())

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
