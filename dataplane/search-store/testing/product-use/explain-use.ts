/** Requests to the search store for a question to a language model: lines by their ids, resolved incidents of the past. */
import { incidentsIndex, LOGS_PREFIX } from '../../../contract/indices.ts'
import { readLines, readSimilar } from '../../../pipeline/explain-incident/material.ts'
import { buildExplainedIncident, buildRules } from '../../../testing/explained-incident-fixture.ts'
import { storeIncidents } from '../../../testing/incident-fixture.ts'
import type { RecordedStore } from './recorded-store.ts'

const TENANT = 'explain-use'
const INDEX = `${LOGS_PREFIX}2026.01.01`

export async function useAsExplainer({ store }: RecordedStore): Promise<unknown> {
  const incident = buildExplainedIncident({ tenantId: TENANT })
  const nothing = [await readSimilar(store, incident, buildRules())]
  const past = { ...incident, status: 'resolved' as const, resolvedAt: '2025-12-01T00:00:00.000Z', rootCause: buildRules() }
  await storeIncidents(store, incident, { ...past, id: 'past', title: 'the past' }, { ...past, id: 'unlike', evidence: [] })
  for (const log_id of ['l1', 'l2'])
    await store.put(INDEX, `${TENANT}-${log_id}`, {
      log_id,
      timestamp: '2026-01-01T00:00:00.000Z',
      tenant_id: TENANT,
      service: 'checkout',
      level: 'ERROR',
      message: `line ${log_id}`,
      pattern: 'line',
    })
  for (const index of [INDEX, incidentsIndex(TENANT)]) await store.refresh(index)
  return { nothing, lines: await readLines(store, incident, buildRules()), similar: await readSimilar(store, incident, buildRules()) }
}
