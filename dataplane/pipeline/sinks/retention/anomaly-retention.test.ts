import { expect } from 'chai'
import { describe, it } from 'mocha'
import { anomaliesIndex } from '../../../contract/indices.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { ago, clock, signal, withStore } from '../testing/retention-store.ts'
import { deleteExpiredAnomalies } from './anomaly-retention.ts'

const INDEX = anomaliesIndex('shop')

const STORES = {
  'the store in memory': async () => ({ store: createMemorySearchStore() as SearchStore, stop: async () => {} }),
  'the embedded store': startEmbeddedSearchStore,
}

for (const [name, open] of Object.entries(STORES))
  describe(`retention of anomalies in ${name}`, () => {
    const add = (store: SearchStore, id: string, timestamp: string, indexed_at?: string, index = INDEX) =>
      store.put(index, id, { id, timestamp, ...(indexed_at !== undefined && { indexed_at }) })
    const idsIn = async (store: SearchStore, index = INDEX) =>
      (await store.search({ index, body: { size: 10, sort: [{ timestamp: 'asc' }] } })).hits.map(({ id }) => id)

    it('deletes those that happened longer ago, of every tenant', () =>
      withStore(open, async store => {
        await add(store, 'old', ago(31))
        await add(store, 'young', ago(29))
        await add(store, 'other', ago(400), undefined, anomaliesIndex('other'))
        const result = await deleteExpiredAnomalies({ store, clock, signal }, 30)
        expect(result).to.deep.equal({ deleted: 2, isUnfinished: false, failed: [] })
        expect(await idsIn(store)).to.deep.equal(['young'])
        expect(await idsIn(store, anomaliesIndex('other'))).to.deep.equal([])
      }))

    it('keeps those of records that came late for as long as the others', () =>
      withStore(open, async store => {
        await add(store, 'late', ago(400), ago(29))
        await add(store, 'late-and-old', ago(400), ago(31))
        await deleteExpiredAnomalies({ store, clock, signal }, 30)
        expect(await idsIn(store)).to.deep.equal(['late'])
      }))

    it('goes in portions, also where many are of one moment', () =>
      withStore(open, async store => {
        const documents = Array.from({ length: 1_200 }, (_, i) => ({ id: `a${i}`, timestamp: ago(i < 700 ? 40 : 35) }))
        await store.bulk(documents.map(each => ({ action: 'create', index: INDEX, id: each.id, body: JSON.stringify(each) })))
        await add(store, 'young', ago(1))
        expect((await deleteExpiredAnomalies({ store, clock, signal }, 30)).deleted).to.equal(1_200)
        expect(await idsIn(store)).to.deep.equal(['young'])
      }))

    it('an index that fails keeps none of the others', () =>
      withStore(open, async store => {
        await add(store, 'old', ago(31))
        await add(store, 'kept', ago(31), undefined, anomaliesIndex('ill'))
        const ill = new Error('503')
        const failing = {
          ...store,
          search: <T>(request: Parameters<SearchStore['search']>[0]) =>
            request.index === anomaliesIndex('ill') ? Promise.reject(ill) : store.search<T>(request),
        }
        const result = await deleteExpiredAnomalies({ store: failing, clock, signal }, 30)
        expect(result).to.deep.equal({ deleted: 1, isUnfinished: false, failed: [{ name: anomaliesIndex('ill'), error: ill }] })
      }))
  })
