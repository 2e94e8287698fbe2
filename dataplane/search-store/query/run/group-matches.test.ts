/** Aggregations over groups of equal documents say what counting one by one says. */
import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { useTestStore } from '../../testing/use-test-store.ts'

const INDEX = 'service-logs-2026.11.21'
const START_MS = Date.UTC(2026, 10, 21, 3)
const COUNT = 1_500
const BAR_MS = 300_000

interface Doc {
  readonly id: string
  readonly timestamp: string
  readonly service: string
  readonly pattern_id: string
  readonly took: number
  readonly host?: string
  readonly message: string
}

const DOCS: readonly Doc[] = Array.from({ length: COUNT }, (_none, at) => ({
  id: `id-${at}`,
  // Several share a millisecond, and they do not come in order.
  timestamp: new Date(START_MS + ((at * 7919) % (COUNT / 3)) * 3_000).toISOString(),
  service: `s${at % 4}`,
  pattern_id: `p${(at * at) % 7}`,
  took: at % 5,
  ...(at % 3 > 0 && { host: `h${at % 2}` }),
  message: at % 2 === 0 ? `slow query of ${at}` : `query took ${at}, slow`,
}))

const SEARCH = {
  size: 0,
  track_total_hits: true,
  aggs: {
    patterns: {
      terms: { field: 'pattern_id', size: 3 },
      aggs: {
        times: { date_histogram: { field: 'timestamp', fixed_interval: `${BAR_MS}ms`, min_doc_count: 1 } },
        services: { terms: { field: 'service' } },
        newest: { top_hits: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['took'] } },
        first: { min: { field: 'timestamp' } },
        most: { max: { field: 'took' } },
      },
    },
    hosts: { terms: { field: 'host', missing: 'none' } },
    tooks: { terms: { field: 'took' }, aggs: { services: { cardinality: { field: 'service' } } } },
  },
}

function bucketsOf<K extends string | number>(docs: readonly Doc[], key: (doc: Doc) => K) {
  const buckets = [...Map.groupBy(docs, key)].map(([of, own]) => ({ key: of, doc_count: own.length, own }))
  return buckets.sort((a, b) => b.doc_count - a.doc_count || (a.key < b.key ? -1 : 1))
}

const bare = <K>({ key, doc_count }: { key: K; doc_count: number }) => ({ key, doc_count })

/** The same by counting. */
function expectedOf(docs: readonly Doc[]) {
  return {
    total: docs.length,
    patterns: bucketsOf(docs, doc => doc.pattern_id)
      .slice(0, 3)
      .map(({ own, ...bucket }) => ({
        ...bucket,
        times: bucketsOf(own, doc => Math.floor(Date.parse(doc.timestamp) / BAR_MS) * BAR_MS)
          .map(bare)
          .sort((a, b) => a.key - b.key),
        services: bucketsOf(own, doc => doc.service).map(bare),
        first: Math.min(...own.map(doc => Date.parse(doc.timestamp))),
        most: Math.max(...own.map(doc => doc.took)),
        newest: {
          total: own.length,
          id: own.toSorted((a, b) => (a.timestamp < b.timestamp ? 1 : a.timestamp > b.timestamp ? -1 : 0))[0]!.id,
        },
      })),
    hosts: bucketsOf(docs, doc => doc.host ?? 'none').map(bare),
    tooks: bucketsOf(docs, doc => doc.took).map(({ own, ...bucket }) => ({
      ...bucket,
      services: new Set(own.map(doc => doc.service)).size,
    })),
  }
}

describe('aggregations over groups of equal documents', () => {
  const store = useTestStore()
  before(async () => {
    const properties = {
      ...Object.fromEntries(['service', 'pattern_id', 'host'].map(name => [name, { type: 'keyword' }])),
      ...{ timestamp: { type: 'date' }, took: { type: 'integer' }, message: { type: 'text' } },
    }
    await store.request('PUT', `/${INDEX}`, { mappings: { properties } })
    await store.request(
      'POST',
      `/${INDEX}/_bulk`,
      DOCS.map(({ id, ...doc }) => `{"create":{"_id":"${id}"}}\n${JSON.stringify(doc)}\n`).join(''),
    )
  })

  /** Also asks twice, for what is kept of the first time. */
  async function answers(query: object): Promise<void> {
    const { body } = await store.request('POST', `/${INDEX}/_search`, { ...SEARCH, query })
    const again = await store.request('POST', `/${INDEX}/_search`, { ...SEARCH, query })
    expect(again.body.aggregations).to.deep.equal(body.aggregations)
    expect(again.body.hits).to.deep.equal(body.hits)
    const { patterns, hosts, tooks } = body.aggregations
    asked = {
      total: body.hits.total.value,
      // biome-ignore lint/suspicious/noExplicitAny: an answer of the store
      patterns: patterns.buckets.map(({ key, doc_count, times, services, newest, first, most }: any) => ({
        ...{ key, doc_count, times: times.buckets.map(bare), services: services.buckets.map(bare), first: first.value, most: most.value },
        newest: { total: newest.hits.total.value, id: newest.hits.hits[0]._id },
      })),
      hosts: hosts.buckets.map(bare),
      // biome-ignore lint/suspicious/noExplicitAny: an answer of the store
      tooks: tooks.buckets.map(({ key, doc_count, services }: any) => ({ key, doc_count, services: services.value })),
    }
  }
  let asked: ReturnType<typeof expectedOf>

  const HOUR_MS = 3_600_000
  const QUERIES: readonly (readonly [object, (doc: Doc) => boolean])[] = [
    [{ match_all: {} }, () => true],
    [{ terms: { pattern_id: ['p0', 'p1', 'p2'] } }, doc => ['p0', 'p1', 'p2'].includes(doc.pattern_id)],
    [{ match_phrase: { message: 'slow query' } }, doc => doc.message.startsWith('slow')],
    [{ prefix: { message: 'slo' } }, () => true],
    [
      { bool: { filter: [{ term: { service: 's1' } }, { range: { timestamp: { lt: new Date(START_MS + HOUR_MS / 2).toISOString() } } }] } },
      doc => doc.service === 's1' && Date.parse(doc.timestamp) < START_MS + HOUR_MS / 2,
    ],
  ]

  async function allAnswer(docs: readonly Doc[]): Promise<void> {
    for (const [query, isMatch] of QUERIES) {
      await answers(query)
      expect(asked, JSON.stringify(query)).to.deep.equal(expectedOf(docs.filter(isMatch)))
    }
  }

  it('count as documents do, before and after they are sealed, and without those that are deleted', async () => {
    await allAnswer(DOCS)
    await store.request('PUT', `/${INDEX}/_mapping`, { properties: { later: { type: 'keyword' } } })
    await allAnswer(DOCS)
    await store.request('POST', `/${INDEX}/_delete_by_query`, { query: { term: { took: 2 } } })
    await allAnswer(DOCS.filter(doc => doc.took !== 2))
  })

  it('are told by the counts of a sealed segment as by its documents: values, whole bars, first and last times, the newest document', async () => {
    const newest = { top_hits: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['took'] } }
    const bars = (fixed_interval: string) => ({ date_histogram: { field: 'timestamp', fixed_interval, min_doc_count: 1 } })
    const searches = [
      {
        patterns: {
          terms: { field: 'pattern_id' },
          aggs: { first: { min: { field: 'timestamp' } }, last: { max: { field: 'timestamp' } } },
        },
      },
      {
        patterns: {
          terms: { field: 'pattern_id' },
          aggs: { first: { min: { field: 'timestamp' } }, newest, services: { terms: { field: 'service' } } },
        },
      },
      { days: { ...bars('1d'), aggs: { patterns: { terms: { field: 'pattern_id' }, aggs: { newest } } } } },
      { minutes: { ...bars('1m'), aggs: { services: { terms: { field: 'service' } } } } },
      { bars: bars('7m'), services: { terms: { field: 'service' }, aggs: { bars: bars('5m') } } },
      { seconds: bars('30s') },
      { oldest: { terms: { field: 'service' }, aggs: { oldest: { top_hits: { size: 1, sort: [{ timestamp: 'asc' }] } } } } },
    ]
    const index = 'service-logs-2026.11.22'
    const properties = {
      ...Object.fromEntries(['tenant_id', 'level', 'service', 'pattern_id', 'host'].map(name => [name, { type: 'keyword' }])),
      ...{ timestamp: { type: 'date' }, took: { type: 'integer' }, message: { type: 'text' } },
    }
    await store.request('PUT', `/${index}`, { mappings: { properties } })
    const lines = DOCS.map(({ id, ...doc }, at) => {
      const whole = { ...doc, tenant_id: 'acme', level: at % 2 === 0 ? 'INFO' : 'WARN' }
      return `{"create":{"_id":"${id}"}}\n${JSON.stringify(whole)}\n`
    })
    await store.request('POST', `/${index}/_bulk`, lines.join(''))
    const answers = async () => {
      const all = []
      for (const query of [{ match_all: {} }, { term: { service: 's1' } }, { bool: { must_not: [{ term: { level: 'WARN' } }] } }])
        for (const aggs of searches) {
          const { body } = await store.request('POST', `/${index}/_search`, { size: 0, track_total_hits: true, query, aggs })
          all.push({ total: body.hits.total, aggregations: body.aggregations })
        }
      return all
    }
    const before = await answers()
    await store.request('PUT', `/${index}/_mapping`, { properties: { later: { type: 'keyword' } } })
    expect(await answers()).to.deep.equal(before)
  })

  it('find nothing of a phrase whose words are never next to each other, and everything of one whose words are', async () => {
    const count = async (phrase: string) => {
      const { body } = await store.request('POST', `/${INDEX}/_count`, { query: { match_phrase: { message: phrase } } })
      return body.count
    }
    expect(await count('query slow')).to.equal(0)
    expect(await count('query took')).to.be.greaterThan(100)
  })
})
