/** Retention of the outbox, whichever search store holds it. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { dispatchesIndex } from '../../../contract/indices.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { storeIncidents } from '../../../testing/incident-fixture.ts'
import { deleteFinishedThreads } from '../retention/thread-retention.ts'
import { ago, clock, type OpenStore, signal, withStore } from './retention-store.ts'

const INDEX = dispatchesIndex('shop')

/** `open` gives a store without dispatches and incidents. */
export function describeThreadRetention(name: string, open: OpenStore): void {
  describe(`retention of the outbox in ${name}`, function () {
    this.timeout(60_000)
    const thread = (store: SearchStore, incidentId: string, updatedAt: string, state = 'settled') =>
      store.put(INDEX, `${incidentId}-slack`, { tenantId: 'shop', incidentId, platform: 'slack', state, updatedAt })
    const incident = (store: SearchStore, id: string, fields: Partial<Incident>) =>
      storeIncidents(store, { id, tenantId: 'shop', ...fields })
    const left = async (store: SearchStore) => {
      await store.refresh(INDEX)
      const { hits } = await store.search({ index: INDEX, body: { size: 2_000, sort: [{ incidentId: 'asc' }] } })
      return hits.map(({ id }) => id.replace('-slack', ''))
    }

    it('deletes what is finished, of incidents that were resolved longer ago or are not there', () =>
      withStore(open, async store => {
        const resolved = { status: 'resolved', resolvedAt: ago(31) } as const
        await incident(store, 'long-resolved', resolved)
        await incident(store, 'just-resolved', { status: 'resolved', resolvedAt: ago(29) })
        await incident(store, 'still-open', { status: 'open' })
        await incident(store, 'told-late', resolved)
        await incident(store, 'row-waits', resolved)
        for (const id of ['long-resolved', 'just-resolved', 'still-open', 'no-incident']) await thread(store, id, ago(31))
        await thread(store, 'told-late', ago(29))
        await thread(store, 'row-waits', ago(31), 'pending')
        await store.refresh(INDEX)
        expect(await deleteFinishedThreads({ store, clock, signal }, 30)).to.deep.equal({ deleted: 2, failed: [] })
        expect(await left(store)).to.deep.equal(['just-resolved', 'row-waits', 'still-open', 'told-late'])
      }))

    it('goes in portions, past threads that stay', () =>
      withStore(open, async store => {
        const incidents = Array.from({ length: 700 }, (_, i) => ({
          id: `i${i}`,
          status: i < 600 ? ('open' as const) : ('resolved' as const),
          resolvedAt: ago(40),
        }))
        await storeIncidents(store, ...incidents.map(each => ({ tenantId: 'shop', ...each })))
        const threads = incidents.map(({ id }) => ({
          id: `${id}-slack`,
          body: JSON.stringify({ tenantId: 'shop', incidentId: id, platform: 'slack', state: 'settled', updatedAt: ago(40) }),
        }))
        await store.bulk(threads.map(each => ({ action: 'create', index: INDEX, ...each })))
        await store.refresh(INDEX)
        expect((await deleteFinishedThreads({ store, clock, signal }, 30)).deleted).to.equal(100)
        expect(await left(store)).to.have.length(600)
      }))
  })
}
