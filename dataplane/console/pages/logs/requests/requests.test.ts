import { expect } from 'chai'
import { describe, it } from 'mocha'
import { exactTime, fieldsOf, type LogRecord, ownFieldsOf, readRecords, timeHere, valueAt } from '../records/log-record.ts'
import { KNOWN_FIELDS } from '../search/field-catalog.ts'
import { MATCH_ALL } from '../search/to-query.ts'
import { otherWindow, readComparison } from './compare.ts'
import { facetRequests, readFacets, readValues, valuesBody } from './facets.ts'
import { withFieldsOf } from './fields.ts'
import { barMsFor, readHistogram } from './histogram.ts'
import { changeOf, readPatternDetails, sayChange, trendBarMs } from './patterns.ts'
import { recordsBody, surroundingBody } from './records.ts'
import { isTraceId, readTrace } from './trace.ts'

const NOON = Date.UTC(2026, 10, 22, 12)
const window = { fromMs: NOON, toMs: NOON + 3_600_000 }
const scope = { query: MATCH_ALL, window }

const record = (offsetMs: number, more: object = {}): LogRecord => {
  const source = { timestamp: new Date(NOON + offsetMs).toISOString(), nanos: 0, service: 'orders', level: 'INFO', message: 'm', ...more }
  return readRecords({ hits: { hits: [{ _id: `id-${offsetMs}`, _index: 'i', _source: source, sort: [NOON + offsetMs, 0, 'x', 1] }] } })[0]!
}

describe('a page of records', () => {
  it('has a stable order: time, nanoseconds, log_id, the order of writing; the next begins behind the last', () => {
    const body = recordsBody(scope, { order: 'newest', after: [1, 2, 'x', 7] })
    expect((body['sort'] as object[]).map(part => Object.keys(part)[0])).to.deep.equal(['timestamp', 'nanos', 'log_id', '_seq_no'])
    expect(body['search_after']).to.deep.equal([1, 2, 'x', 7])
    expect(body['query']).to.deep.equal({
      bool: { filter: [{ range: { timestamp: { gte: '2026-11-22T12:00:00.000Z', lt: '2026-11-22T13:00:00.000Z' } } }] },
    })
  })

  it('around a record lies what came before and after, of its service or of all', () => {
    const before = surroundingBody({ sort: [NOON, 5, 'x', 3], side: 'before', service: 'orders' })
    expect(before['query']).to.deep.equal({
      bool: { filter: [{ range: { timestamp: { lte: '2026-11-22T12:00:00.000Z' } } }, { term: { service: 'orders' } }] },
    })
    const after = surroundingBody({ sort: [NOON, 5, 'x', 3], side: 'after', service: undefined })
    expect(after['query']).to.deep.equal({ bool: { filter: [{ range: { timestamp: { gte: '2026-11-22T12:00:00.000Z' } } }] } })
    expect(JSON.stringify(after['sort'])).to.include('"timestamp":{"order":"asc"}')
  })
})

it('what surrounds a record may be of its instance alone', () => {
  const around = surroundingBody({ sort: [NOON, 5, 'x', 3], side: 'after', service: 'orders', host: 'orders-7f9c' })
  expect(JSON.stringify(around['query'])).to.include('{"term":{"service":"orders"}},{"term":{"host":"orders-7f9c"}}')
})

it('what surrounds a record is of its tenant, whoever else has a service of the name', () => {
  const around = surroundingBody({ sort: [NOON, 5, 'x', 3], side: 'before', service: 'orders', tenant: 'acme' })
  expect(around['query']).to.deep.equal({
    bool: {
      filter: [
        { range: { timestamp: { lte: '2026-11-22T12:00:00.000Z' } } },
        { term: { service: 'orders' } },
        { term: { tenant_id: 'acme' } },
      ],
    },
  })
})

describe('the histogram', () => {
  it('has bars of a round width, no more than asked for', () => {
    for (const [
      ms,
      barMs,
    ] of [[100, 2], [60_000, 1_000], [3_600_000, 60_000], [86_400_000, 1_800_000], [30 * 86_400_000, 43_200_000]] as const) // biome-ignore format: one line
      expect(barMsFor({ fromMs: 0, toMs: ms }, 60), String(ms)).to.equal(barMs)
  })

  it('has a bar for each time, by level; other levels are kept apart', () => {
    const bucket = (key: number, count: number, levels: Readonly<Record<string, number>>) => ({
      key,
      doc_count: count,
      levels: { buckets: Object.entries(levels).map(([level, doc_count]) => ({ key: level, doc_count })) },
    })
    const answer = {
      took: 3,
      hits: { total: { value: 9 } },
      aggregations: { times: { buckets: [bucket(NOON, 5, { INFO: 3, ERROR: 1, VERBOSE: 1 }), bucket(NOON + 1_800_000, 4, { WARN: 2 })] } },
    }
    const read = readHistogram(answer, window, 1_800_000)
    expect(read).to.deep.include({ times: [NOON, NOON + 1_800_000], total: 9 })
    expect(read.counts).to.deep.include({ INFO: [3, 0], ERROR: [1, 0], WARN: [0, 2], OTHER: [1, 2] })
  })

  it('covers a window that begins between bars', () => {
    const read = readHistogram({ took: 0, hits: { total: { value: 0 } } }, { fromMs: NOON + 500, toMs: NOON + 2_500 }, 1_000)
    expect(read.times).to.deep.equal([NOON, NOON + 1_000, NOON + 2_000])
  })
})

describe('facets', () => {
  it('are asked for at once; one with a filter of its own is counted without that', () => {
    const requests = facetRequests('timeout service:orders', window, ['level', 'service', 'host'], KNOWN_FIELDS)
    expect(requests.map(({ fields }) => fields)).to.deep.equal([['level', 'host'], ['service']])
    expect(JSON.stringify(requests[0]!.body)).to.include('"term":{"service":"orders"}')
    expect(JSON.stringify(requests[1]!.body)).to.include('timeout').and.not.include('orders')
  })

  it('hold values with counts, and how many records have others', () => {
    const terms = (buckets: readonly object[], others: number) => ({ buckets, sum_other_doc_count: others })
    const answer = {
      aggregations: { f0: terms([{ key: 'a', doc_count: 2 }], 5), f1: terms([{ key: 1, key_as_string: 'true', doc_count: 3 }], 0) },
    }
    expect(readFacets(['service', 'is_anomaly'], answer)).to.deep.equal([
      { field: 'service', otherCount: 5, values: [{ value: 'a', count: 2 }] },
      { field: 'is_anomaly', otherCount: 0, values: [{ value: 'true', count: 3 }] },
    ])
  })

  it('values that begin so are offered: of words by the store, of numbers here', () => {
    expect(JSON.stringify(valuesBody('service', 'or', window, KNOWN_FIELDS))).to.include('{"prefix":{"service":{"value":"or"}}}')
    expect(JSON.stringify(valuesBody('severity_number', '1', window, KNOWN_FIELDS))).to.not.include('prefix')
    const answer = { aggregations: { f0: { sum_other_doc_count: 0, buckets: [9, 13, 17].map(key => ({ key, doc_count: 1 })) } } }
    expect(readValues('severity_number', '1', answer).map(({ value }) => value)).to.deep.equal(['13', '17'])
  })
})

describe('patterns', () => {
  it('changed, or differ by no more than chance', () => {
    const cases = [[5, 0, 'new'], [0, 5, 'gone'], [0, 0, '≈'], [110, 100, '≈'], [200, 100, '+ 100 %'], [100, 5_000, '− 98 %'], [90_000, 10, '× 9K']] as const // biome-ignore format: one line
    for (const [now, before, said] of cases) expect(sayChange(changeOf(now, before)), `${now} after ${before}`).to.equal(said)
  })

  it('say what they are, whose, and when', () => {
    const answer = {
      aggregations: {
        patterns: {
          buckets: [
            {
              key: 'p1',
              doc_count: 4,
              services: { sum_other_doc_count: 2, buckets: [{ key: 'orders', doc_count: 4 }] },
              sample: { hits: { hits: [{ _source: { pattern: 'took <*> ms', level: 'WARN' } }] } },
            },
          ],
        },
        trends: {
          buckets: [
            {
              key: 'p1',
              doc_count: 4,
              times: { buckets: [{ key: Math.floor(NOON / trendBarMs(scope)) * trendBarMs(scope), doc_count: 4 }] },
            },
          ],
        },
      },
    }
    const details = readPatternDetails(answer, scope).get('p1')!
    expect(details).to.deep.include({ pattern: 'took <*> ms', level: 'WARN', services: [{ service: 'orders', count: 4 }], otherCount: 2 })
    expect(details.trend[0]).to.equal(4)
  })
})

describe('a trace', () => {
  it('has its records in order, with gaps and handovers', () => {
    const trace = readTrace([
      record(0),
      record(5, { nanos: 500_000 }),
      record(400, { service: 'payments' }),
      record(410, { service: 'payments' }),
    ])
    expect(trace).to.deep.include({ durationMs: 410, services: ['orders', 'payments'] })
    expect(trace.steps.map(({ offsetMs, gapMs, isGap, isHandover }) => [offsetMs, gapMs, isGap, isHandover])).to.deep.equal([
      [0, 0, false, false],
      [5.5, 5.5, false, false],
      [400, 394.5, true, true],
      [410, 10, false, false],
    ])
    expect(readTrace([])).to.deep.equal({ steps: [], durationMs: 0, services: [] })
  })

  it('has an id of 32 hex digits', () => {
    expect(['0c5c7fd0a6a3a4506513270e269e0d37', '0C5C7FD0A6A3A4506513270E269E0D37', 'x', ''].map(isTraceId)).to.deep.equal([
      true,
      true,
      false,
      false,
    ])
  })
})

describe('two windows of time beside each other', () => {
  it('the other lies just before, or an hour, a day, a week back', () => {
    const back = (['before', '1h', '1d', '1w'] as const).map(how => (window.fromMs - otherWindow(window, how).fromMs) / 3_600_000)
    expect(back).to.deep.equal([1, 1, 24, 168])
  })

  it('what changed most comes first, what is in one alone too', () => {
    const answer = (services: Readonly<Record<string, number>>) => ({
      hits: { total: { value: 9 } },
      aggregations: { services: { buckets: Object.entries(services).map(([key, doc_count]) => ({ key, doc_count })) } },
    })
    const { rows } = readComparison(answer({ a: 1_000, b: 50, d: 3 }), answer({ a: 1_010, b: 5, c: 20 }))
    expect(rows.services.map(({ key, change }) => [key, change.kind])).to.deep.equal([
      ['b', 'more'],
      ['c', 'gone'],
      ['d', 'new'],
      ['a', 'same'],
    ])
    expect(rows.patterns).to.deep.equal([])
  })
})

describe('the fields of a record', () => {
  const source = {
    'http.method': 'GET',
    user: { id: 'u-1', tags: ['a'] },
    attributes: { 'service.version': '1.2' },
    time_unix_nano: '1',
    count: 5,
  }
  const fields = fieldsOf(record(0, source))

  it('stand by the names that a search knows them by; canonical ones first, those of the pipeline last', () => {
    expect(fields.map(({ field }) => field)).to.deep.equal([
      ...[
        'timestamp',
        'level',
        'service',
        'attributes.service.version',
        'count',
        'http.method',
        'user.id',
        'user.tags',
        'nanos',
        'time_unix_nano',
      ],
    ])
    const odd = fieldsOf(record(0, { '': 'a', ['x'.repeat(501)]: 'b', 'two\nlines': 'c', 'a b': 'd' }))
    expect(odd.filter(({ field }) => /^(|x+|two.*|a b)$/s.test(field)).map(({ isSearchable }) => isSearchable)).to.deep.equal([
      ...[false, true, false, false],
    ])
    expect(fields.filter(({ isSearchable }) => !isSearchable).map(({ field }) => field)).to.deep.equal([
      'timestamp',
      'user.tags',
      'time_unix_nano',
    ])
  })

  it('of the sender alone stand for a message that is missing', () => {
    const sent = { 'event.name': 'cart.emptied', user: { id: 7 } }
    const own = {
      anomaly_score: 0,
      rule_score: 0.3,
      is_anomaly: false,
      severity_text: 'INFO',
      enriched: true,
      ml_error_rate_1h: 0,
      host: 'h',
    }
    expect(ownFieldsOf(record(0, { ...sent, ...own, attributes: { 'service.name': 'cart' } }))).to.equal(
      'event.name=cart.emptied user.id=7',
    )
    expect(ownFieldsOf(record(0, own))).to.equal('')
  })

  it('are values of columns, by a dotted key or a way through objects', () => {
    const values = ['http.method', 'user.id', 'attributes.service.version', 'user.tags', 'count', 'nothing'].map(field =>
      valueAt(source, field),
    )
    expect(values).to.deep.equal(['GET', 'u-1', '1.2', '["a"]', '5', ''])
  })

  it('join the catalogue, by the kind of their values', () => {
    const catalog = withFieldsOf(KNOWN_FIELDS, [record(0, source)])
    expect(['count', 'http.method', 'attributes.service.version'].map(field => catalog.get(field))).to.deep.equal([
      'number',
      'keyword',
      'keyword',
    ])
    expect(withFieldsOf(KNOWN_FIELDS, [record(0)])).to.equal(KNOWN_FIELDS)
  })

  it('have the time with all its digits', () => {
    expect(exactTime(record(0, { timestamp: '2026-11-22T12:00:00.123456789Z' }))).to.equal('2026-11-22T12:00:00.123456789Z')
  })

  it('have the time of the table beside it where the reader is in another time zone', () => {
    const zone = process.env['TZ']
    const at = Date.parse('2026-11-22T22:30:00.123Z')
    try {
      process.env['TZ'] = 'Asia/Kolkata'
      expect([timeHere(at), timeHere(Number.NaN)]).to.deep.equal(['23 Nov 04:00:00.123 here', ''])
      process.env['TZ'] = 'UTC'
      expect(timeHere(at)).to.equal('')
    } finally {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    }
  })
})
