import type { MessagePort } from 'node:worker_threads'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { withBulkPort } from '../adapters/search/bulk-port-client.ts'
import type { BulkWalker } from '../bulk-port/bulk-walker.ts'
import { packBulk } from '../bulk-port/packed-bulk.ts'
import type { SearchStore } from '../ports/search-store.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../testing/embedded-search-store.ts'
import { type BulkWalk, createBulkWalker } from './bulk-walker.ts'

const INDEX = 'service-logs-2026.11.21'
const idOf = (n: number) => `${String(n).padStart(8, '0')}-0000-5000-a000-000000000000`

describe('bulks whose documents are walked in the thread that makes them', function () {
  this.timeout(20_000)
  let embedded: EmbeddedSearchStore
  let port: MessagePort
  let store: SearchStore
  /** Documents that were walked, by bulk. */
  let walked: number[]
  beforeEach(async () => {
    embedded = await startEmbeddedSearchStore()
    port = embedded.connect()
    walked = []
    const walker = createBulkWalker()
    const counting: BulkWalker = {
      walk(bulk) {
        const walk = walker.walk(bulk)
        walked.push(((walk?.message ?? []) as BulkWalk).reduce((sum, each) => sum + (each.walked?.count ?? 0), 0))
        return walk
      },
      learn: message => walker.learn(message),
    }
    store = withBulkPort(embedded.store, port, counting)
  })
  afterEach(async () => {
    port.close()
    await embedded.stop()
  })

  const send = async (from: number, count: number, indexOf: (n: number) => string = () => INDEX) => {
    const operations = Array.from({ length: count }, (_none, k) => ({
      ...({ action: 'create', index: indexOf(from + k), id: idOf(from + k) } as const),
      body: JSON.stringify({ timestamp: '2026-11-21T12:00:00Z', n: from + k, message: `number ${from + k} of many`, service: `s${k % 3}` }),
    }))
    const { outcomes } = await store.bulkPacked!(packBulk(operations, size => Buffer.allocUnsafeSlow(size)))
    return outcomes === 'created' ? count : outcomes.filter(each => each.status === 'done').length
  }
  const count = async (query: object, index = INDEX) =>
    (await embedded.store.search<object>({ index, body: { size: 0, track_total_hits: true, query } })).total

  it('are found as all others are, once the store has told its mapping', async () => {
    for (const from of [0, 200, 400, 600]) expect(await send(from, 200)).to.equal(200)
    expect(walked.at(-1)).to.equal(200)
    expect(await count({ match_phrase: { message: 'of many' } })).to.equal(800)
    expect(await count({ term: { service: 's1' } })).to.equal(4 * 67)
    expect(await count({ range: { n: { gte: 700 } } })).to.equal(100)
    const { hits } = await embedded.store.search<object>({ index: INDEX, body: { size: 1, query: { term: { n: 777 } } } })
    expect(hits[0]!.source).to.deep.equal({ timestamp: '2026-11-21T12:00:00Z', n: 777, message: 'number 777 of many', service: 's0' })
  })

  it('change nothing when they come again, however much of them is new', async () => {
    for (const from of [0, 200, 400]) await send(from, 200)
    expect(await send(500, 200)).to.equal(100)
    expect(await send(500, 200)).to.equal(0)
    expect(walked.at(-1)).to.equal(200)
    expect(await count({ match_all: {} })).to.equal(700)
  })

  it('are walked for each of their indices, those of a few documents by the store', async () => {
    const other = 'service-logs-2026.11.22'
    const indexOf = (n: number) => (n % 4 === 0 ? other : INDEX)
    for (const from of [0, 100, 200, 300]) expect(await send(from, 100, indexOf)).to.equal(100)
    expect(walked.at(-1)).to.equal(75)
    expect(await count({ match: { message: 'many' } })).to.equal(300)
    expect(await count({ match: { message: 'many' } }, other)).to.equal(100)
  })

  it('go on when the index was deleted and made anew', async () => {
    for (const from of [0, 200, 400]) await send(from, 200)
    await embedded.store.deleteIndex(INDEX)
    for (const from of [0, 200, 400, 600, 800, 1_000]) expect(await send(from, 200)).to.equal(200)
    expect(walked.at(-1)).to.equal(200)
    expect(await count({ match: { message: 'many' } })).to.equal(1_200)
  })
})
