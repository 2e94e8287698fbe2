/** The script of the official clients, in JavaScript: the same steps as `client.py`. */
import { Client, errors } from '@opensearch-project/opensearch'
import type { Step } from './steps.ts'

const INDEX = 'clients-logs'
const COPY = 'clients-copy'
const ALIAS = 'clients-alias'
const LEVELS = ['INFO', 'WARN', 'ERROR']

const TEMPLATE = {
  index_patterns: ['clients-*'],
  template: {
    settings: { number_of_shards: 1, number_of_replicas: 0 },
    mappings: { properties: { '@timestamp': { type: 'date' }, level: { type: 'keyword' }, duration_ms: { type: 'double' } } },
  },
} as const

const BY_LEVEL = {
  size: 0,
  aggs: {
    levels: { terms: { field: 'level' }, aggs: { mean: { avg: { field: 'duration_ms' } } } },
    hours: { date_histogram: { field: '@timestamp', fixed_interval: '1h' } },
  },
}

const REFUSED = { query: { match: { message: 'refused' } }, sort: ['duration_ms'], size: 3, highlight: { fields: { message: {} } } }

const document = (number: number) => ({
  '@timestamp': `2026-11-21T10:${String(number % 60).padStart(2, '0')}:00.000Z`,
  level: LEVELS[number % 3],
  message: number % 2 === 1 ? `request ${number} took long` : `request ${number} refused`,
  duration_ms: number * 1.5,
})
const id = (number: number) => `d${String(number).padStart(3, '0')}`

export async function runJavaScriptClient(url: string): Promise<readonly Step[]> {
  // biome-ignore lint/suspicious/noExplicitAny: bodies are sent as they stand, also those that the types know to be wrong
  const client: any = new Client({ node: url, maxRetries: 0, compression: 'gzip' })
  const steps: Step[] = []

  async function step(name: string, call: () => Promise<unknown>): Promise<void> {
    try {
      const answer = await call()
      steps.push([name, isAnswer(answer) ? answer.body : answer])
    } catch (error) {
      if (!(error instanceof errors.ResponseError)) throw error
      steps.push([name, { status: error.statusCode, error: error.body }])
    }
  }

  async function readByPointInTime(): Promise<unknown> {
    const { body } = await client.createPit({ index: INDEX, keep_alive: '1m' })
    const found: string[] = []
    let after: unknown[] | undefined
    for (;;) {
      const page = { size: 40, pit: { id: body.pit_id, keep_alive: '1m' }, sort: [{ duration_ms: 'desc' }] }
      const { hits } = (await client.search({ body: after === undefined ? page : { ...page, search_after: after } })).body.hits
      if (hits.length === 0) break
      found.push(...idsOf(hits))
      after = hits.at(-1).sort
    }
    const deleted = await client.deletePit({ body: { pit_id: [body.pit_id] } })
    return { ids: found, deleted: deleted.body.pits.map((pit: { successful: boolean }) => pit.successful) }
  }

  async function bulkByHelper(): Promise<unknown> {
    const { time, bytes, ...counts } = await client.helpers.bulk({
      datasource: Array.from({ length: 100 }, (_, number) => ({ number })),
      onDocument: ({ number }: { number: number }) => [{ create: { _index: INDEX, _id: id(number) } }, document(number)],
      flushBytes: 2_000,
      refreshOnCompletion: true,
    })
    return counts
  }

  async function scrolled(): Promise<unknown> {
    const pages: string[][] = []
    for await (const { body } of client.helpers.scrollSearch({ index: INDEX, size: 30, body: { sort: ['duration_ms'] } }))
      pages.push(idsOf(body.hits.hits))
    return pages
  }

  async function scrolledSources(): Promise<unknown> {
    const sources: unknown[] = []
    for await (const source of client.helpers.scrollDocuments({ index: INDEX, size: 7, body: { query: { term: { level: 'ERROR' } } } }))
      sources.push(source.message)
    return sources.sort()
  }

  async function searchesByHelper(): Promise<unknown> {
    const searches = client.helpers.msearch()
    const [first, second] = await Promise.allSettled([
      searches.search({ index: INDEX }, REFUSED),
      searches.search({ index: 'clients-nobody' }, { query: { match_all: {} } }),
    ])
    searches.stop()
    return [
      first.status === 'fulfilled' && first.value.documents,
      second.status === 'rejected' && second.reason instanceof errors.ResponseError && second.reason.statusCode,
    ]
  }

  const copy = async () => {
    const documents = await client.helpers.search({ index: INDEX, size: 1000, body: { query: { match_all: {} } } })
    return client.bulk({
      refresh: true,
      body: documents.flatMap((one: object, at: number) => [{ index: { _index: COPY, _id: id(at) } }, one]),
    })
  }

  const OPERATIONS = [
    { create: { _index: INDEX, _id: 'd001' } },
    document(1),
    { index: { _index: INDEX, _id: 'd100' } },
    document(100),
    { update: { _index: INDEX, _id: 'd100' } },
    { doc: { level: 'FATAL' } },
    { delete: { _index: INDEX, _id: 'no one' } },
    { index: { _index: INDEX, _id: 'bad' } },
    { '@timestamp': 'yesterday' },
  ]
  const moved = [{ remove: { index: INDEX, alias: ALIAS } }, { add: { index: INDEX, alias: ALIAS, filter: { term: { level: 'ERROR' } } } }]

  await step('ping', () => client.ping())
  await step('version', async () => (await client.info()).body.version.distribution)
  await step('put template', () => client.indices.putIndexTemplate({ name: 'clients', body: TEMPLATE }))
  await step('has template', () => client.indices.existsIndexTemplate({ name: 'clients' }))
  await step('get template', () => client.indices.getIndexTemplate({ name: 'clients' }))
  await step('bulk', bulkByHelper)
  await step('bulk of operations', () => client.bulk({ refresh: 'wait_for', body: OPERATIONS }))
  await step('refresh', () => client.indices.refresh({ index: INDEX }))
  await step('mapping', () => client.indices.getMapping({ index: INDEX }))
  await step('count', () => client.count({ index: INDEX, body: { query: { term: { level: 'WARN' } } } }))
  await step('search', () => client.search({ index: INDEX, body: REFUSED }))
  await step('search by parameters', () =>
    client.search({ index: INDEX, q: 'level:ERROR', size: 2, sort: 'duration_ms:desc', _source_includes: 'level' }),
  )
  await step('search malformed', () => client.search({ index: INDEX, body: { query: { nothing: {} } } }))
  await step('search of no index', () => client.search({ index: 'clients-nobody', body: {} }))
  await step('several searches', () => client.msearch({ body: [{ index: INDEX }, REFUSED, { index: 'clients-nobody' }, {}] }))
  await step('several searches by the helper', searchesByHelper)
  await step('aggregate', () => client.search({ index: INDEX, body: BY_LEVEL }))
  await step('aggregate with typed keys', () => client.search({ index: INDEX, typed_keys: true, body: BY_LEVEL }))
  await step('scroll', scrolled)
  await step('scroll of sources', scrolledSources)
  await step('point in time', readByPointInTime)
  await step('get', () => client.get({ index: INDEX, id: 'd007' }))
  await step('get of nothing', () => client.get({ index: INDEX, id: 'nobody' }))
  await step('exists', () => client.exists({ index: INDEX, id: 'd007' }))
  await step('get source', () => client.getSource({ index: INDEX, id: 'd007' }))
  await step('mget', () => client.mget({ index: INDEX, body: { ids: ['d001', 'nobody'] } }))
  await step('index', () => client.index({ index: INDEX, id: 'own', body: document(7), refresh: true }))
  await step('create again', () => client.create({ index: INDEX, id: 'own', body: document(7) }))
  await step('update', () => client.update({ index: INDEX, id: 'own', body: { doc: { level: 'ERROR' } } }))
  await step('update to the same', () => client.update({ index: INDEX, id: 'own', body: { doc: { level: 'ERROR' } } }))
  await step('upsert', () => client.update({ index: INDEX, id: 'new', body: { doc: { level: 'ERROR' }, doc_as_upsert: true } }))
  await step('update of nothing', () => client.update({ index: INDEX, id: 'nobody', body: { doc: {} } }))
  await step('refresh after the updates', () => client.indices.refresh({ index: INDEX }))
  await step('put alias', () => client.indices.putAlias({ index: INDEX, name: ALIAS }))
  await step('get alias', () => client.indices.getAlias({ name: ALIAS }))
  await step('count by alias', () => client.count({ index: ALIAS }))
  await step('move alias', () => client.indices.updateAliases({ body: { actions: moved } }))
  await step('copy', copy)
  await step('count of the copy', () => client.count({ index: COPY }))
  await step('delete by query', () => client.deleteByQuery({ index: COPY, refresh: true, body: { query: { term: { level: 'INFO' } } } }))
  await step('delete', () => client.delete({ index: INDEX, id: 'own' }))
  await step('delete of nothing', () => client.delete({ index: INDEX, id: 'nobody' }))
  await step('refresh after the deletions', () => client.indices.refresh({ index: 'clients-*' }))
  await step('indices', () => client.cat.indices({ index: 'clients-*', format: 'json', h: 'index,docs.count', s: 'index' }))
  await step('settings', () => client.indices.getSettings({ index: INDEX, name: 'index.number_of_shards' }))
  await step('health', async () => (await client.cluster.health({ index: INDEX, wait_for_status: 'yellow' })).body.status)
  await step('delete alias', () => client.indices.deleteAlias({ index: INDEX, name: ALIAS }))
  await step('delete indices', () => client.indices.delete({ index: `${INDEX},${COPY}` }))
  await step('delete template', () => client.indices.deleteIndexTemplate({ name: 'clients' }))
  await step('get of no template', () => client.indices.getIndexTemplate({ name: 'clients' }))
  await client.close()
  return steps
}

const idsOf = (hits: readonly { readonly _id: string }[]) => hits.map(({ _id }) => _id)

function isAnswer(value: unknown): value is { readonly body: unknown } {
  return typeof value === 'object' && value !== null && 'body' in value && 'statusCode' in value
}
