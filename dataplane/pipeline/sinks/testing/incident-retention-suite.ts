/** Retention of resolved incidents, whichever search store holds them. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ALL_AUDIT, ALL_INCIDENTS, auditIndex, incidentsIndex } from '../../../contract/indices.ts'
import { auditEntryId, buildAuditEntry } from '../../../domain/incidents/audit-entry.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { buildIncident, storeIncidents } from '../../../testing/incident-fixture.ts'
import { writeAuditEntry } from '../incidents/audit-trail.ts'
import { deleteOldIncidents } from '../retention/incident-retention.ts'
import { ago, clock, type OpenStore, signal, withStore } from './retention-store.ts'

/** `open` gives a store without incidents and audit entries. */
export function describeIncidentRetention(name: string, open: OpenStore): void {
  describe(`retention of incidents in ${name}`, function () {
    this.timeout(60_000)
    const resolved = (id: string, days: number, more: Partial<Incident> = {}): Partial<Incident> => ({
      id,
      tenantId: 'shop',
      status: 'resolved',
      createdAt: ago(days + 1),
      updatedAt: ago(days),
      resolvedAt: ago(days),
      ...more,
    })
    const left = async (store: SearchStore) => {
      await store.refresh(`${ALL_INCIDENTS},${ALL_AUDIT}`)
      const read = async (index: string, field: string) => {
        const { hits } = await store.search<Record<string, string>>({ index, body: { size: 2_000 } })
        return hits.map(({ source }) => source[field]!).sort()
      }
      return { incidents: await read(ALL_INCIDENTS, 'id'), audit: await read(ALL_AUDIT, 'incident_id') }
    }

    it('deletes those that were resolved longer ago, with their audit entries, of each tenant; what is open or was touched since stays', () =>
      withStore(open, async store => {
        const incidents = [
          resolved('old', 366),
          resolved('old-of-bank', 366, { tenantId: 'bank' }),
          resolved('young', 364),
          resolved('said-since', 400, { updatedAt: ago(3) }),
          { ...resolved('reopened', 400), status: 'acknowledged' as const },
          { id: 'never-resolved', tenantId: 'shop', status: 'open' as const, createdAt: ago(900), updatedAt: ago(900) },
        ]
        await storeIncidents(store, ...incidents)
        for (const { id, tenantId } of incidents)
          for (const action of ['create', 'comment'] as const)
            await writeAuditEntry(store, tenantId!, buildAuditEntry(id!, action, ago(500), 'of that time'))
        await store.refresh(`${ALL_INCIDENTS},${ALL_AUDIT}`)
        const result = await deleteOldIncidents({ store, clock, signal }, 365)
        expect(result).to.deep.equal({ deleted: 2, isUnfinished: false, failed: [] })
        const kept = ['never-resolved', 'reopened', 'said-since', 'young']
        expect(await left(store)).to.deep.equal({ incidents: kept, audit: kept.flatMap(id => [id, id]) })
      }))

    it('goes in portions', () =>
      withStore(open, async store => {
        const ids = Array.from({ length: 700 }, (_, i) => `i${String(i).padStart(3, '0')}`)
        const incidents = ids.map((id, i) => buildIncident(resolved(id, i < 600 ? 400 : 1)))
        const entries = ids
          .slice(0, 2)
          .flatMap(id => Array.from({ length: 600 }, (_, i) => buildAuditEntry(id, 'comment', ago(400), `comment ${i}`)))
        await store.bulk([
          ...incidents.map(each => ({ action: 'create' as const, index: incidentsIndex('shop'), id: each.id, body: JSON.stringify(each) })),
          ...entries.map(each => ({
            action: 'create' as const,
            index: auditIndex('shop'),
            id: auditEntryId(each),
            body: JSON.stringify(each),
          })),
        ])
        await store.refresh(`${ALL_INCIDENTS},${ALL_AUDIT}`)
        expect((await deleteOldIncidents({ store, clock, signal }, 365)).deleted).to.equal(600)
        expect(await left(store)).to.deep.equal({ incidents: ids.slice(600), audit: [] })
      }))
  })
}
