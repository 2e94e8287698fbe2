import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import type { DocumentDatabase } from '../storage/document-table/document-database.ts'
import type { IndexStorage } from '../storage/index-storage.ts'
import { type AliasChange, Catalog } from './catalog.ts'
import { STRICT } from './resolve.ts'
import type { StorageOpener } from './storage-opener.ts'

const NOTHING = { settings: {}, mappings: {}, aliases: {} }
const DAY = 'service-logs-2026.11.22'

/** The catalogue of a database in memory, with what was written into it in order. */
class Entries {
  readonly kept = new Map<string, Map<string, string>>()
  readonly written: string[] = []

  readonly database = {
    transaction: <T>(body: () => T) => body(),
    catalogue: (kind: string) => [...this.#of(kind)].map(([name, body]) => ({ name, body })),
    putEntry: (kind: string, name: string, body: string) => {
      this.written.push(`${kind} ${name}`)
      this.#of(kind).set(name, body)
    },
    deleteEntry: (kind: string, name: string) => void this.#of(kind).delete(name),
    deleteEntriesBelow: (kind: string, prefix: string) => {
      for (const name of this.#of(kind).keys()) if (name.startsWith(prefix)) this.#of(kind).delete(name)
    },
  } as Partial<DocumentDatabase> as DocumentDatabase

  #of(kind: string): Map<string, string> {
    const entries = this.kept.get(kind) ?? new Map<string, string>()
    this.kept.set(kind, entries)
    return entries
  }
}

const storages: StorageOpener = {
  open: async () => ({ destroy: async () => {}, close: async () => {} }) as Partial<IndexStorage> as IndexStorage,
  removeOrphans: async () => [],
  remove: async () => {},
}

const add = (alias: string, index = DAY): AliasChange => ({
  action: 'add',
  index,
  alias,
  config: { filter: { term: { tenant_id: alias } } },
})

describe('the catalogue of indices and aliases', () => {
  let entries: Entries
  let catalog: Catalog
  let nowMs: number
  const open = async () => {
    const opened = new Catalog(entries.database, storages, { ...createFakeClock(), nowMs: () => nowMs })
    await opened.load()
    return opened
  }
  const namesOf = (expression: string) => catalog.resolve(expression).map(({ index }) => index.name)

  beforeEach(async () => {
    entries = new Entries()
    nowMs = Date.UTC(2026, 10, 22)
    catalog = await open()
  })

  it('writes of a change of aliases what changes, however many aliases there are', async () => {
    await catalog.create(DAY, NOTHING)
    catalog.changeAliases(Array.from({ length: 5_000 }, (_, i) => add(`service-logs-t${i}`)))
    entries.written.length = 0
    catalog.changeAliases([add('service-logs-late')])
    expect(entries.written).to.deep.equal([`alias ${DAY}/service-logs-late`])
  })

  it('finds an alias again after a restart, and not once its index is deleted', async () => {
    await catalog.create(DAY, { ...NOTHING, aliases: { 'from-template': {} } })
    catalog.changeAliases([add('service-logs-shop')])
    catalog = await open()
    expect(namesOf('service-logs-shop')).to.deep.equal([DAY])
    expect(namesOf('from-template')).to.deep.equal([DAY])
    expect(catalog.resolve('service-logs-shop')[0]!.filter).not.to.equal(undefined)
    await catalog.delete([DAY])
    expect(catalog.isAlias('service-logs-shop')).to.equal(false)
    catalog = await open()
    expect(catalog.isAlias('service-logs-shop')).to.equal(false)
    expect(entries.kept.get('alias')!.size).to.equal(0)
  })

  it('takes over the aliases that an older store kept in the record of their index', async () => {
    const record = { uuid: 'u', createdAtMs: 0, settings: {}, mappings: {}, aliases: { old: {}, older: {} } }
    entries.database.putEntry('index', DAY, JSON.stringify(record))
    for (let start = 0; start < 2; start++) {
      catalog = await open()
      expect([...catalog.find(DAY)!.aliases.keys()]).to.deep.equal(['old', 'older'])
      expect(namesOf('old')).to.deep.equal([DAY])
    }
  })

  it('resolves an expression anew after each change of a name', async () => {
    await catalog.create(DAY, NOTHING)
    expect(namesOf('service-*')).to.deep.equal([DAY])
    await catalog.create('service-anomalies-shop', NOTHING)
    expect(namesOf('service-*')).to.deep.equal(['service-anomalies-shop', DAY])
    expect(() => namesOf('service-logs-shop')).to.throw('no such index')
    catalog.changeAliases([add('service-logs-shop')])
    expect(namesOf('service-logs-shop')).to.deep.equal([DAY])
    expect(namesOf('*-shop')).to.deep.equal(['service-anomalies-shop', DAY])
    expect(namesOf('*,-service-logs*')).to.deep.equal(['service-anomalies-shop'])
    catalog.changeAliases([{ ...add('service-logs-shop'), action: 'remove' }])
    expect(() => namesOf('service-logs-shop')).to.throw('no such index')
    await catalog.delete(['service-anomalies-shop'])
    expect(namesOf('service-*')).to.deep.equal([DAY])
  })

  describe('a data stream', () => {
    const STREAM = 'logs-app'
    const putTemplate = () =>
      catalog.templates.put('template', 'logs', { patterns: ['logs-*'], timestampField: '@timestamp', ...NOTHING, priority: 0 })

    it('has its indices in their order also where the clock was put back', async () => {
      putTemplate()
      await catalog.createStream(STREAM)
      nowMs -= 60_000
      await catalog.rollOverStream(STREAM)
      const indices = ['.ds-logs-app-000001', '.ds-logs-app-000002']
      expect(catalog.stream(STREAM)!.indices).to.deep.equal(indices)
      catalog = await open()
      expect(catalog.stream(STREAM)!.indices).to.deep.equal(indices)
    })

    it('is deleted with the index that is being made meanwhile', async () => {
      putTemplate()
      await catalog.createStream(STREAM)
      const rolledOver = catalog.rollOverStream(STREAM)
      await Promise.all([rolledOver, catalog.deleteStreams([STREAM])])
      expect(catalog.streams).to.deep.equal([])
      expect(catalog.indices).to.deep.equal([])
      catalog = await open()
      expect(catalog.streams).to.deep.equal([])
    })
  })

  it('is full at 10,000 indices, as OpenSearch says it, and still takes the daily indices of logs', async () => {
    for (let i = 0; i < 10_000; i++) await catalog.create(`service-anomalies-t${i}`, NOTHING)
    const refused = await catalog.create('service-anomalies-late', NOTHING).then(
      () => undefined,
      (error: { type: string; status: number; message: string }) => error,
    )
    expect(refused).to.include({ type: 'validation_exception', status: 400 })
    expect(refused!.message).to.contain('[10000]/[10000] maximum shards open')
    expect((await catalog.create(DAY, NOTHING)).name).to.equal(DAY)
  })
})

describe('index expressions', () => {
  const opened = async (...names: string[]): Promise<Catalog> => {
    const catalog = new Catalog(new Entries().database, storages, createFakeClock(Date.parse('2026-11-23T10:00:00Z')))
    for (const name of names) await catalog.create(name, NOTHING)
    return catalog
  }
  const namesOf = (catalog: Catalog, expression: string, options = {}): readonly string[] =>
    catalog.resolve(expression, { ...STRICT, ...options }).map(({ index }) => index.name)

  it('leave out a closed index unless it is asked for, and refuse one that is named', async () => {
    const catalog = await opened('a1', 'a2')
    catalog.setClosed(['a2'], true)
    expect(namesOf(catalog, 'a*')).to.deep.equal(['a1'])
    expect(namesOf(catalog, 'a*', { expand: { open: false, closed: true, hidden: false }, allowClosed: true })).to.deep.equal(['a2'])
    expect(() => namesOf(catalog, 'a1,a2')).to.throw('closed')
    expect(namesOf(catalog, 'a1,a2', { ignoreUnavailable: true })).to.deep.equal(['a1'])
    catalog.setClosed(['a2'], false)
    expect(namesOf(catalog, 'a*')).to.deep.equal(['a1', 'a2'])
  })

  it('leave out a hidden index unless it is named, asked for, or its dot is', async () => {
    const catalog = await opened('a')
    await catalog.create('.h', { ...NOTHING, settings: { 'index.hidden': 'true' } })
    expect(namesOf(catalog, '*')).to.deep.equal(['a'])
    expect(namesOf(catalog, '.h')).to.deep.equal(['.h'])
    expect(namesOf(catalog, '.*')).to.deep.equal(['.h'])
    expect(namesOf(catalog, '*', { expand: { open: true, closed: false, hidden: true } })).to.deep.equal(['.h', 'a'])
  })

  it('take away an index for good, also where an alias leads to it', async () => {
    const catalog = await opened('d', 'e')
    catalog.changeAliases([{ action: 'add', index: 'd', alias: 'dx', config: {} }])
    expect(namesOf(catalog, 'd*,-d')).to.deep.equal([])
    expect(namesOf(catalog, 'd*,-d,dx')).to.deep.equal(['d'])
    expect(namesOf(catalog, '*,-d*')).to.deep.equal(['e'])
  })

  it('name the index of the day', async () => {
    const catalog = await opened('<logs-{now/d}>')
    expect(catalog.indices.map(({ name }) => name)).to.deep.equal(['logs-2026.11.23'])
    expect(namesOf(catalog, '<logs-{now/M{yyyy.MM.dd|UTC}}>,<logs-{now/d}>', { ignoreUnavailable: true })).to.deep.equal([
      'logs-2026.11.23',
    ])
  })
})
