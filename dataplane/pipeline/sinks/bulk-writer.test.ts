import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Clock } from '../../ports/clock.ts'
import { type BulkOperation, type BulkOutcome, type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { createBulkSize } from './bulk-size.ts'
import { writeBulk } from './bulk-writer.ts'

const clock: Clock = { nowMs: () => 0, sleep: async () => {} }
const signal = new AbortController().signal

function create(id: string): BulkOperation {
  return { action: 'create', index: 'i', id, body: '{}' }
}

const update = (id: string): BulkOperation => ({ action: 'update', index: 'i', id, body: '{}', upsert: '{}' })

const fold = (operation: BulkOperation): BulkOperation => ({ ...operation, body: '{"folded":true}' })

const TOO_MUCH: BulkOutcome = { status: 'retry', reason: '429', isTooMuch: true }

/** A store that answers each bulk by `answer`; records what it was sent. */
function storeWith(answer: (operation: BulkOperation, call: number) => BulkOutcome) {
  const calls: (readonly BulkOperation[])[] = []
  const store = {
    async bulk(operations: readonly BulkOperation[]) {
      calls.push(operations)
      return operations.map(operation => answer(operation, calls.length))
    },
  } as unknown as SearchStore
  return { store, calls }
}

describe('writing documents', () => {
  it('counts "already exists" as success, and only new documents as created', async () => {
    const { store } = storeWith(({ id }) => (id === 'old' ? { status: 'exists' } : { status: 'done', created: true }))
    expect(await writeBulk([create('old'), create('new')], { store, clock, signal })).to.deep.equal({ created: 1, errors: 0, refused: [] })
  })

  it('counts what a request that was made already has brought, also when it is told to stop meanwhile', async () => {
    const stopped = AbortSignal.abort()
    const { store, calls } = storeWith(() => ({ status: 'done', created: true }))
    const progress: unknown[] = []
    const first: readonly BulkOutcome[] = [{ status: 'done', created: true }, TOO_MUCH]
    const deps = { store, clock, signal: stopped, onProgress: (each: unknown) => progress.push(each) }
    const failed = await writeBulk([create('a'), create('b')], deps, first).catch((error: Error) => error)
    expect(failed).to.include({ name: 'BulkUnfinished', message: '1 documents not written: 429' })
    expect(progress).to.deep.equal([{ created: 1, errors: 1 }])
    expect(await writeBulk([create('a')], deps, [{ status: 'exists' }])).to.deep.equal({ created: 0, errors: 0, refused: [] })
    expect(calls).to.deep.equal([])
  })

  it('retries what the store cannot take now, and nothing else', async () => {
    const { store, calls } = storeWith(({ id }, call) =>
      id === 'slow' && call < 3 ? { status: 'retry', reason: '429' } : { status: 'done', created: true },
    )
    expect(await writeBulk([create('a'), create('slow')], { store, clock, signal })).to.deep.equal({ created: 2, errors: 2, refused: [] })
    expect(calls.map(call => call.map(({ id }) => id))).to.deep.equal([['a', 'slow'], ['slow'], ['slow']])
  })

  it('folds the custom attributes of a refused document, and gives up only when that is refused too', async () => {
    const { store } = storeWith(({ id, body }) =>
      id === 'bad' || body === '{}' ? { status: 'refused', reason: 'mapping' } : { status: 'done', created: true },
    )
    const result = await writeBulk([create('good'), create('bad')], { store, clock, signal, fold })
    expect(result.created).to.equal(1)
    expect(result.refused).to.deep.equal([{ item: 1, reason: 'mapping', hasNoRoom: false }])
    expect((await writeBulk([create('plain')], { store, clock, signal })).refused).to.deep.equal([
      { item: 0, reason: 'mapping', hasNoRoom: false },
    ])
  })

  it('gives up with an error when the store stays away', async () => {
    const store = {
      bulk: async () => {
        throw new SearchStoreUnavailable('connection refused')
      },
    } as unknown as SearchStore
    const error = await writeBulk([create('a')], { store, clock, signal }).catch((reason: Error) => reason)
    expect(error).to.be.instanceOf(SearchStoreUnavailable)
    expect((error as Error).message).to.contain('connection refused')
  })

  it('sends less at a time while the store says that it is too much, and more again as it goes well', async () => {
    const most = 64 * 1024
    const size = createBulkSize(most)
    const big = (id: string): BulkOperation => ({ ...create(id), body: 'x'.repeat(4 * 1024) })
    const sizes: number[] = []
    const store = {
      async bulk(operations: readonly BulkOperation[]) {
        sizes.push(operations.length)
        return operations.map((): BulkOutcome => (operations.length > 5 ? TOO_MUCH : { status: 'done', created: true }))
      },
    } as unknown as SearchStore
    const operations = Array.from({ length: 20 }, (_, i) => big(String(i)))
    expect((await writeBulk(operations, { store, clock, signal, size })).created).to.equal(20)
    expect(sizes).to.deep.equal([16, 8, 4, 4, 4, 4, 4])
    expect(size.bytes).to.be.below(most / 2)
    for (let i = 0; i < 20; i++) await writeBulk([create('a')], { store, clock, signal, size })
    expect(size.bytes).to.equal(most)
  })

  for (const form of ['each item', 'the request'])
    it(`goes on in large requests while the store refuses every second one as busy, whatever its size (${form} is answered 429)`, async () => {
      const size = createBulkSize()
      const sizes: number[] = []
      const store = {
        async bulk(operations: readonly BulkOperation[]) {
          sizes.push(operations.length)
          const isRefused = sizes.length % 2 === 1
          if (isRefused && form === 'the request') throw new SearchStoreUnavailable('429', { isBusy: true })
          return operations.map((): BulkOutcome => (isRefused ? { ...TOO_MUCH, isBusy: true } : { status: 'done', created: true }))
        },
      } as unknown as SearchStore
      const operations = Array.from({ length: 20_000 }, (_, i) => ({ ...create(String(i)), body: 'x'.repeat(4 * 1024) }))
      expect((await writeBulk(operations, { store, clock, signal, size })).created).to.equal(20_000)
      expect(sizes.length).to.be.below(600)
      expect(size.bytes).to.be.at.least(512 * 1024)
    })

  it('a document that is there by a request without an answer counts as created, once', async () => {
    let calls = 0
    const store = {
      async bulk() {
        if (calls++ === 0) throw new SearchStoreUnavailable('cut off')
        return [
          { status: 'exists' },
          { status: 'done', created: true },
          { status: 'done', created: false, version: 1 },
          { status: 'done', created: false, version: 2 },
        ]
      },
    } as unknown as SearchStore
    const progress: object[] = []
    const result = await writeBulk([create('a'), create('b'), update('c'), update('d')], {
      store,
      clock,
      signal,
      onProgress: step => progress.push(step),
    })
    expect(result).to.deep.equal({ created: 3, errors: 4, refused: [] })
    expect(progress).to.deep.equal([
      { created: 0, errors: 4 },
      { created: 3, errors: 0 },
    ])
  })
})
