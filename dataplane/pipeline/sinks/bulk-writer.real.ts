import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createSearchStore } from '../../adapters/search/search-store.ts'
import { foldDocument } from '../../domain/documents/document.ts'
import type { BulkOperation, SearchStore } from '../../ports/search-store.ts'
import { type FaultyProxy, startFaultyProxy } from '../../testing/faulty-proxy.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { backendAddress } from '../../testing/real/address.ts'
import {
  freezeOpenSearch,
  isOpenSearchUp,
  killOpenSearch,
  restartOpenSearch,
  thawOpenSearch,
} from '../../testing/real/opensearch-server.ts'
import { skipBecause } from '../../testing/skip-because.ts'
import { createBulkSize } from './bulk-size.ts'
import { type BulkWriterDeps, writeBulk } from './bulk-writer.ts'

export const needs = ['opensearch']

/** A day that nothing else writes to. */
const INDEX = 'service-logs-2020.02.02'
const REQUEST_TIMEOUT_MS = 3_000

const log = (at: number, more: object = {}): BulkOperation => ({
  action: 'create',
  index: INDEX,
  id: `log-${at}`,
  body: JSON.stringify({
    timestamp: new Date(1_580_601_600_000 + at).toISOString(),
    service: 'cart',
    level: 'INFO',
    message: `m ${at}`,
    ...more,
  }),
})
const logs = (count: number, from = 0) => Array.from({ length: count }, (_, at) => log(from + at))
const fold = (operation: BulkOperation): BulkOperation => ({ ...operation, body: foldDocument(String(operation.body)) })

describe('writing documents to OpenSearch', function () {
  this.timeout(300_000)
  let proxy: FaultyProxy
  let store: SearchStore
  let direct: SearchStore
  let deps: BulkWriterDeps
  let progress = 0

  before(async () => {
    const address = backendAddress('opensearch')
    proxy = await startFaultyProxy(address)
    store = createSearchStore({ endpoint: proxy.url, requestTimeoutMs: REQUEST_TIMEOUT_MS })
    direct = createSearchStore({ endpoint: address })
    await putIndexTemplates(direct)
  })
  beforeEach(async () => {
    await direct.deleteIndex(INDEX)
    progress = 0
    const onProgress = ({ created }: { readonly created: number }) => {
      progress += created
    }
    deps = { store, clock: systemClock, signal: new AbortController().signal, fold, size: createBulkSize(), onProgress }
  })
  afterEach(() => proxy.decide(() => undefined))
  after(async () => {
    await direct?.deleteIndex(INDEX)
    await Promise.all([store?.close(), direct?.close(), proxy?.stop()])
  })

  const stored = async () => {
    await direct.refresh(INDEX)
    return (await direct.search({ index: INDEX, body: { size: 0, track_total_hits: true } })).total
  }
  const post = async (path: string) => {
    const answer = await fetch(`${backendAddress('opensearch')}/${path}`, { method: 'POST' })
    expect(answer.status, `${path}: ${await answer.text()}`).to.equal(200)
  }
  const isBulk = (path: string) => path.startsWith('/_bulk')

  it('413: sends less at a time, and more again once it may', async () => {
    const limit = 40_000
    let largest = 0
    proxy.decide(({ path, bytes }) => {
      if (!isBulk(path)) return undefined
      if (bytes > limit) return { status: 413 }
      largest = Math.max(largest, bytes)
      return undefined
    })
    const size = createBulkSize(256 * 1024)
    expect((await writeBulk(logs(3_000), { ...deps, size })).created).to.equal(3_000)
    expect(largest).to.be.within(limit / 4, limit)
    expect(await stored()).to.equal(3_000)
    const shrunk = size.bytes
    proxy.decide(() => undefined)
    await writeBulk(logs(3_000, 3_000), { ...deps, size })
    expect(size.bytes).to.be.above(shrunk)
  })

  it('429, 503, cut connections and lost answers: everything is written and counted once', async () => {
    let requests = 0
    proxy.decide(({ path }) =>
      isBulk(path) ? ([{ status: 429 }, 'lost', undefined, { status: 503 }, 'cut'] as const)[requests++ % 5] : undefined,
    )
    const result = await writeBulk(logs(2_000), { ...deps, size: createBulkSize(64 * 1024) })
    expect(result.created).to.equal(2_000)
    expect(progress).to.equal(2_000)
    expect(result.refused).to.deep.equal([])
    expect(result.errors).to.be.above(0)
    expect(await stored()).to.equal(2_000)
  })

  it('a mapping conflict and too many fields: the custom attributes are folded; what fails even so is refused with the reason', async () => {
    const manyFields = Object.fromEntries(Array.from({ length: 3_100 }, (_, at) => [`k${at}`, at]))
    const operations = [
      log(0),
      log(1, { duration_ms: 'slow' }),
      log(2, manyFields),
      log(3, { 'a.b': 1 }),
      log(4, { a: 1 }),
      log(5, { timestamp: 'soon' }),
    ]
    const { created, refused } = await writeBulk(operations, deps)
    expect(created).to.equal(5)
    expect(refused.map(({ item }) => item)).to.deep.equal([5])
    expect(refused[0]!.reason).to.match(/^400 .*timestamp/)
    expect(await stored()).to.equal(5)
    const query = { bool: { filter: [{ term: { 'attributes.duration_ms': 'slow' } }] } }
    expect((await direct.search({ index: INDEX, body: { query } })).hits.map(({ id }) => id)).to.deep.equal(['log-1'])
    expect((await direct.search({ index: INDEX, body: { query: { term: { 'attributes.k3099': '3099' } } } })).hits).to.have.length(1)
  })

  it('keys longer than a term: the document is kept and found by its value, whole keys stand beside', async () => {
    const key = `k${'é'.repeat(16_500)}`
    const operations = [
      log(0, { attributes: { [key]: 'found-plain' } }),
      log(1, { attributes: { [key]: 5 } }),
      log(2, { attributes: { ['k'.repeat(9_000)]: 'found-text '.repeat(3_000) } }),
      log(3, { attributes: { list: [{ [key]: 'found-inside' }] } }),
      log(4, { attributes: { ['k'.repeat(9_000)]: 'found-whole' }, duration_ms: 'slow' }),
    ]
    expect(await writeBulk(operations, deps)).to.deep.include({ created: 5, refused: [] })
    expect(await stored()).to.equal(5)
    const found = async (query: object) => (await direct.search({ index: INDEX, body: { query } })).hits.map(({ id }) => id)
    expect(await found({ term: { attributes: 'found-plain' } })).to.deep.equal(['log-0'])
    expect(await found({ prefix: { attributes: 'found-text found-text' } })).to.deep.equal(['log-2'])
    expect(await found({ term: { [`attributes.${'k'.repeat(9_000)}`]: 'found-whole' } })).to.deep.equal(['log-4'])
    const { source } = (await direct.get<{ attributes: Record<string, string[]> }>(INDEX, 'log-1'))!
    const [cut, beside] = Object.keys(source.attributes)
    expect([cut!.length, source.attributes[cut!], beside]).to.deep.equal([1_017, 5, `${cut}.key`])
    expect(source.attributes[beside!]!.join('')).to.equal(key)
  })

  it('an index that is deleted in the middle, and one that is closed: what comes is stored as it is', async () => {
    let folded = 0
    const counting: BulkWriterDeps = {
      ...deps,
      fold(operation) {
        folded++
        return fold(operation)
      },
    }
    const custom = (at: number) => log(at, { 'user.id': `${at}` })
    let isOver = false
    const deleting = (async () => {
      while (!isOver) {
        await direct.deleteIndex(INDEX)
        await sleep(700)
      }
    })()
    const refused: unknown[] = []
    const write = async (lane: number) => {
      for (let at = 0; at < 300; at += 3) refused.push(...(await writeBulk([custom(at + lane)], counting)).refused)
    }
    await Promise.all([0, 1, 2].map(write)).finally(() => {
      isOver = true
    })
    await deleting
    expect(refused).to.deep.equal([])
    expect((await writeBulk([custom(1_000)], counting)).refused).to.deep.equal([])
    await post(`${INDEX}/_close`)
    const writing = writeBulk([custom(1_001)], counting)
    await sleep(1_000)
    await post(`${INDEX}/_open`)
    expect((await writing).refused).to.deep.equal([])
    expect(folded, 'documents folded').to.equal(0)
    expect((await direct.get<object>(INDEX, 'log-1001'))?.source).to.include({ 'user.id': '1001' })
  })

  it('an index made read-only, as at the flood stage, is waited for', async () => {
    await writeBulk(logs(1), deps)
    await block(true)
    const writing = writeBulk(logs(500), deps)
    await systemClock.sleep(1_500)
    expect(progress).to.equal(1)
    await block(false)
    expect(await writing).to.deep.include({ created: 499, refused: [] })
    expect(await stored()).to.equal(500)
  })

  const block = async (isBlocked: boolean) => {
    const body = JSON.stringify({ 'index.blocks.read_only_allow_delete': isBlocked ? true : null })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${backendAddress('opensearch')}/${INDEX}/_settings`, { method: 'PUT', headers, body })
    expect(response.status).to.equal(200)
  }

  const ownServer = async (context: Mocha.Context) => {
    if (!(await isOpenSearchUp())) skipBecause(context, 'this OpenSearch was not started by hack/backends')
  }

  it('OpenSearch killed and started again in the middle loses nothing and doubles nothing', async function () {
    await ownServer(this)
    const count = 12_000
    const writing = writeBulk(logs(count), { ...deps, size: createBulkSize(128 * 1024) })
    while (progress < count / 4) await systemClock.sleep(5)
    await killOpenSearch()
    expect(progress).to.be.below(count)
    await restartOpenSearch()
    expect(await writing).to.deep.include({ created: count, refused: [] })
    expect(progress).to.equal(count)
    expect(await stored()).to.equal(count)
  })

  it('OpenSearch that hangs is asked for less at a time until it goes on', async function () {
    await ownServer(this)
    const size = createBulkSize()
    await writeBulk(logs(1), deps)
    freezeOpenSearch()
    const writing = writeBulk(logs(4_000), { ...deps, size })
    await systemClock.sleep(REQUEST_TIMEOUT_MS + 500)
    thawOpenSearch()
    expect(size.bytes).to.be.below(createBulkSize().bytes)
    expect((await writing).created).to.be.within(3_999, 4_000)
    expect(await stored()).to.equal(4_000)
  })
})
