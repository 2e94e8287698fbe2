import { incidentsIndex } from '../contract/indices.ts'
import type { Incident } from '../domain/incidents/incident-fields.ts'
import type { SearchStore } from '../ports/search-store.ts'

/** An open incident as the bridge stores it; `overrides` replace fields. */
export function buildIncident(overrides: Partial<Incident> = {}): Incident {
  return {
    id: 'a0000000-0000-5000-8000-000000000001',
    tenantId: 'default',
    title: 'connection refused in checkout',
    severity: 'high',
    status: 'open',
    service: 'checkout',
    anomalyScore: 0.8,
    anomalyCount: 3,
    affectedServices: ['checkout', 'payment'],
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    firstSeen: '2025-12-31T23:59:00.000Z',
    lastSeen: '2026-01-01T00:00:00.000Z',
    platforms: [],
    evidence: [],
    ...overrides,
  }
}

export async function storeIncidents(store: SearchStore, ...incidents: readonly Partial<Incident>[]): Promise<void> {
  for (const incident of incidents.map(buildIncident)) await store.put(incidentsIndex(incident.tenantId), incident.id, incident)
}
