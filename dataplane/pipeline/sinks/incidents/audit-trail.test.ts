import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildAuditEntry } from '../../../domain/incidents/audit-entry.ts'
import { completeIncident } from '../../../domain/incidents/complete-incident.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { readAuditTrail, writeAuditEntry } from './audit-trail.ts'

/** More than a page. */
const ENTRIES = 1_010

describe('audit trail', () => {
  it('has every entry of one millisecond, in the order of writing', async () => {
    const store = createMemorySearchStore()
    const entries = Array.from({ length: ENTRIES }, (_, i) =>
      buildAuditEntry('incident-1', 'dispatch', '2026-11-27T20:00:00.000Z', `target ${ENTRIES - i}`),
    )
    for (const entry of entries) await writeAuditEntry(store, 'acme', entry)
    const trail = await readAuditTrail(store, completeIncident({}, { id: 'incident-1', tenant: 'acme' }))
    expect(trail).to.deep.equal(entries)
  })
})
