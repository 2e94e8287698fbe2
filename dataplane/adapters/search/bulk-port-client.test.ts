import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { packBulk } from '../../bulk-port/packed-bulk.ts'
import { type BulkOperation, type BulkOutcome, type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { withBulkPort } from './bulk-port-client.ts'

const INDEX = 'service-logs-2026.11.21'
const create = (id: string, fields: object = {}): BulkOperation => ({
  action: 'create',
  index: INDEX,
  id,
  body: Buffer.from(JSON.stringify({ timestamp: '2026-11-21T12:00:00Z', ...fields })),
})

describe('bulks through a port', function () {
  this.timeout(20_000)
  let embedded: EmbeddedSearchStore
  let port: MessagePort
  let store: SearchStore
  beforeEach(async () => {
    embedded = await startEmbeddedSearchStore()
    port = embedded.connect()
    store = withBulkPort(embedded.store, port)
  })
  afterEach(async () => {
    port.close()
    await embedded.stop()
  })

  const found = async () => {
    const { hits } = await embedded.store.search<object>({ index: INDEX, body: { size: 1_000, sort: [{ n: 'asc' }] } })
    return hits
  }

  it('tell the store where the ids of all their documents tell their times', async () => {
    const told = { ...create('00000001-0000-5000-a000-000000000000'), idTellsTime: true } as const
    const operations = (n: number) => [{ ...told, id: `0000000${n}-0000-5000-a000-000000000000` }]
    /** Commits of which the store knows it. */
    const commits = () => {
      const segment = readdirSync(embedded.dir, { recursive: true, encoding: 'utf8' }).find(name => name.endsWith('.seg'))!
      return readFileSync(join(embedded.dir, segment)).toString('latin1').split('"idsTellTimes":true').length - 1
    }
    await store.bulk([create('a')])
    await store.bulk([...operations(1), create('b')])
    expect(commits()).to.equal(0)
    await store.bulk(operations(2))
    expect(commits()).to.equal(1)
    await store.bulk([{ ...told, action: 'update', body: '{"flag":true}', upsert: told.body, id: 'c' }])
    expect(commits()).to.equal(2)
    await store.bulkPacked!(packBulk(operations(3), size => Buffer.allocUnsafeSlow(size)))
    expect(commits()).to.equal(3)
    await store.bulkPacked!(packBulk([create('d')], size => Buffer.allocUnsafeSlow(size)))
    expect(commits()).to.equal(3)
  })

  it('end as those over HTTP do, operation by operation', async () => {
    const operations = (prefix: string): readonly BulkOperation[] => [
      create(`${prefix}-new`, { n: 1 }),
      create(`${prefix}-new`, { n: 1 }),
      { action: 'update', index: INDEX, id: `${prefix}-new`, body: '{"flag":true}' },
      { action: 'update', index: INDEX, id: `${prefix}-new`, body: '{"flag":true}' },
      { action: 'update', index: INDEX, id: `${prefix}-absent`, body: '{"flag":true}', upsert: '{"n":2,"flag":true}' },
      { action: 'update', index: INDEX, id: `${prefix}-missing`, body: '{"flag":true}' },
      { action: 'index', index: INDEX, id: `${prefix}-ü€`, body: '{"n":3}' },
      create(`${prefix}-conflict`, { n: 'no number' }),
      { ...create(`${prefix}-broken`), body: '{"n":' },
      { ...create(`${prefix}-nowhere`), index: 'Not An Index' },
    ]
    for (const options of [undefined, { wantsVersions: true }] as const) {
      const prefix = `versions-${options !== undefined}`
      const here = await store.bulk(operations(`${prefix}-a`), options)
      const there = await embedded.store.bulk(operations(`${prefix}-b`), options)
      const alike = (outcomes: unknown) => JSON.parse(JSON.stringify(outcomes).replaceAll(`${prefix}-a`, '').replaceAll(`${prefix}-b`, ''))
      expect(alike(here)).to.deep.equal(alike(there))
      expect(here.map(({ status }) => status)).to.include.members(['done', 'exists', 'refused'])
    }
  })

  it('keep their documents apart, however many are under way', async () => {
    const batches = Array.from({ length: 12 }, (_, batch) =>
      Array.from({ length: 60 }, (_, i) => create(`${batch}-${i}`, { n: batch * 60 + i, text: `${batch}/${i} `.repeat(batch * 40) })),
    )
    const outcomes = await Promise.all(batches.map(batch => store.bulk(batch)))
    expect(outcomes.flat().every(({ status }) => status === 'done')).to.equal(true)
    expect((await found()).map(({ source }) => source)).to.deep.equal(
      batches.flat().map(({ body }) => JSON.parse(Buffer.from(body as Uint8Array).toString())),
    )
  })

  it('that are packed end as those that are not, and give their memory back', async () => {
    const operations = (prefix: string) => [create(`${prefix}-a`), create(`${prefix}-a`), create(`${prefix}-conflict`, { n: 'no number' })]
    const pack = (some: readonly BulkOperation[]) => packBulk(some, size => Buffer.allocUnsafeSlow(size))
    await store.bulk([create('first', { n: 1 })])
    const { outcomes, bytes } = await store.bulkPacked!(pack(operations('packed')))
    expect(outcomes).to.deep.equal(JSON.parse(JSON.stringify(await store.bulk(operations('plain'))).replaceAll('plain', 'packed')))
    expect((outcomes as readonly BulkOutcome[]).map(({ status }) => status)).to.deep.equal(['done', 'exists', 'refused'])
    expect(bytes.byteLength).to.be.above(0)
    expect((await store.bulkPacked!(pack([create('b'), create('c')]))).outcomes).to.equal('created')
  })

  it('fail as of a store that is away when it ends under them, and go over HTTP after', async () => {
    const channel = new MessageChannel()
    const cut = withBulkPort(embedded.store, channel.port2)
    const failure = cut.bulk([create('lost')]).catch((error: unknown) => error)
    channel.port1.close()
    expect(await failure).to.be.instanceOf(SearchStoreUnavailable)
    expect(cut.bulkPacked).to.equal(undefined)
    expect(await cut.bulk([create('kept')])).to.deep.equal([{ status: 'done', created: true }])
  })

  it('go over HTTP once the store was started again', async () => {
    await store.bulk([create('before', { n: 1 })])
    await embedded.restart(() => undefined)
    await sleep(50)
    await store.bulk([create('after', { n: 2 })])
    expect((await found()).map(({ id }) => id)).to.deep.equal(['before', 'after'])
  })
})
