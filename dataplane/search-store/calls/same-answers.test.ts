import { expect } from 'chai'
import fc from 'fast-check'
import { rounds } from '../../testing/rounds.ts'
import { createProcessRunner, type ProcessRunnerConfig } from '../query-process/process-runner.ts'
import { documents, type Json, LOG_MAPPINGS, queries } from '../testing/arbitrary-search.ts'
import { createLocalRunner } from '../testing/local-runner.ts'
import { startTestStore, type TestStore } from '../testing/test-store.ts'
import type { ClientCall, QueryAnswer, QueryRunner } from './query-call.ts'

const textOf = async ({ pieces }: QueryAnswer): Promise<string> => {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all).toString()
}

const answerOf = async (runner: QueryRunner, call: ClientCall, signal: AbortSignal): Promise<unknown> =>
  runner.run(call, signal).then(
    async answer => ({ status: answer.status, headers: answer.headers, text: (await textOf(answer)).replace(/"took": ?\d+/g, '"took":0') }),
    (error: Error) => ({ ...error, message: error.message }),
  )

/** Answers as the process does, once the thread has answered the same. */
function createComparing(config: ProcessRunnerConfig, differences: unknown[]): QueryRunner {
  const process = createProcessRunner(config)
  const local = createLocalRunner(config)
  return {
    async run(call, signal) {
      const plain = { ...call, acceptsGzip: false }
      const [here, there] = [await answerOf(local, plain, signal), await answerOf(process, plain, signal)]
      try {
        expect(there).to.deep.equal(here)
      } catch {
        differences.push({ call: { ...call, body: call.body.toString() }, here, there })
      }
      return process.run(call, signal)
    },
    get counters() {
      return process.counters
    },
    stop: () => process.stop(),
  }
}

const LOGS = '/service-logs-2026.11.21'

async function write(store: TestStore, docs: readonly Json[], index: string, first: number): Promise<void> {
  const lines = docs.flatMap((doc, at) => [JSON.stringify({ index: { _id: `d${(first + at) % 70}` } }), JSON.stringify(doc)])
  expect((await store.request('POST', `${index}/_bulk`, `${lines.join('\n')}\n`)).status).to.equal(200)
}

const aggs = {
  services: {
    terms: { field: 'service' },
    aggs: { times: { date_histogram: { field: 'timestamp', fixed_interval: '10m' } }, top: { top_hits: { size: 1 } } },
  },
  status: { stats: { field: 'http.status' } },
}

describe('queries in the process and in the thread', () => {
  it('are answered alike, over logs and tables, through aliases, while documents come and go', async () => {
    const differences: unknown[] = []
    const store = await startTestStore({ createQueryRunner: config => createComparing(config, differences) })
    try {
      await store.request('PUT', '/_index_template/logs', { index_patterns: ['service-logs-*'], template: { mappings: LOG_MAPPINGS } })
      const aliases = { carts: { filter: { term: { service: 'cart' } } } }
      for (const index of [LOGS, '/events']) await store.request('PUT', index, { mappings: LOG_MAPPINGS, aliases })
      const sorts = [[], [{ timestamp: 'desc' }], [{ duration_ms: 'asc' }, '_score']]
      const parts = fc.sample(fc.tuple(documents, fc.array(queries, { minLength: 12, maxLength: 24 })), { numRuns: rounds(12), seed: 3 })
      for (const [round, [docs, asked]] of parts.entries()) {
        await write(store, docs, LOGS, round * 13)
        await write(store, docs, '/events', round * 13)
        for (const [at, query] of asked.entries()) {
          const index = ['/service-logs-*', '/events', '/carts', '/_all', '/service-logs-*,absent', ''][at % 6]!
          const body = { query, sort: sorts[at % sorts.length], version: true, seq_no_primary_term: true, ...(at % 4 === 0 && { aggs }) }
          await store.request('POST', `${index}/_search`, body)
          await store.request('POST', `${index}/_count`, { query })
          if (at % 5 === 0) await store.request('POST', `${index}/_validate/query?filter_path=valid`, { query })
          if (at % 7 === 0) {
            const lines = [
              { index: 'events' },
              { query, size: 2 },
              { index: 'absent' },
              {},
              {},
              { query, highlight: { fields: { '*': {} } } },
            ]
            await store.request('POST', `${index}/_msearch?pretty`, `${lines.map(line => JSON.stringify(line)).join('\n')}\n`)
          }
        }
        await store.request('POST', `/carts/_delete_by_query?max_docs=3`, { query: asked[0] ?? { match_all: {} } })
        if (round === Math.floor(parts.length / 2) - 1) {
          await store.request('PUT', `${LOGS}/_mapping`, { properties: { note: { type: 'text', fields: { exact: { type: 'keyword' } } } } })
          await store.request('DELETE', '/events')
        }
      }
      expect(differences.length, JSON.stringify(differences[0])).to.equal(0)
    } finally {
      await store.stop()
    }
  }).timeout(60_000)
})
