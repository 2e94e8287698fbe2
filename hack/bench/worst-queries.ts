/** Losses of ingestion and health while the search store is asked the worst queries that are known. */
import type { LoadResult } from './load.ts'
import type { Target } from './load-connection.ts'
import { residentMemory } from './process-usage.ts'
import type { Subject } from './subject.ts'
import { sendLoad, untilSearchable } from './throughput.ts'

export interface WorstQueriesResult {
  readonly recordsPerSecond: { readonly planned: number; readonly alone: number; readonly beside: number }
  /** POST to answer of the collector; of the worst stretch. */
  readonly answerMs: { readonly alone: LoadResult['latencyMs']; readonly beside: LoadResult['latencyMs'] }
  /** Time until the last record sent was searchable, after the load. */
  readonly settleMs: { readonly alone: number; readonly beside: number }
  readonly healthMs: { readonly alone: HealthTimes; readonly beside: HealthTimes }
  readonly peakMb: number
  readonly queries: readonly { readonly name: string; readonly answers: string; readonly seconds: number }[]
}

export interface HealthTimes {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly failed: number
}

const RECORDS_PER_REQUEST = 100
const HEALTH_EVERY_MS = 50
const QUERY_LIMIT_MS = 45_000
const HANG_UP_MS = 500
const LOGS = 'service-logs-*'
/** Longest term that is indexed. */
const TERM_BYTES = 32_000

type Ask = (method: string, path: string, body?: string, limitMs?: number) => Promise<number | 'cut off'>

/** Loads `subject` for `durationMs` alone, and then until each of the worst queries was asked, one after the other. */
export async function measureWorstQueries(
  subject: Subject & { readonly search: string },
  target: Target,
  recordsPerSecond: number,
  durationMs: number,
): Promise<WorstQueriesResult> {
  const ask = asker(subject.search)
  let stored = (await sendLoad(target, RECORDS_PER_REQUEST, { durationMs: durationMs / 2 })).recordsAccepted
  await untilSearchable(subject, stored)
  await prepare(ask)

  /** Loads at least once, and until `isOver`. */
  const measure = async (isOver: () => boolean) => {
    const health = watchHealth(subject.search)
    const loads: LoadResult[] = []
    do {
      loads.push(await sendLoad(target, RECORDS_PER_REQUEST, { durationMs, recordsPerSecond }))
    } while (!isOver())
    const healthMs = await health.stop()
    const records = sumOf(loads, load => load.recordsAccepted)
    stored += records
    const beganMs = performance.now()
    await untilSearchable(subject, stored)
    return {
      rate: records / sumOf(loads, load => load.seconds),
      answerMs: loads.map(load => load.latencyMs).reduce((a, b) => (a.p99 > b.p99 ? a : b)),
      settleMs: performance.now() - beganMs,
      healthMs,
    }
  }

  const alone = await measure(() => true)
  let isAsked = false
  const asking = askInTurn(ask).finally(() => {
    isAsked = true
  })
  const beside = await measure(() => isAsked)
  return {
    recordsPerSecond: { planned: recordsPerSecond, alone: alone.rate, beside: beside.rate },
    answerMs: { alone: alone.answerMs, beside: beside.answerMs },
    settleMs: { alone: alone.settleMs, beside: beside.settleMs },
    healthMs: { alone: alone.healthMs, beside: beside.healthMs },
    peakMb: residentMemory(subject.pid).peakMb,
    queries: await asking,
  }
}

const sumOf = (loads: readonly LoadResult[], figure: (load: LoadResult) => number) => loads.reduce((sum, load) => sum + figure(load), 0)

function asker(search: string): Ask {
  return async (method, path, body, limitMs = QUERY_LIMIT_MS) => {
    try {
      const response = await fetch(search + path, {
        method,
        ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
        signal: AbortSignal.timeout(limitMs),
      })
      await response.arrayBuffer()
      return response.status
    } catch {
      return 'cut off'
    }
  }
}

/** An index of long terms, one of many fields. */
async function prepare(ask: Ask): Promise<void> {
  await ask('PUT', '/long-terms', JSON.stringify({ mappings: { properties: { term: { type: 'keyword' } } } }))
  const term = 'a'.repeat(TERM_BYTES)
  const long = Array.from({ length: 130 }, (_none, at) => `{"index":{}}\n{"term":"${term}${at}"}\n`)
  await ask('POST', '/long-terms/_bulk', long.join(''))
  const settings = { index: { mapping: { total_fields: { limit: 4000 } } } }
  await ask('PUT', '/many-fields', JSON.stringify({ settings, mappings: { dynamic: true } }))
  const wide = (from: number) => Object.fromEntries(Array.from({ length: 1450 }, (_none, at) => [`field_${from + at}`, `word ${at}`]))
  await ask('POST', '/many-fields/_doc', JSON.stringify(wide(0)))
}

const nested = (levels: number): object => {
  const fields = ['trace_id', 'span_id', 'message.keyword', 'service', 'level', 'timestamp', 'log_id', 'tenant_id', 'host', 'log_level']
  let aggs: object | undefined
  for (let level = levels - 1; level >= 0; level--)
    aggs = { a: { terms: { field: fields[level], size: 10_000 }, ...(aggs !== undefined && { aggs }) } }
  return aggs!
}

const many = (count: number, of: (at: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_none, at) => [`m${at}`, of(at)]))
const search = (body: object): readonly [string, string] => [`/${LOGS}/_search`, JSON.stringify({ size: 0, ...body })]
const below = (aggs: object) => search({ aggs: { all: { terms: { field: 'trace_id', size: 100_000 }, aggs } } })
const words = (count: number) => Array.from({ length: count }, (_none, at) => `w${at}`).join(' ')

const WORST: Readonly<Record<string, (ask: Ask) => Promise<readonly (number | 'cut off')[]>>> = {
  'ids, 2,000': one(search({ query: { ids: { values: Array.from({ length: 2000 }, (_none, at) => `0000${at}-none`) } } })),
  'a wildcard of 1,000 characters': one([
    '/long-terms/_search',
    JSON.stringify({ query: { wildcard: { term: `*${'a*'.repeat(495)}b` } } }),
  ]),
  'a wildcard on every message': one(search({ query: { wildcard: { message: '*s*l*o*w*zzz*' } }, track_total_hits: true })),
  'terms, 6 levels': one(search({ aggs: nested(6) })),
  'terms, 10 levels': one(search({ aggs: nested(10) })),
  '60 searches of 10,000 hits': one([`/${LOGS}/_msearch`, `{}\n{"size":10000}\n`.repeat(60)]),
  '20 percentiles below 100,000 terms': one(below(many(20, () => ({ percentiles: { field: 'timestamp' } })))),
  '200 aggregations below 100,000 terms': one(below(many(200, () => ({ stats: { field: 'timestamp' } })))),
  '500 filters below 100,000 terms': one(below(many(500, at => ({ filter: { term: { level: `L${at}` } } })))),
  '80 double stars': one([`/${LOGS}/_search?size=1000&filter_path=${Array.from({ length: 80 }, () => '**').join('.')}.x`, '{}']),
  '1,000 words over 1,450 fields': one(['/many-fields/_search', JSON.stringify({ query: { query_string: { query: words(1000) } } })]),
  '200 query strings over all fields': one(
    search({ query: { bool: { should: Array.from({ length: 200 }, (_none, at) => ({ query_string: { query: `w${at} x${at}` } })) } } }),
  ),
  '40 whose clients hang up': ask =>
    Promise.all(
      Array.from({ length: 40 }, () => {
        const [path, body] = search({ query: { wildcard: { message: '*a*e*i*o*u*zzz' } }, aggs: nested(3) })
        return ask('POST', path, body, HANG_UP_MS)
      }),
    ),
}

function one([path, body]: readonly [string, string]): (ask: Ask) => Promise<readonly (number | 'cut off')[]> {
  return async ask => [await ask('POST', path, body)]
}

async function askInTurn(ask: Ask): Promise<WorstQueriesResult['queries']> {
  const asked: { name: string; answers: string; seconds: number }[] = []
  for (const [name, run] of Object.entries(WORST)) {
    const beganMs = performance.now()
    const answers = Object.entries(Object.groupBy(await run(ask), String)).map(([answer, of]) => `${answer} × ${of!.length}`)
    asked.push({ name, answers: answers.join(', '), seconds: (performance.now() - beganMs) / 1000 })
  }
  return asked
}

function watchHealth(search: string): { stop(): Promise<HealthTimes> } {
  const times: number[] = []
  let failed = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const beganMs = performance.now()
      const isWell = await fetch(`${search}/_cluster/health`).then(
        async response => response.ok && (await response.arrayBuffer()).byteLength > 0,
        () => false,
      )
      if (!isWell) failed += 1
      times.push(performance.now() - beganMs)
      await new Promise(resolve => setTimeout(resolve, HEALTH_EVERY_MS))
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      times.sort((a, b) => a - b)
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0
      return { p50: at(0.5), p99: at(0.99), max: at(1), failed }
    },
  }
}
