/** The audit trail of incidents (Spec: Audit entry). */
import { auditIndex } from '../../../contract/indices.ts'
import type { AuditEntry } from '../../../domain/incidents/audit-entry.ts'
import { auditEntryId } from '../../../domain/incidents/audit-entry.ts'
import type { StoredIncident } from '../../../domain/incidents/stored-incident.ts'
import { type SearchStore, VersionConflict } from '../../../ports/search-store.ts'

const PAGE_SIZE = 1000

/** Writes an entry under an id that derives from it: writing it again changes nothing. */
export async function writeAuditEntry(store: SearchStore, tenant: string, entry: AuditEntry): Promise<void> {
  try {
    await store.put(auditIndex(tenant), auditEntryId(entry), entry, { only: 'new' })
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error
  }
}

/** Every entry of an incident, oldest first, those of one millisecond in the order of writing. A state change whose entry a crash kept from the index is found in the incident and put there. */
export async function readAuditTrail(store: SearchStore, { id, tenantId, lastChange }: StoredIncident): Promise<readonly AuditEntry[]> {
  await store.refresh(auditIndex(tenantId))
  const entries = await searchEntries(store, tenantId, id)
  if (lastChange === undefined || entries.some(entry => auditEntryId(entry) === auditEntryId(lastChange))) return entries
  await writeAuditEntry(store, tenantId, lastChange)
  return [...entries, lastChange]
}

async function searchEntries(store: SearchStore, tenant: string, incidentId: string): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  let after: readonly unknown[] | undefined
  do {
    const { hits } = await store.search<AuditEntry>({
      index: auditIndex(tenant),
      body: {
        size: PAGE_SIZE,
        track_total_hits: false,
        query: { term: { incident_id: incidentId } },
        sort: [{ timestamp: { order: 'asc', unmapped_type: 'date' } }, { _seq_no: { order: 'asc' } }],
        ...(after === undefined ? {} : { search_after: after }),
      },
    })
    entries.push(...hits.map(({ source }) => source))
    after = hits.length === PAGE_SIZE ? hits.at(-1)?.sort : undefined
  } while (after !== undefined)
  return entries
}
