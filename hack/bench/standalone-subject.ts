/** logpipeline standalone as it is started by a user, with a directory and ports of its own. */
import { resolve } from 'node:path'
import { startStandalone } from '../../e2e/testing/standalone-process.ts'
import type { Protocol, Target } from './load-connection.ts'
import { fetchText, type QueryName, type Subject } from './subject.ts'

const LOGS = 'service-logs-*'
const NEWEST_FIRST = [{ timestamp: 'desc' }]
const LAST_HOUR = { range: { timestamp: { gte: 'now-1h' } } }

interface SearchAnswer {
  readonly hits: {
    readonly total: { readonly value: number }
    readonly hits: readonly { readonly _index: string; readonly _id: string; readonly _source: { readonly message: string } }[]
  }
}

/** `checkout`: the folder of another version of the product, told by `name` from this one. */
export async function startStandaloneSubject(
  env: Readonly<Record<string, string>> = {},
  { name = 'logpipeline', checkout }: { readonly name?: string; readonly checkout?: string } = {},
): Promise<Subject & { readonly search: string }> {
  const standalone = await startStandalone(env, checkout === undefined ? {} : { program: resolve(checkout, 'hack/logpipeline') })
  const search = async (body: object): Promise<SearchAnswer> =>
    JSON.parse(
      await fetchText(`${standalone.search}/${LOGS}/_search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const newest = (query: object, size = 50) => ({ size, sort: NEWEST_FIRST, query })
  const histogram = (filter: readonly object[]) => ({
    size: 0,
    query: { bool: { filter: [LAST_HOUR, ...filter] } },
    aggs: { times: { date_histogram: { field: 'timestamp', fixed_interval: '1m' } } },
  })

  return {
    name,
    pid: standalone.pid,
    dataDir: standalone.dataDir,
    search: standalone.search,
    target: protocol => targetOf(protocol, protocol === 'grpc' ? `http://${standalone.grpc}` : standalone.collector),
    async count() {
      const { count } = JSON.parse(await fetchText(`${standalone.search}/${LOGS}/_count`)) as { readonly count: number }
      return count
    },
    async newestMessages(word) {
      const { hits } = await search(newest({ match: { message: word } }, 500))
      return hits.hits.map(hit => hit._source.message)
    },
    async queries(rareWord) {
      const found = await search(newest({ match: { message: rareWord } }))
      const { _index, _id } = found.hits.hits[0] ?? { _index: '', _id: '' }
      const byName: Record<QueryName, () => Promise<unknown>> = {
        'newest 50, a word': () => search(newest({ match: { message: 'HikariPool' } })),
        'newest 50, a phrase': () => search(newest({ match_phrase: { message: 'slow acquisition of' } })),
        'a rare word': () => search(newest({ match: { message: rareWord } })),
        'histogram, 1 h by minute': () => search(histogram([])),
        'histogram with a word': () => search(histogram([{ match: { message: 'HikariPool' } }])),
        'level and time range': () => search(newest({ bool: { filter: [LAST_HOUR, { term: { level: 'ERROR' } }] } })),
        'by id': () => fetchText(`${standalone.search}/${_index}/_doc/${_id}`),
      }
      return byName
    },
    remove: () => standalone.remove(),
  }
}

function targetOf(protocol: Protocol, address: string): Target {
  const { hostname, port } = new URL(address)
  return { protocol, host: hostname, port: Number(port), path: '/v1/logs' }
}
