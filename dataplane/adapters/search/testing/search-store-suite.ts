/** The contract of every search store behind the port; run for the fake, the embedded store and, where there is one, OpenSearch. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type BulkOperation, type SearchStore, type Version, VersionConflict } from '../../../ports/search-store.ts'
import { skipBecause } from '../../../testing/skip-because.ts'

export interface StoreUnderTest {
  readonly store: SearchStore
  stop(): Promise<void>
}

export interface ContractConfig {
  /** False for a store without mappings, which takes any document. */
  readonly hasMappings: boolean
}

const TEMPLATE = {
  index_patterns: ['service-contract-*'],
  template: {
    mappings: {
      properties: {
        id: { type: 'keyword' },
        createdAt: { type: 'date' },
        status: { type: 'keyword' },
        count: { type: 'long' },
        history: { type: 'object', enabled: false },
      },
    },
  },
}

export function describeSearchStore(name: string, open: () => Promise<StoreUnderTest>, { hasMappings }: ContractConfig): void {
  describe(`SearchStore contract: ${name}`, () => {
    let store: SearchStore
    let underTest: StoreUnderTest
    const index = `service-contract-${process.pid}`
    before(async function () {
      this.timeout(20_000)
      underTest = await open()
      store = underTest.store
      await store.putIndexTemplate('service-contract', TEMPLATE)
    })
    after(async () => {
      for (const found of await store.listIndices('service-contract-*')) await store.deleteIndex(found)
      await underTest.stop()
    })

    const rejection = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: Error) => error)
    const create = (id: string, body: object, on = index): BulkOperation => ({
      action: 'create',
      index: on,
      id,
      body: JSON.stringify(body),
    })
    const ids = async (body: Record<string, unknown>, on = index) => (await store.search({ index: on, body })).hits.map(({ id }) => id)

    it('what is missing is empty, not an error', async () => {
      expect(await store.get('service-contract-none', 'x')).to.equal(undefined)
      expect(await ids({ query: { ids: { values: ['x'] } } }, 'service-contract-none*')).to.deep.equal([])
      expect(await ids({ query: { match_all: {} } }, 'service-contract-none')).to.deep.equal([])
      await store.refresh('service-contract-none')
      await store.deleteIndex('service-contract-none')
      expect(await store.listIndices('service-contract-none*')).to.deep.equal([])
    })

    it('putMapping adds fields to indices that are there, and says when one has such a field otherwise', async function () {
      if (!hasMappings) this.skip()
      const mapped = `${index}-mapped`
      const fields = { rule_score: { type: 'float' } }
      await store.put(mapped, 'x', { id: 'x' })
      expect(await store.putMapping(`${index}-map*`, fields)).to.equal(true)
      expect(await store.putMapping(mapped, { rule_score: { type: 'keyword' } })).to.equal(false)
      await store.put(mapped, 'whole', { id: 'whole', rule_score: 1 })
      await store.put(mapped, 'part', { id: 'part', rule_score: 0.55 })
      await store.refresh(mapped)
      expect(await ids({ query: { range: { rule_score: { gt: 0.5, lt: 0.6 } } } }, mapped)).to.deep.equal(['part'])
    })

    it('a document is there at once for get, and after a refresh for searches', async () => {
      const version = await store.put(index, 'a/b ü', { id: 'a/b ü', history: { any: ['thing', 1] } })
      expect(await store.get(index, 'a/b ü')).to.deep.equal({
        index,
        id: 'a/b ü',
        ...version,
        source: { id: 'a/b ü', history: { any: ['thing', 1] } },
      })
      await store.refresh(index)
      const { hits } = await store.search({ index, body: { query: { ids: { values: ['a/b ü'] } } } })
      expect(hits).to.have.length(1)
      expect(hits[0]).to.include({ index, id: 'a/b ü', ...version })
    })

    it('getMany answers those that are there, whole or in part, refreshed or not', async () => {
      const on = `${index}-many`
      const version = await store.put(on, '1', { id: '1', count: 1, status: 'open' })
      await store.put(on, '2', { id: '2' })
      const found = await store.getMany(on, ['1', '9'], ['count', 'status'])
      expect([...found]).to.deep.equal([['1', { index: on, id: '1', ...version, source: { count: 1, status: 'open' } }]])
      expect([...(await store.getMany(on, ['2', '1'])).keys()]).to.have.members(['1', '2'])
      expect((await store.getMany('service-contract-none', ['1'])).size).to.equal(0)
    })

    it('only: new takes an id once', async () => {
      await store.put(index, 'once', { id: 'once' }, { only: 'new' })
      expect(await rejection(store.put(index, 'once', { id: 'twice' }, { only: 'new' }))).to.be.instanceOf(VersionConflict)
    })

    it('of 20 writes on one version exactly one wins', async () => {
      const version = await store.put(index, 'contested', { count: 0 })
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, count) => store.put(index, 'contested', { count }, version).catch((error: unknown) => error)),
      )
      expect(results.filter(result => result instanceof VersionConflict)).to.have.length(19)
    })

    it('puts that come together end as each would alone, those of one document in their order', async () => {
      const on = `${index}-together`
      const first = await store.put(on, 'old', { id: 'old', count: 1 })
      const ends = await Promise.all(
        [
          store.put(on, 'old', { id: 'old', count: 2 }, first),
          store.put(on, 'new/ü', { id: 'new/ü' }, { only: 'new' }),
          store.put(on, 'old', { id: 'old', count: 3 }, first),
          store.put(on, 'old', { id: 'old', count: 4 }, { only: 'new' }),
          store.put(on, 'any', { id: 'any' }),
        ].map(end => end.catch((error: unknown) => error)),
      )
      expect(ends.map(end => end instanceof VersionConflict)).to.deep.equal([false, false, true, true, false])
      const stored = await store.getMany<{ readonly count?: number }>(on, ['old', 'new/ü', 'any'])
      expect(stored.get('old')!.source.count).to.equal(2)
      for (const [i, id] of [...['old', 'new/ü'].entries(), [4, 'any'] as const]) expect(stored.get(id)).to.include(ends[i] as object)
      await store.put(on, 'old', { id: 'old', count: 5 }, ends[0] as Version)
      expect((await store.get<{ readonly count: number }>(on, 'old'))!.source.count).to.equal(5)
    })

    it('bulk tells what became of each item', async () => {
      const on = `${index}-bulk`
      expect(await store.bulk([create('1', { id: '1', count: 1 }, on), create('2', { id: '2' }, on)])).to.deep.equal([
        { status: 'done', created: true },
        { status: 'done', created: true },
      ])
      const update = { action: 'update', index: on, body: '{"status":"seen"}', upsert: '{"id":"3","status":"seen"}' } as const
      expect(
        await store.bulk([
          create('1', { id: 'other' }, on),
          { action: 'index', index: on, id: '2', body: '{"id":"2b"}' },
          { ...update, id: '1' },
          { ...update, id: '3' },
        ]),
      ).to.deep.equal([
        { status: 'exists' },
        { status: 'done', created: false },
        { status: 'done', created: false },
        { status: 'done', created: true },
      ])
      expect((await store.get(on, '1'))?.source).to.deep.equal({ id: '1', count: 1, status: 'seen' })
      expect((await store.get(on, '3'))?.source).to.deep.equal({ id: '3', status: 'seen' })
    })

    it('bulk refuses what the mapping cannot take, and only that', async function () {
      if (!hasMappings) skipBecause(this, 'the store in memory has no mappings')
      const [bad, good] = await store.bulk([create('bad', { count: { no: 'number' } }), create('good', { count: 2 })])
      expect(bad!.status).to.equal('refused')
      expect((bad as { reason: string }).reason).to.match(/^400 (mapper_parsing_exception|illegal_argument_exception)/)
      expect(good!.status).to.equal('done')
    })

    it('filters, sorts and pages as the ticketing list does', async () => {
      const on = `${index}-list`
      const day = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`
      const documents = [
        { id: 'p', createdAt: day(1), status: 'open' },
        { id: 'q', createdAt: day(2), status: 'open' },
        { id: 'r', createdAt: day(2), status: 'open' },
        { id: 's', createdAt: day(3), status: 'resolved' },
      ]
      await store.bulk(documents.map(document => create(document.id, document, on)))
      await store.refresh(on)
      const sort = [{ createdAt: { order: 'desc', unmapped_type: 'date' } }, { id: { order: 'desc', unmapped_type: 'keyword' } }]
      const query = { bool: { filter: [{ term: { status: 'open' } }, { range: { createdAt: { gte: day(1), lte: day(2) } } }] } }
      const first = await store.search({ index: `${index}-list*`, body: { size: 1, track_total_hits: false, query, sort } })
      expect(first.hits.map(({ id, sort: values }) => [id, values])).to.deep.equal([['r', [Date.parse(day(2)), 'r']]])
      expect(await ids({ size: 9, query, sort, search_after: first.hits[0]!.sort }, on)).to.deep.equal(['q', 'p'])
      const { hits } = await store.search({ index: on, body: { size: 9, _source: ['status'], query: { ids: { values: ['p', 'z'] } } } })
      expect(hits.map(({ source }) => source)).to.deep.equal([{ status: 'open' }])
      expect((await store.search({ index: on, body: { size: 0, query, track_total_hits: true } })).total).to.equal(3)
    })

    it('pages over equal values in the order of writing', async () => {
      const on = `${index}-equal`
      for (const id of ['c', 'a', 'b']) await store.put(on, id, { timestamp: '2026-01-01T00:00:00.000Z' })
      await store.refresh(on)
      const sort = [{ timestamp: { order: 'asc', unmapped_type: 'date' } }, { _seq_no: { order: 'asc' } }]
      const first = await store.search({ index: on, body: { size: 1, sort } })
      expect(first.hits.map(({ id }) => id)).to.deep.equal(['c'])
      expect(await ids({ size: 9, sort, search_after: first.hits[0]!.sort }, on)).to.deep.equal(['a', 'b'])
    })

    it('lists and deletes indices, names its status', async () => {
      await store.put(`${index}-gone`, '1', {})
      expect(await store.listIndices(`${index}-g*`)).to.deep.equal([`${index}-gone`])
      const sizes = await store.indexSizes(`${index}-g*`)
      expect([...sizes.keys()]).to.deep.equal([`${index}-gone`])
      expect(sizes.get(`${index}-gone`)).to.be.greaterThan(0)
      const creations = await store.indexCreations(`${index}-g*`)
      expect(creations.get(`${index}-gone`)).to.be.within(Date.now() - 60_000, Date.now() + 60_000)
      await store.deleteIndex(`${index}-gone`)
      expect(await store.listIndices(`${index}-g*`)).to.deep.equal([])
      expect(await store.clusterStatus()).to.be.oneOf(['green', 'yellow'])
      await store.put(`${index}-healthy`, '1', {})
      expect((await store.indexHealth()).get(`${index}-healthy`)).to.include({ isRed: false })
    })

    it('says its time of day', async () => {
      expect(await store.timeMs()).to.be.within(Date.now() - 60_000, Date.now() + 60_000)
    })

    it('a filtered alias shows its part of an index', async function () {
      if (!hasMappings) skipBecause(this, 'the store in memory has no mappings')
      const on = `${index}-alias`
      await store.bulk([create('1', { status: 'mine' }, on), create('2', { status: 'yours' }, on)])
      const aliases = ['mine', 'yours'].map(status => ({ name: `contract-${status}`, filter: { term: { status } } }))
      for (let i = 0; i < 2; i++) await store.putAliases(on, aliases)
      await store.refresh(on)
      expect(await ids({ query: { match_all: {} } }, 'contract-mine')).to.deep.equal(['1'])
      expect(await ids({ query: { match_all: {} } }, 'contract-yours')).to.deep.equal(['2'])
    })

    it('lists the aliases of an index', async () => {
      const on = `${index}-aliases`
      expect(await store.listAliases(on)).to.deep.equal([])
      await store.put(on, '1', {})
      expect(await store.listAliases(on)).to.deep.equal([])
      const names = Array.from({ length: 500 }, (_, i) => `contract-alias-${i}`)
      await store.putAliases(
        on,
        names.map(name => ({ name, filter: { term: { status: name } } })),
      )
      await store.putAliases(on, [])
      expect(await store.listAliases(on)).to.have.members(names)
      expect(await store.listAliases(on, 'contract-alias-7')).to.deep.equal(['contract-alias-7'])
      expect(await store.listAliases(on, 'contract-alias-none')).to.deep.equal([])
    })

    it('deletes what matches a query, as many as it is told', async () => {
      const on = `${index}-by-query`
      const query = { range: { createdAt: { lt: '2026-02-01T00:00:00.000Z' } } }
      expect(await store.deleteByQuery(on, query, 10)).to.equal(0)
      await store.bulk([1, 2, 3, 4].map(day => create(`${day}`, { createdAt: `2026-01-0${day}T00:00:00.000Z` }, on)))
      await store.bulk([create('later', { createdAt: '2026-03-01T00:00:00.000Z' }, on)])
      await store.refresh(on)
      expect(await store.deleteByQuery(on, query, 3)).to.equal(3)
      expect(await store.deleteByQuery(on, query, 3)).to.equal(1)
      expect(await ids({ query: { match_all: {} } }, on)).to.deep.equal(['later'])
    })
  })
}
