/** A real disk that is full: each kind of write is refused for now, and what was answered before is there. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { skipBecause } from '../testing/skip-because.ts'
import { mountSmallDisk, type SmallDisk } from '../testing/small-disk.ts'
import { startTestStore, type TestStore } from './testing/test-store.ts'

const LOGS = 'service-logs-2026.11.21'
/** Hardly shorter when packed. */
const DOCUMENT = { message: randomBytes(20_000).toString('base64') }
const bulk = (index: string, count: number) =>
  Array.from({ length: count }, () => `{"index":{"_index":"${index}"}}\n${JSON.stringify(DOCUMENT)}\n`).join('')

describe('a search store whose disk is full', function () {
  this.timeout(30_000)
  let disk: SmallDisk | undefined
  let store: TestStore
  beforeEach(async function () {
    disk = mountSmallDisk('24m')
    if (disk === undefined) skipBecause(this, 'mounting a small disk needs root')
    store = await startTestStore({ dir: disk.path })
    for (const index of [LOGS, 'table', 'service-logs-empty'])
      expect((await store.request('PUT', `/${index}/_doc/1`, { n: 1 })).status).to.equal(201)
  })
  afterEach(async () => {
    await store?.stop()
    disk?.remove()
  })

  const WRITES: readonly (readonly [what: string, method: string, path: string, body?: unknown])[] = [
    ['a document of logs', 'PUT', `/${LOGS}/_doc/2`, DOCUMENT],
    ['an update of logs', 'POST', `/${LOGS}/_update/1`, { doc: DOCUMENT }],
    ['a document of a table', 'PUT', '/table/_doc/2', DOCUMENT],
    ['an update of a table', 'POST', '/table/_update/1', { doc: DOCUMENT }],
    ['a new index of logs', 'PUT', '/service-logs-new'],
    ['a new table', 'PUT', '/new', { mappings: { properties: { [`f${'x'.repeat(20_000)}`]: { type: 'keyword' } } } }],
    ['a mapping of logs', 'PUT', `/${LOGS}/_mapping`, { properties: { added: { type: 'keyword' } } }],
    ['a template', 'PUT', '/_index_template/t', { index_patterns: [`p${'x'.repeat(20_000)}`] }],
  ]
  for (const [what, method, path, body] of WRITES)
    it(`refuses ${what} with 429 and Retry-After, and takes it when there is room`, async () => {
      const filler = disk!.fill()
      const refused = await store.request(method, path, body)
      expect(refused.status, refused.text).to.equal(429)
      expect(Number(refused.headers.get('retry-after')), refused.text).to.be.within(1, 60)
      expect(refused.body.error.type).to.equal('cluster_block_exception')
      rmSync(filler)
      const taken = await store.request(method, path, body)
      expect(taken.status, taken.text).to.be.within(200, 201)
      await store.restart()
      const health = await store.request('GET', '/_cluster/health')
      expect(health.body.status).to.equal('green')
      expect((await store.request('GET', `/${LOGS}/_doc/1`)).body.found).to.equal(true)
      expect((await store.request('GET', '/table/_doc/1')).body.found).to.equal(true)
    })

  for (const name of [LOGS, 'table'])
    it(`can be made room on: an index is deleted (${name})`, async () => {
      await store.request('POST', '/_bulk', bulk(name, 20))
      disk!.fill()
      const refused = await store.request('PUT', '/service-logs-empty/_doc/2', DOCUMENT)
      expect(refused.status, refused.text).to.equal(429)
      const deleted = await store.request('DELETE', `/${name}`)
      expect(deleted.status, deleted.text).to.equal(200)
      expect((await store.request('GET', `/${name}/_count`)).status).to.equal(404)
      if (name === LOGS) expect((await store.request('PUT', '/service-logs-empty/_doc/2', DOCUMENT)).status).to.equal(201)
      // A second one, when what is kept for it is there again or not.
      expect((await store.request('DELETE', '/service-logs-empty')).status).to.equal(200)
      await store.restart()
      expect((await store.request('GET', '/_cat/indices?h=index')).text.trim().split(/\s+/)).to.have.lengthOf(1)
      expect((await store.request('GET', '/_cluster/health')).body.status).to.equal('green')
    })

  it('says once in its log that it cannot write, and why', async () => {
    const filler = disk!.fill()
    for (const index of [LOGS, 'table', LOGS, 'service-logs-empty'])
      expect((await store.request('PUT', `/${index}/_doc/2`, DOCUMENT)).status).to.equal(429)
    expect(store.logged).to.have.lengthOf(1)
    expect(store.logged[0]).to.include({ index: LOGS }).and.to.have.property('reason').that.contains('no space left on device')
    rmSync(filler)
    for (const index of [LOGS, 'table']) expect((await store.request('PUT', `/${index}/_doc/2`, DOCUMENT)).status).to.equal(201)
    expect(store.logged).to.have.lengthOf(1)
    disk!.fill()
    expect((await store.request('PUT', '/table/_doc/3', DOCUMENT)).status).to.equal(429)
    expect(store.logged[1]).to.have.property('reason').that.contains('disk is full')
  })

  for (const index of [LOGS, 'table'])
    it(`keeps every document that a bulk was told is stored, through a stop and a start on the full disk (${index})`, async () => {
      let stored = 1
      let refused = 0
      for (let round = 0; refused === 0 && round < 60; round++) {
        const { status, body, headers } = await store.request('POST', '/_bulk', bulk(index, 50))
        // As OpenSearch has it: the items say it.
        expect([status, headers.get('retry-after')]).to.deep.equal([200, null])
        for (const { index: item } of body.items) {
          if (item.status === 201) stored++
          else refused++
          expect(item.status, JSON.stringify(item)).to.be.oneOf([201, 429])
        }
        if (index === LOGS && round === 2) disk!.fill()
        if (index === 'table' && round === 1) disk!.fill()
      }
      expect(refused).to.be.above(0)
      const count = async () => (await store.request('GET', `/${index}/_count`)).body.count
      expect(await count()).to.equal(stored)
      await store.restart()
      expect(await count()).to.equal(stored)
      rmSync(`${disk!.path}/filler`)
      expect((await store.request('PUT', `/${index}/_doc/more`, DOCUMENT)).status).to.equal(201)
      await store.restart()
      expect(await count()).to.equal(stored + 1)
      expect((await store.request('GET', '/_cluster/health')).body.status).to.equal('green')
    })
})
