/** Requests of the console's Logs page and overview: OpenSearch and the embedded store answer alike for each of them. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { EMPTY_LIVE, liveRequest } from '../console/pages/logs/live/live-buffer.ts'
import { readRecords } from '../console/pages/logs/records/log-record.ts'
import { compareBody, otherWindow } from '../console/pages/logs/requests/compare.ts'
import { facetRequests, USUAL_FACETS, valuesBody } from '../console/pages/logs/requests/facets.ts'
import { barMsFor, histogramBody } from '../console/pages/logs/requests/histogram.ts'
import { patternCountsBody, patternCountsOfBody, patternDetailsBody, readPatternCounts } from '../console/pages/logs/requests/patterns.ts'
import { recordBody, recordsBody, surroundingBody } from '../console/pages/logs/requests/records.ts'
import type { SearchBody } from '../console/pages/logs/requests/scope.ts'
import { traceBody } from '../console/pages/logs/requests/trace.ts'
import { readFieldCaps } from '../console/pages/logs/search/field-catalog.ts'
import { translateSearch } from '../console/pages/logs/search/to-query.ts'
import { countsBeforeBody, countsBody } from '../console/pages/overview/counts-query.ts'
import { backendAddress } from '../testing/real/address.ts'
import { differenceOf } from './testing/comparison/compare-answers.ts'
import { startTwoStores, type TwoStores } from './testing/comparison/two-stores.ts'

export const needs = ['opensearch']

const RECORDS = 600
const HOUR_MS = 3_600_000

const SEARCHES = [
  ...[
    '',
    'timeout',
    '"calling inventory"',
    'connection-ref*',
    'time*',
    't?meo*',
    'payment OR stock',
    '(timeout OR refused) -level:INFO',
    'NOT timeout',
  ],
  ...[
    'service:orders',
    'service:(orders OR pay*)',
    'service:*s',
    '-service:orders',
    'level:error',
    'level:(warning OR err)',
    'host:"orders-1"',
  ],
  ...['duration_ms:>100', 'duration_ms:[10 TO 50}', 'duration_ms:200', 'is_anomaly:true', 'anomaly_score:>=0', 'severity_number:17'],
  ...[
    'trace_id:*',
    '-trace_id:*',
    'user.id:u-1*',
    'attributes.service.version:1.2',
    'attributes.service.version:1*',
    'nobody.has:it',
    'nobody.has:*',
  ],
  ...[
    'timestamp:>=now-1h',
    'timestamp:[2020-01-01 TO now]',
    'message:"disk full"',
    '12:30:05',
    'https://example.com/a',
    '0123456789abcdef0123456789abcdef',
  ],
]

/** Like those of the pipeline, over three hours and two days' indices at midnight. */
function documents(nowMs: number) {
  const services = ['orders', 'payments', 'mailer', 'shop gateway']
  const messages = [
    'could not reserve: timeout calling inventory',
    'payment of 5 EUR',
    'connection-refused: db-7',
    'disk full at 12:30:05',
    'sent mail',
  ]
  const levels = ['INFO', 'ERROR', 'WARN', 'DEBUG', 'FATAL', 'VERBOSE']
  return Array.from({ length: RECORDS }, (_, i) => {
    // Several records share a millisecond.
    const timestamp = new Date(nowMs - 60_000 - Math.floor(i / 3) * 53_000).toISOString()
    const at = (list: readonly string[], step: number) => list[Math.floor(i / step) % list.length]!
    const body = {
      timestamp,
      nanos: (i % 3) * 1_000,
      log_id: `00000000-0000-5000-8000-${String(i % 300).padStart(12, '0')}`,
      tenant_id: i % 7 === 0 ? 'acme' : 'default',
      service: at(services, 2),
      host: `${at(services, 2)}-${i % 3}`,
      ...(i % 5 > 0 && { environment: 'production' }),
      level: at(levels, 4),
      severity_number: 17,
      message: at(messages, 3),
      pattern_id: `000000000000000${Math.floor(i / 3) % 5}`,
      pattern: at(messages, 3),
      ...(i % 4 === 0 && { trace_id: String(i % 20).padStart(32, '0') }),
      is_anomaly: i % 9 === 0,
      anomaly_score: i % 9 === 0 ? 3.5 : 0,
      duration_ms: (i * 7) % 300,
      // No more than a facet shows: beyond, OpenSearch estimates.
      'user.id': `u-${i % 8}`,
      attributes: { 'service.version': `1.${i % 4}` },
    }
    return { index: `service-logs-${timestamp.slice(0, 10).replaceAll('-', '.')}`, id: `id-${i}`, body }
  })
}

describe('every query of the logs page: OpenSearch and the embedded store answer alike', function () {
  this.timeout(120_000)
  const nowMs = Date.now()
  const window = { fromMs: nowMs - 4 * HOUR_MS, toMs: nowMs }
  let stores: TwoStores

  before(async () => {
    stores = await startTwoStores(backendAddress('opensearch'), 'service-logs-*')
    await stores.load(documents(nowMs))
  })
  after(() => stores?.stop())

  /** The real store's answer. */
  async function same(what: string, body: SearchBody): Promise<unknown> {
    const [real, embedded] = await stores.ask('POST', '/service-logs-*/_search?ignore_unavailable=true', body)
    expect(real.status, `${what}: ${JSON.stringify(real.body.error)}`).to.equal(200)
    expect(embedded.status, `${what}: ${JSON.stringify(embedded.body.error)}`).to.equal(200)
    expect(differenceOf(real, embedded), `${what} ${JSON.stringify(body)}`).to.equal(undefined)
    return real.body
  }

  async function catalogs() {
    const answers = await stores.ask('GET', '/service-logs-*/_field_caps?fields=*&ignore_unavailable=true')
    return answers.map(({ body }) => readFieldCaps(body))
  }

  it('both tell of the same fields', async () => {
    const [real, embedded] = await catalogs()
    expect(Object.fromEntries(embedded!)).to.deep.equal(Object.fromEntries(real!))
  })

  for (const search of SEARCHES)
    it(search === '' ? 'no search' : search, async () => {
      const [catalog] = await catalogs()
      const translated = translateSearch(search, catalog!)
      if (!translated.ok) expect.fail(translated.problem.message)
      const scope = { query: translated.query, window }
      for (const order of ['newest', 'oldest'] as const) {
        const first = readRecords(await same('records', recordsBody(scope, { order, size: 40 })))
        const last = first.at(-1)
        if (last !== undefined) await same('the next page', recordsBody(scope, { order, size: 40, after: last.sort }))
      }
      await same('histogram', histogramBody(scope, barMsFor(window, 90)))
      for (const { fields, body } of facetRequests(search, window, [...USUAL_FACETS, 'user.id', 'is_anomaly', 'severity_number'], catalog!))
        await same(`facets ${fields.join()}`, body)
      const ids = [...readPatternCounts(await same('patterns', patternCountsBody(scope))).keys()]
      await same('patterns before', patternCountsOfBody(scope, ids))
      await same('comparison', compareBody(scope.query, otherWindow(window, 'before')))
      await same('live tail', liveRequest(scope, EMPTY_LIVE, nowMs).body)
    })

  it('what patterns say: newest samples may be any of one moment', async () => {
    const scope = { query: { match_all: {} }, window }
    const body = patternDetailsBody(scope, ['0000000000000000', '0000000000000003'])
    const [real, embedded] = await stores.ask('POST', '/service-logs-*/_search', body)
    const shape = (answer: typeof real) =>
      // biome-ignore lint/suspicious/noExplicitAny: answers of a store have any shape
      answer.body.aggregations.patterns.buckets.map(({ key, doc_count, services }: any) => ({ key, doc_count, services }))
    expect(shape(embedded)).to.deep.equal(shape(real))
    expect(embedded.body.aggregations.trends).to.deep.equal(real.body.aggregations.trends)
  })

  it('the overview: records and levels by service', async () => {
    await same('counts', countsBody(window))
    await same('counts before', countsBeforeBody(otherWindow(window, 'before')))
  })

  it('one record, what surrounds it, its trace, values for the search box', async () => {
    const [record] = readRecords(await same('a record', recordBody('id-200')))
    for (const side of ['before', 'after'] as const)
      for (const service of [undefined, record!.service])
        await same(`records ${side}`, surroundingBody({ sort: record!.sort, side, service }))
    await same('a trace', traceBody(String(record!.source['trace_id'])))
    const [catalog] = await catalogs()
    for (const [
      field,
      prefix,
    ] of [['service', 'o'], ['level', 'e'], ['user.id', ''], ['severity_number', '1'], ['is_anomaly', 't']] as const) // biome-ignore format: one line
      await same(`values of ${field}`, valuesBody(field, prefix, window, catalog!))
  })
})
