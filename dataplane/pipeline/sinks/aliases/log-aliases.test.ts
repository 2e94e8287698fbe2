import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { SearchStoreRefusal, SearchStoreUnavailable } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createLogAliases, type LogAliases } from './log-aliases.ts'

const DAY = 'service-logs-2026.11.21'
const NEXT_DAY = 'service-logs-2026.11.22'
const A_MINUTE = 1_000

/** Lets everything happen that waits for no clock. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise(resolve => setImmediate(resolve))
}

describe('a filtered alias service-logs-{tenant} per tenant', () => {
  let store: MemorySearchStore
  let clock: FakeClock
  let aliases: LogAliases
  let stopping: AbortController
  let delayed: number
  /** Tenants of each request, in order. */
  let requests: string[][]

  const open = () =>
    createLogAliases({
      store: {
        ...store,
        listAliases: (index, name) => store.listAliases(index, name),
        async putAliases(index, added) {
          await store.putAliases(index, added)
          for (const { name, filter } of added) expect(filter).to.deep.equal({ term: { tenant_id: name.slice('service-logs-'.length) } })
          requests.push(added.map(({ name }) => name.slice('service-logs-'.length)))
        },
      },
      clock,
      log: SILENT,
      signal: stopping.signal,
      onDelayed: count => {
        delayed += count
      },
    })
  const madeFor = async (index: string) => (await store.listAliases(index)).map(name => name.slice('service-logs-'.length))

  beforeEach(() => {
    store = createMemorySearchStore()
    clock = createFakeClock()
    stopping = new AbortController()
    requests = []
    delayed = 0
    aliases = open()
  })
  afterEach(() => stopping.abort())

  it('is put on each daily index once', async () => {
    aliases.note(DAY, 'shop')
    await settle()
    aliases.note(DAY, 'shop')
    await settle()
    expect(requests).to.deep.equal([['shop']])
    expect(await madeFor(DAY)).to.deep.equal(['shop'])
  })

  it('is made beside the way of records: who notes a tenant waits for nothing, however slow the store is', () => {
    store.putAliases = () => new Promise(() => {})
    expect(aliases.note(DAY, 'shop')).to.equal(undefined)
  })

  it('is made in batches', async () => {
    for (let i = 0; i < 600; i++) aliases.note(DAY, `t${i}`)
    await settle()
    expect(requests.map(({ length }) => length)).to.deep.equal([250, 250, 100])
  })

  it('waits beyond the limit of new tenants a minute, is counted, and comes in the minutes after', async () => {
    for (let i = 0; i < A_MINUTE + 300; i++) aliases.note(DAY, `t${i}`)
    await settle()
    expect((await madeFor(DAY)).length).to.equal(A_MINUTE)
    expect(delayed).to.equal(300)
    clock.advance(60_000)
    await settle()
    expect((await madeFor(DAY)).length).to.equal(A_MINUTE + 300)
    expect(delayed).to.equal(300)
  })

  it('does not wait for a known tenant, on a new day or after a restart, whoever else is new', async () => {
    for (let i = 0; i < A_MINUTE; i++) aliases.note(DAY, `t${i}`)
    await settle()
    await store.put(DAY, '1', { tenant_id: 't0' })
    for (let i = 0; i < 2_000; i++) aliases.note(NEXT_DAY, `new${i}`)
    for (let i = 0; i < A_MINUTE; i++) aliases.note(NEXT_DAY, `t${i}`)
    await settle()
    const known = Array.from({ length: A_MINUTE }, (_, i) => `t${i}`)
    expect(await madeFor(NEXT_DAY)).to.have.members(known)
    requests = []
    aliases = open()
    aliases.note(NEXT_DAY, 't5')
    await settle()
    expect(requests).to.deep.equal([])
  })

  it('comes back within half a minute when somebody deletes the index and logs make it anew', async () => {
    aliases.note(DAY, 'shop')
    await settle()
    store.listAliases = async () => []
    clock.advance(29_999)
    aliases.note(DAY, 'shop')
    await settle()
    expect(requests.length).to.equal(1)
    clock.advance(1)
    aliases.note(DAY, 'shop')
    await settle()
    expect(requests).to.deep.equal([['shop'], ['shop']])
  })

  it('comes back though no more logs follow those that made the index anew', async () => {
    aliases.note(DAY, 'shop')
    await settle()
    store.listAliases = async () => []
    clock.advance(10_000)
    aliases.note(DAY, 'shop')
    await settle()
    expect(requests.length).to.equal(1)
    clock.advance(20_000)
    await settle()
    expect(requests).to.deep.equal([['shop'], ['shop']])
  })

  it('is tried again after a failure', async () => {
    const { putAliases } = store
    store.putAliases = () => Promise.reject(new SearchStoreUnavailable('away'))
    aliases.note(DAY, 'shop')
    await settle()
    store.putAliases = putAliases
    clock.advance(30_000)
    await settle()
    expect(await madeFor(DAY)).to.deep.equal(['shop'])
  })

  it('comes for tenants that a crash came between, from the records of the newest days', async () => {
    for (const tenant of ['shop', 'lost']) await store.put(DAY, tenant, { tenant_id: tenant })
    await store.putAliases(DAY, [{ name: 'service-logs-shop', filter: {} }])
    aliases.start()
    await settle()
    expect(requests).to.deep.equal([['lost']])
  })

  it('is made for none that another writer names, whatever that is: the store would refuse all with it', async () => {
    for (const tenant of ['shop', '*', '../x', 'BAD', '']) await store.put(DAY, `of ${tenant}`, { tenant_id: tenant })
    aliases.start()
    await settle()
    expect(requests).to.deep.equal([['shop']])
  })

  it('is made although the store refuses that of another tenant, whose name an index has', async () => {
    const put = store.putAliases
    let refusals = 0
    store.putAliases = async (index, added) => {
      if (!added.some(({ name }) => name.endsWith('-taken'))) return put(index, added)
      refusals++
      throw new SearchStoreRefusal(400, 'an index exists with the same name as the alias')
    }
    for (const tenant of ['a', 'b', 'taken', 'c', 'd']) aliases.note(DAY, tenant)
    await settle()
    expect((await madeFor(DAY)).toSorted()).to.deep.equal(['a', 'b', 'c', 'd'])
    const before = refusals
    for (const tenant of ['taken', 'e', 'taken']) aliases.note(DAY, tenant)
    await settle()
    expect(await madeFor(DAY)).to.include('e')
    expect(refusals).to.equal(before)
  })
})
