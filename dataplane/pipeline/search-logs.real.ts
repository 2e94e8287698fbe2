import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createSearchStore } from '../adapters/search/search-store.ts'
import { formatDay } from '../domain/records/timestamp.ts'
import { type SearchStore, SearchStoreUnavailable } from '../ports/search-store.ts'
import { backendAddress } from '../testing/real/address.ts'
import { searchLogs } from './search-logs.ts'

export const needs = ['opensearch']

const DAY_MS = 86_400_000
/** Days that no other suite has logs of. */
const [READ_MS, AWAY_MS] = [Date.UTC(2019, 4, 1), Date.UTC(2019, 4, 2)]
const indexOf = (ms: number) => `service-logs-${formatDay(ms)}`

describe('an OpenSearch with an index whose primary shard is unassigned', function () {
  this.timeout(30_000)
  const endpoint = backendAddress('opensearch')
  const tenant = `away-${randomUUID().slice(0, 8)}`
  let store: SearchStore
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${endpoint}/${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    return (await answer.json()) as unknown
  }
  const clear = () => ask('DELETE', `${indexOf(READ_MS)},${indexOf(AWAY_MS)}?ignore_unavailable=true`)
  const failureOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)

  before(async () => {
    store = createSearchStore({ endpoint })
    await clear()
    const settings = { 'index.routing.allocation.require._name': 'no such node' }
    await ask('PUT', `${indexOf(AWAY_MS)}?wait_for_active_shards=0&timeout=1s`, { settings })
    await store.put(indexOf(READ_MS), tenant, { timestamp: new Date(READ_MS).toISOString(), tenant_id: tenant })
    await store.refresh(indexOf(READ_MS))
  })
  after(async () => {
    await clear()
    await store.close()
  })

  const query = { term: { _id: tenant } }

  it('answers without it, and the answer is not taken for the whole', async () => {
    const request = { index: `${indexOf(READ_MS)},${indexOf(AWAY_MS)}`, body: { query } }
    expect(await failureOf(store.search(request))).to.be.instanceOf(SearchStoreUnavailable)
    const { hits, missing } = await store.search({ ...request, takesPart: true })
    expect(hits.map(({ id }) => id)).to.deep.equal([tenant])
    expect(missing?.shards).to.be.greaterThan(0)
  })

  it('tells of the logs of other days', async () => {
    const { hits } = await searchLogs(store, { body: { query }, fromMs: READ_MS, toMs: READ_MS + DAY_MS - 1 })
    expect(hits.map(({ id }) => id)).to.deep.equal([tenant])
    const error = await failureOf(searchLogs(store, { body: { query }, fromMs: READ_MS, toMs: AWAY_MS }))
    expect(error).to.be.instanceOf(SearchStoreUnavailable)
    expect((error as Error).message).to.contain(indexOf(AWAY_MS))
  })
})
