import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { anomaliesIndex, incidentsIndex } from '../../../dataplane/contract/indices.ts'
import { EMIT_THRESHOLD, scoreRecord } from '../../../dataplane/domain/anomalies/scoring.ts'
import { DEFAULT_ZSCORE_CONFIG, ServiceWindows } from '../../../dataplane/domain/anomalies/zscore.ts'
import type { Level } from '../../../dataplane/domain/records/level.ts'
import { countDocuments, postJson, type SentRecord, scanLogs } from '../../testing/api.ts'
import { eventually } from '../../testing/standalone-process.ts'
import type { Chain } from './chain.ts'

/** Doubles may come late. */
const SETTLE_MS = 2_000
const MAX_HITS = 10_000
const NO_FEATURES = { ml_error_rate_1h: 0, ml_p99_latency_1h: 0, ml_request_rate_1h: 0, ml_anomaly_history_count: 0 }

interface ExpectedAnomaly {
  readonly record: SentRecord
  readonly score: number
  /** 0 below the threshold. */
  readonly zscore: number
}

/** The anomalies that one process finds which sees each record once, in order. */
function findAnomalies(records: readonly SentRecord[]): ReadonlyMap<string, ExpectedAnomaly> {
  const windows = new ServiceWindows(DEFAULT_ZSCORE_CONFIG, 100)
  const found = new Map<string, ExpectedAnomaly>()
  for (const record of records) {
    const score = scoreRecord({ level: record.severityText as Level, message: record.body, ...NO_FEATURES })
    if (score === undefined) continue
    const zscore = windows.observe(record.service, score)
    if (score >= EMIT_THRESHOLD || zscore > 0) found.set(record.id, { record, score, zscore })
  }
  return found
}

/**
 * Every record is searchable exactly once, and as it was sent; anomalies and incidents are those of a run that nothing disturbed. Waits
 * `withinMs` until all has arrived, and a little more for what should not.
 */
export async function expectUndisturbed({ search, tenant }: Chain, records: readonly SentRecord[], withinMs: number): Promise<void> {
  const anomalies = findAnomalies(records)
  expect(
    new Set([...anomalies.values()].map(({ score, zscore }) => `${score > 0.5}/${zscore > 0}`)).size,
    'kinds of anomalies',
  ).to.be.above(1)
  const ofTenant = { term: { tenant_id: tenant } }
  const flagged = { bool: { filter: [ofTenant, { term: { is_anomaly: true } }] } }
  await eventually(
    async () => {
      await (await fetch(`${search}/service-*/_refresh`, { method: 'POST' })).text()
      const found = {
        logs: await countDocuments(search, 'service-logs-*', ofTenant),
        flagged: await countDocuments(search, 'service-logs-*', flagged),
        anomalies: await countDocuments(search, anomaliesIndex(tenant)),
      }
      expect(found).to.deep.equal({ logs: records.length, flagged: anomalies.size, anomalies: anomalies.size })
    },
    { timeoutMs: withinMs, pauseMs: 500 },
  )
  await sleep(SETTLE_MS)
  await (await fetch(`${search}/service-*/_refresh`, { method: 'POST' })).text()
  expectDocuments(await scanLogs(search, ofTenant), records, anomalies)
  const stored = await readAll(search, anomaliesIndex(tenant))
  const incidents = await readAll(search, incidentsIndex(tenant))
  expectAnomalies(stored, anomalies)
  expectIncidents(incidents, anomalies)
  const incidentOf = new Map(incidents.map(({ service, id }) => [service, id]))
  const strays = stored.filter(({ service, incident_id }) => incident_id !== incidentOf.get(service))
  expect(strays, 'anomalies that count for no incident').to.deep.equal([])
}

type Document = Readonly<Record<string, unknown>>

function expectDocuments(
  documents: readonly Document[],
  records: readonly SentRecord[],
  anomalies: ReadonlyMap<string, ExpectedAnomaly>,
): void {
  const expected = records.map(({ id, service, severityText, body, timeUnixNano }) => {
    const anomaly = anomalies.get(id)
    return [id, service, severityText, body, timeUnixNano, anomaly !== undefined, anomaly?.zscore ?? 0]
  })
  const fields = ['record.id', 'service', 'level', 'message', 'time_unix_nano', 'is_anomaly', 'anomaly_score']
  expectSame(
    'log documents',
    documents.map(document => fields.map(field => document[field])),
    expected,
  )
}

function expectAnomalies(documents: readonly Document[], anomalies: ReadonlyMap<string, ExpectedAnomaly>): void {
  const found = documents.map(({ service, message, level, score, anomaly_score, detectors }) => [
    service,
    message,
    level,
    score,
    anomaly_score,
    detectors,
  ])
  const expected = [...anomalies.values()].map(({ record: { service, body, severityText }, score, zscore }) => {
    const detectors = [...(score >= EMIT_THRESHOLD ? ['rule'] : []), ...(zscore > 0 ? ['zscore'] : [])]
    return [service, body, severityText, score, zscore, detectors]
  })
  expectSame('anomalies', found, expected)
}

/** One for each service, as its anomalies follow one another within minutes. */
function expectIncidents(documents: readonly Document[], anomalies: ReadonlyMap<string, ExpectedAnomaly>): void {
  const found = documents.map(({ service, severity, anomalyCount, anomalyScore, affectedServices }) => [
    service,
    severity,
    anomalyCount,
    anomalyScore,
    affectedServices,
  ])
  const expected = [...Map.groupBy(anomalies.values(), ({ record }) => record.service)].map(([service, own]) => {
    const hasFatal = own.some(({ record }) => record.severityText === 'FATAL')
    const highest = Math.max(...own.map(({ score }) => score))
    return [service, hasFatal ? 'critical' : highest < EMIT_THRESHOLD ? 'low' : 'medium', own.length, highest, [service]]
  })
  expectSame('incidents', found, expected)
}

/** The same rows, each as often, in any order; a failure shows the first that differ. */
function expectSame(what: string, found: readonly unknown[], expected: readonly unknown[]): void {
  const surplus = new Map<string, number>()
  const add = (row: unknown, count: number) => {
    const text = JSON.stringify(row)
    surplus.set(text, (surplus.get(text) ?? 0) + count)
  }
  for (const row of found) add(row, 1)
  for (const row of expected) add(row, -1)
  const differing = [...surplus].filter(([, count]) => count !== 0)
  const shown = differing.slice(0, 10).map(([row, count]) => `${count > 0 ? `${count} too many` : `${-count} missing`}: ${row}`)
  expect(shown, `${differing.length} rows of ${what} differ`).to.deep.equal([])
}

async function readAll(search: string, index: string): Promise<readonly Document[]> {
  const answer = (await postJson(`${search}/${index}/_search`, { size: MAX_HITS })) as { hits: { hits: { _source: Document }[] } }
  return answer.hits.hits.map(({ _source }) => _source)
}

/** Exactly the messages that were written as garbage, each named with where it was read and why it was not processed. */
export async function expectGarbageAlone(chain: Chain, written: number): Promise<void> {
  const letters = await chain.deadLetters()
  expect(new Set(letters.map(({ origin }) => origin)).size, 'messages in the dead-letter queue').to.equal(written)
  for (const { reason } of letters) expect(reason).to.match(/OTLP|JSON/)
}
