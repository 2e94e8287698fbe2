/** Aggregations whose answers OpenSearch 3.5 gave on the same documents (`testing/aggregation-answers.json`, 2026-11-23). */
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { useTestStore } from '../testing/use-test-store.ts'

interface Case {
  readonly query?: object
  readonly aggs: object
  readonly answer: object
}

const CASES = JSON.parse(readFileSync(new URL('../testing/aggregation-answers.json', import.meta.url), 'utf8')) as readonly Case[]

const DOCUMENTS = [
  { k: 'a', s: 'x', n: 1, d: 1.5, b: true, at: '2026-01-01T00:00:00Z' },
  { k: 'b', s: 'x', n: 2, d: 2.5, b: false, at: '2026-01-01T06:00:00Z' },
  { k: ['a', 'c'], s: 'y', n: 4, d: 0.5, at: '2026-01-02T00:00:00Z' },
  { k: 'c', n: 8, d: 7.25, at: '2026-01-04T00:00:00Z' },
  { s: 'y', n: 3, at: '2026-01-04T12:00:00Z' },
]

const BY_DAY = { date_histogram: { field: 'at', fixed_interval: '1d' } }
const sources = [{ k: { terms: { field: 'k' } } }]
const composite = (body: object) => ({ c: { composite: { sources, ...body } } })
const daily = (aggs: object) => ({ h: { ...BY_DAY, aggs: { s: { sum: { field: 'n' } }, ...aggs } } })
const script = (text: string) => daily({ b: { bucket_script: { buckets_path: { a: 's' }, script: text } } })

const REFUSED: readonly [aggs: object, reason: string][] = [
  [{ c: { composite: {} } }, 'Required [sources]'],
  [composite({ sources: [] }), 'Composite [sources] cannot be null or empty'],
  [composite({ sources: [...sources, ...sources] }), 'Composite source names must be unique, found duplicates: [k]'],
  [composite({ after: { x: 1 } }), 'Missing value for [after.k]'],
  [composite({ after: { k: 1, y: 2 } }), '[after] has 2 value(s) but [sources] has 1'],
  [composite({ sources: [{ k: { geotile_grid: { field: 'k' } } }] }), '[composite] source [geotile_grid] is not supported'],
  [
    { x: { terms: { field: 's' }, aggs: composite({}) } },
    '[composite] aggregation cannot be used with a parent aggregation of type: [terms]',
  ],
  [{ e: { extended_stats: { field: 'at' } } }, 'aggregation [extended_stats] of the date [at] is not supported'],
  [
    { t: { terms: { field: 's' }, aggs: { s: { sum: { field: 'n' } }, d: { derivative: { buckets_path: 's' } } } } },
    'derivative aggregation [d] must have a histogram',
  ],
  [daily({ d: { derivative: { buckets_path: 'nosuch' } } }), 'No aggregation found for path [nosuch]'],
  [daily({ d: { derivative: { buckets_path: 'e' } }, e: { derivative: { buckets_path: 'd' } } }), 'No aggregation found for path [e]'],
  [{ d: { derivative: { buckets_path: 'x' } } }, 'No aggregation found for path [x]'],
  [daily({ d: { derivative: {} } }), 'Missing required field [buckets_path] for derivative aggregation [d]'],
  [
    daily({ d: { moving_fn: { buckets_path: 's', window: 0, script: 'MovingFunctions.max(values)' } } }),
    '[window] must be a positive, non-zero integer.',
  ],
  [daily({ d: { moving_fn: { buckets_path: 's', script: 'MovingFunctions.max(values)' } } }), 'Required [window]'],
  [
    daily({ d: { moving_fn: { buckets_path: 's', window: 3, script: 'MovingFunctions.holt(values, 1, 1)' } } }),
    '[moving_fn] script [MovingFunctions.holt(values, 1, 1)] is not supported',
  ],
  [daily({ d: { moving_avg: { buckets_path: 's', model: 'holt_winters' } } }), '[moving_avg] model [holt_winters] is not supported'],
  [daily({ d: { serial_diff: { buckets_path: 's', lag: 0 } } }), 'Lag must be a positive, non-zero integer.'],
  [script('Math.max(params.a, 1)'), '[bucket_script] with anything but arithmetic, such as [Math.max], is not supported'],
  [script('params.a; System.exit(1)'), '[bucket_script] with anything but arithmetic'],
  [script('params.b'), '[bucket_script] uses [params.b], which [buckets_path] does not name'],
  [script('(params.a'), '[bucket_script] is no arithmetic'],
  [script('1 / 0'), 'divides a whole number by zero'],
  [{ r: { percentile_ranks: { field: 'n' } } }, '[values] must not be null: [r]'],
  [{ r: { percentile_ranks: { field: 'n', values: [] } } }, '[values] must not be an empty array: [r]'],
  [{ r: { percentile_ranks: { field: 'n', values: ['a'] } } }, '[percentile_ranks.values] must be a number'],
  [{ r: { percentile_ranks: { field: 'k', values: [1] } } }, 'of type [keyword] is not supported for aggregation [percentile_ranks]'],
  [{ r: { percentile_ranks: { field: 'n', values: [1], hdr: {} } } }, '[percentile_ranks]: [hdr] is not supported'],
]

describe('aggregations that OpenSearch answered, too', () => {
  const store = useTestStore()
  before(async () => {
    const types = { k: 'keyword', s: 'keyword', d: 'double', n: 'long', b: 'boolean', at: 'date' }
    const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))
    for (const index of ['numbers', 'service-logs-2026.01.01']) {
      await store.request('PUT', `/${index}`, { mappings: { properties } })
      const lines = DOCUMENTS.map((document, at) => `{"index":{"_id":"${at}"}}\n${JSON.stringify(document)}\n`)
      expect((await store.request('POST', `/${index}/_bulk`, lines.join(''))).body.errors).to.equal(false)
    }
  })

  for (const index of ['numbers', 'service-logs-2026.01.01']) {
    it(`are answered alike on ${index}`, async () => {
      for (const { query, aggs, answer } of CASES) {
        const { status, body } = await store.request('POST', `/${index}/_search`, { size: 0, aggs, ...(query !== undefined && { query }) })
        expect(status, JSON.stringify([aggs, body])).to.equal(200)
        expect(body.aggregations, JSON.stringify(aggs)).to.deep.equal(answer)
      }
    })

    it(`are refused on ${index}, with the reason`, async () => {
      for (const [aggs, reason] of REFUSED) {
        const { status, body } = await store.request('POST', `/${index}/_search`, { size: 0, aggs })
        expect(status, JSON.stringify(aggs)).to.equal(400)
        expect(body.error.root_cause[0].reason).to.contain(reason)
      }
    })
  }

  it('page through all combinations, however many there are, and each comes once with its count', async () => {
    const lines = Array.from({ length: 4_000 }, (_, n) => `{"index":{}}\n${JSON.stringify({ k: `k${(n * 7919) % 900}`, n: n % 3 })}\n`)
    await store.request('PUT', '/many', { mappings: { properties: { k: { type: 'keyword' }, n: { type: 'long' } } } })
    expect((await store.request('POST', '/many/_bulk', lines.join(''))).body.errors).to.equal(false)
    const seen = new Map<string, number>()
    let after: object | undefined
    for (;;) {
      const body = {
        sources: [{ n: { terms: { field: 'n', order: 'desc' } } }, { k: { terms: { field: 'k' } } }],
        size: 50,
        ...(after && { after }),
      }
      const { c } = (await store.request('POST', '/many/_search', { size: 0, aggs: { c: { composite: body } } })).body.aggregations
      for (const { key, doc_count } of c.buckets) {
        expect(seen.has(JSON.stringify(key))).to.equal(false)
        seen.set(JSON.stringify(key), doc_count)
      }
      if (c.buckets.length < 50) break
      after = c.after_key
    }
    expect(seen.size).to.equal(900)
    expect([...seen.values()].reduce((sum, count) => sum + count, 0)).to.equal(4_000)
  })
})
