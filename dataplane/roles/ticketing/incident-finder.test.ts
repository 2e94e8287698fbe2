import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { locateIncidents } from './incident-finder.ts'
import { INCIDENT_FILTERS, listIncidents } from './incident-list.ts'
import { findTicketed } from './webhooks/find-ticketed.ts'

/** A store in which the index of one of two tenants cannot be read. */
const halfAway = async () => {
  const store = createMemorySearchStore()
  for (const tenant of ['shop', 'bank']) {
    const incident = { id: `of-${tenant}`, tenantId: tenant, createdAt: '2026-11-21T12:00:00.000Z', evidence: [], affectedServices: [] }
    await store.put(`service-incidents-${tenant}`, incident.id, incident)
    const thread = { tenantId: tenant, incidentId: incident.id, platform: 'jira', ticketKey: `OPS-${tenant}` }
    await store.put(`service-dispatches-${tenant}`, incident.id, thread)
  }
  store.red.add('service-incidents-bank').add('service-dispatches-bank')
  return store
}
const failureOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)

describe('while a part of the incidents cannot be read', () => {
  it('one that is found is found, and none is said to be unknown', async () => {
    const store = await halfAway()
    expect((await locateIncidents(store, ['of-shop', 'of-shop'], undefined))('of-shop').kind).to.equal('found')
    expect(await failureOf(locateIncidents(store, ['of-shop', 'of-bank'], undefined))).to.be.instanceOf(SearchStoreUnavailable)
  })

  it("a tenant whose own incidents can be read learns nothing of others'", async () => {
    const placeOf = await locateIncidents(await halfAway(), ['of-shop', 'of-bank'], 'shop')
    expect([placeOf('of-shop').kind, placeOf('of-bank').kind]).to.deep.equal(['found', 'unknown'])
  })

  it('the list shows the others, and says that some are missing', async () => {
    const { incidents, missing } = await listIncidents(await halfAway(), INCIDENT_FILTERS.parse({}), undefined)
    expect(incidents.map(({ id }) => id)).to.deep.equal(['of-shop'])
    expect(missing).to.deep.equal({ shards: 1, of: 2 })
  })

  it('a ticket that is not found may be one of them', async () => {
    const store = await halfAway()
    const find = (name: string) => findTicketed(store, { target: 'jira', names: [name], isPossible: async () => true })
    expect(await find('OPS-shop')).to.deep.include({ incidentId: 'of-shop' })
    expect(await failureOf(find('OPS-bank'))).to.be.instanceOf(SearchStoreUnavailable)
  })
})
