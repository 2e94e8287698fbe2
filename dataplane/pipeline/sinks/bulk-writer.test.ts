import { expect } from 'chai'
import { describe, it } from 'mocha'
import { RecentIds } from '../../limits/recent-ids.ts'
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
    expect(await writeBulk([create('old'), create('new')], { store, clock, signal })).to.deep.include({
      created: 1,
      errors: 0,
      refused: [],
    })
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
    expect(await writeBulk([create('a')], deps, [{ status: 'exists' }])).to.deep.include({ created: 0, errors: 0, refused: [] })
    expect(calls).to.deep.equal([])
  })

  it('says so where it was stopped before the store was asked', async () => {
    const { store, calls } = storeWith(() => ({ status: 'done', created: true }))
    const failed = await writeBulk([create('a')], { store, clock, signal: AbortSignal.abort() }).catch((error: Error) => error)
    expect(failed).to.include({ name: 'BulkUnfinished', message: '1 documents not written: the work was stopped before' })
    expect(calls).to.deep.equal([])
  })

  it('retries what the store cannot take now, and nothing else', async () => {
    const { store, calls } = storeWith(({ id }, call) =>
      id === 'slow' && call < 3 ? { status: 'retry', reason: '429' } : { status: 'done', created: true },
    )
    expect(await writeBulk([create('a'), create('slow')], { store, clock, signal })).to.deep.include({ created: 2, errors: 2, refused: [] })
    expect(calls.map(call => call.map(({ id }) => id))).to.deep.equal([['a', 'slow'], ['slow'], ['slow']])
  })

  it('tries a document again as it is whose index is not there, as while somebody deletes it; not for ever', async () => {
    const missing: BulkOutcome = { status: 'refused', reason: '404', isMissing: true }
    const deleted = storeWith((_, call) => (call < 3 ? missing : { status: 'done', created: true }))
    expect(await writeBulk([create('a')], { store: deleted.store, clock, signal, fold })).to.deep.include({ created: 1, refused: [] })
    expect(new Set(deleted.calls.flat().map(({ body }) => body))).to.deep.equal(new Set(['{}']))
    const forbidden = storeWith(() => missing)
    const { refused } = await writeBulk([create('a')], { store: forbidden.store, clock, signal, fold })
    expect(refused).to.deep.equal([{ item: 0, reason: '404', hasNoRoom: false }])
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

  it('folds a document again that is refused folded', async () => {
    const bodies: string[] = []
    const { store } = storeWith(({ body }) => {
      bodies.push(String(body))
      return String(body).length > 2 ? { status: 'refused', reason: 'mapping' } : { status: 'done', created: true }
    })
    const shorten = (operation: BulkOperation): BulkOperation => ({ ...operation, body: String(operation.body).slice(1) })
    const result = await writeBulk([{ ...create('a'), body: '1234' }], { store, clock, signal, fold: shorten })
    expect(bodies).to.deep.equal(['1234', '234', '34'])
    expect(result).to.deep.include({ created: 1, refused: [] })
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
    expect(result).to.deep.include({ created: 3, errors: 4, isMadeAtOnce: false, refused: [] })
    expect(progress).to.deep.equal([
      { created: 0, errors: 4 },
      { created: 3, errors: 0 },
    ])
  })

  describe('whose kept connection was closed', () => {
    const CLOSED = () => new SearchStoreUnavailable('socket hang up', { isOfKeptConnection: true })
    const DONE: BulkOutcome = { status: 'done', created: true }

    /** Ends its bulks one after the other as told; records ids and whether versions were asked for. */
    function storeThat(...ends: readonly (readonly BulkOutcome[] | SearchStoreUnavailable)[]) {
      const calls: { readonly ids: string; readonly wantsVersions: boolean }[] = []
      let pauses = 0
      const store = {
        async bulk(operations: readonly BulkOperation[], { wantsVersions = false } = {}) {
          const end = ends[calls.length]!
          calls.push({ ids: operations.map(({ id }) => id).join(''), wantsVersions })
          if (end instanceof Error) throw end
          return end
        },
      } as unknown as SearchStore
      const size = createBulkSize(64 * 1024)
      const progress: object[] = []
      const onProgress = (step: object) => void progress.push(step)
      const waiting: Clock = { nowMs: () => 0, sleep: async () => void pauses++ }
      return { deps: { store, clock: waiting, signal, size, onProgress }, calls, size, progress, pauses: () => pauses }
    }

    it('are sent again at once, as many at a time, and are no errors', async () => {
      const { deps, calls, size, progress, pauses } = storeThat(CLOSED(), [DONE, DONE], [DONE])
      const big = (id: string): BulkOperation => ({ ...create(id), body: 'x'.repeat(30 * 1024) })
      const result = await writeBulk([big('a'), big('b'), big('c')], deps)
      expect(result).to.deep.equal({ created: 3, errors: 0, isMadeAtOnce: false, refused: [] })
      expect(calls.map(({ ids }) => ids)).to.deep.equal(['ab', 'ab', 'c'])
      expect([pauses(), size.bytes]).to.deep.equal([0, 64 * 1024])
      expect(progress).to.deep.equal([
        { created: 2, errors: 0 },
        { created: 1, errors: 0 },
      ])
    })

    it('count once where the request was done, and not at all where another made them before', async () => {
      const versions: readonly BulkOutcome[] = [
        { status: 'exists' },
        { status: 'done', created: false, version: 1 },
        { status: 'done', created: false, version: 2 },
        { status: 'refused', reason: 'no' },
      ]
      const { deps, calls } = storeThat(CLOSED(), versions)
      const result = await writeBulk([create('a'), update('b'), update('c'), create('d')], deps)
      expect(result.created).to.equal(2)
      expect(result.errors).to.equal(1)
      expect(result.refused.map(({ item }) => item)).to.deep.equal([3])
      expect(calls.map(({ wantsVersions }) => wantsVersions)).to.deep.equal([false, true])
    })

    it('do not count where they only change what is there', async () => {
      const { deps } = storeThat(CLOSED(), [{ status: 'done', created: false, version: 1 }])
      const { upsert: _upsert, ...join } = update('a')
      expect((await writeBulk([join], deps)).created).to.equal(0)
    })

    it('count once though they are in doubt in two writes', async () => {
      const { deps } = storeThat(CLOSED(), [DONE], CLOSED(), [{ status: 'done', created: false, version: 1 }])
      const counted = new RecentIds(10)
      expect((await writeBulk([create('a')], { ...deps, counted })).created).to.equal(1)
      expect((await writeBulk([update('a')], { ...deps, counted })).created).to.equal(0)
    })

    it('wait as for a store that is away when the second connection fails, too', async () => {
      const { deps, calls, size, progress, pauses } = storeThat(CLOSED(), CLOSED(), [{ status: 'exists' }, DONE])
      const result = await writeBulk([create('a'), create('b')], deps)
      expect(result).to.deep.equal({ created: 2, errors: 2, isMadeAtOnce: false, refused: [] })
      expect(calls.map(({ ids }) => ids)).to.deep.equal(['ab', 'ab', 'ab'])
      expect(pauses()).to.equal(1)
      expect(size.bytes).to.be.below(64 * 1024)
      expect(progress).to.deep.equal([
        { created: 0, errors: 2 },
        { created: 2, errors: 0 },
      ])
    })

    it('are not sent again once the work is to stop', async () => {
      const stop = new AbortController()
      const { deps, calls } = storeThat(CLOSED())
      const store = {
        bulk(...args: Parameters<SearchStore['bulk']>) {
          stop.abort()
          return deps.store.bulk(...args)
        },
      } as unknown as SearchStore
      const failed = await writeBulk([create('a')], { ...deps, store, signal: stop.signal }).catch((error: Error) => error)
      expect(failed).to.include({ name: 'BulkUnfinished' })
      expect(calls).to.have.length(1)
    })
  })
})
