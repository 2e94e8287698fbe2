/** Times each query that the console's pages make, over a store of a day: `hack/node hack/bench/console-queries.ts ADDRESS [PART OF NAMES]`, and `npm run bench`. */

import { resolve } from 'node:path'
import { EMPTY_LIVE, liveRequest } from '../../dataplane/console/pages/logs/live/live-buffer.ts'
import { compareBody, otherWindow } from '../../dataplane/console/pages/logs/requests/compare.ts'
import { facetRequests, USUAL_FACETS, valuesBody } from '../../dataplane/console/pages/logs/requests/facets.ts'
import { barMsFor, histogramBody } from '../../dataplane/console/pages/logs/requests/histogram.ts'
import {
  patternCountsBody,
  patternCountsOfBody,
  patternDetailsBody,
  patternsBeforeBody,
} from '../../dataplane/console/pages/logs/requests/patterns.ts'
import { recordBody, recordsBody, surroundingBody } from '../../dataplane/console/pages/logs/requests/records.ts'
import type { SearchBody, SortValues } from '../../dataplane/console/pages/logs/requests/scope.ts'
import { traceBody } from '../../dataplane/console/pages/logs/requests/trace.ts'
import { KNOWN_FIELDS } from '../../dataplane/console/pages/logs/search/field-catalog.ts'
import { MATCH_ALL, translateSearch } from '../../dataplane/console/pages/logs/search/to-query.ts'
import { type TimeWindow, windowBefore } from '../../dataplane/console/url-state/time-range.ts'
import { fillStore } from './fill-store.ts'
import { startServer } from './server-process.ts'
import { fetchText } from './subject.ts'

export interface ConsoleQueryTime {
  readonly query: string
  /** Time of the first request after the start of the store, or after other queries. */
  readonly firstMs: number
  readonly p50Ms: number
  readonly p95Ms: number
}

const RUNS = 20
/** Slow ones are asked less often. */
const MAX_MS = 6_000
const HOUR_MS = 3_600_000

const SEARCHES: Readonly<Record<string, string>> = {
  '': 'everything',
  'level:error': 'a level',
  'service:payment -level:info': 'a service, not a level',
  timeout: 'no such word',
  completed: 'a frequent word',
  'sess*': 'a prefix',
  '"slow acquisition of"': 'a phrase',
  '"completed agent"': 'frequent words, never adjacent',
  '"completed pool"': 'frequent words, never together',
  'duration_ms:>800': 'a range of numbers',
}

interface Answer {
  readonly hits: {
    readonly hits: readonly { readonly _id: string; readonly sort: SortValues; readonly _source: Readonly<Record<string, string>> }[]
  }
  readonly aggregations?: Readonly<Record<string, { readonly buckets: readonly { readonly key: string }[] }>>
}

/** `search`: address of the store. `only`: part of the names of those that are asked. */
async function measureConsoleQueries(
  search: string,
  only = '',
  seen: (query: string, times: readonly number[]) => void = () => undefined,
): Promise<ConsoleQueryTime[]> {
  const ask = async (body: SearchBody): Promise<Answer> =>
    JSON.parse(
      await fetchText(`${search}/service-logs-*/_search?ignore_unavailable=true`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const times: ConsoleQueryTime[] = []
  for (const [query, makeBody] of await bodies(ask, only)) {
    const all: number[] = []
    const startedMs = performance.now()
    for (let run = 0; run <= RUNS && (run < 2 || performance.now() - startedMs < MAX_MS); run++) {
      const body = makeBody(Date.now())
      const beganMs = performance.now()
      // A query that is refused takes its time, too.
      await ask(body).catch(error => console.error(`${query}: ${String(error).slice(0, 300)}`))
      all.push(performance.now() - beganMs)
    }
    seen(query, all)
    const [firstMs, ...rest] = all as [number, ...number[]]
    rest.sort((a, b) => a - b)
    times.push({ query, firstMs, p50Ms: rest[rest.length >> 1]!, p95Ms: rest[Math.floor(rest.length * 0.95)]! })
  }
  return times
}

interface OverviewBodies {
  readonly countsBody: (window: TimeWindow) => SearchBody
  readonly countsBeforeBody: (window: TimeWindow) => SearchBody
  readonly patternsBody: (window: TimeWindow) => SearchBody
  readonly knownPatternsBody: (ids: readonly string[], window: TimeWindow) => SearchBody
  readonly newPatternsBody: (ids: readonly string[], window: TimeWindow) => SearchBody
}

/** Its types are those of a browser, which programs here have not: the compiler is not to follow the import. */
const OVERVIEW: string = '../../dataplane/console/pages/overview/overview-data.ts'

type MakeBody = (nowMs: number) => SearchBody

/** Windows end now, and move on with each request. */
export async function bodies(ask: (body: SearchBody) => Promise<Answer>, only: string): Promise<(readonly [string, MakeBody])[]> {
  const { countsBody, countsBeforeBody, patternsBody, knownPatternsBody, newPatternsBody } = (await import(OVERVIEW)) as OverviewBodies
  const found: [string, MakeBody][] = []
  const newest = (await ask(recordsBody({ query: MATCH_ALL, window: { fromMs: 0, toMs: Date.now() } }, { order: 'newest' }))).hits.hits
  const [record, last] = [newest[5]!, newest.at(-1)!]
  const traced = newest.find(hit => hit._source['trace_id'] !== undefined)!
  found.push(
    ['a record by id', () => recordBody(record._id)],
    ['what was before a record', () => surroundingBody({ sort: record.sort, side: 'before', service: undefined })],
    [
      'what came after it, of its service',
      () => surroundingBody({ sort: record.sort, side: 'after', service: record._source['service']! }),
    ],
    ['a trace', () => traceBody(traced._source['trace_id']!)],
    ['live', nowMs => liveRequest({ query: MATCH_ALL }, EMPTY_LIVE, nowMs).body],
    ['any record', () => ({ size: 1, _source: false, track_total_hits: false })],
    ['overview: newest', () => ({ size: 1, sort: [{ timestamp: 'desc' }], _source: ['timestamp'], track_total_hits: false })],
  )
  for (const hours of [1, 24]) {
    if (only !== '' && !only.includes(' h')) break
    const back = (nowMs: number): TimeWindow => ({ fromMs: nowMs - hours * HOUR_MS, toMs: nowMs })
    const here = (name: string, make: (window: TimeWindow) => SearchBody) => found.push([`${hours} h, ${name}`, nowMs => make(back(nowMs))])
    const loud = (await ask(patternsBody(back(Date.now())))).aggregations!['patterns']!.buckets.map(({ key }) => key)
    here('overview: counts', countsBody)
    here('overview: counts before', window => countsBeforeBody(windowBefore(window)))
    here('overview: loud patterns', patternsBody)
    here('overview: those known before', window => knownPatternsBody(loud, window))
    here('overview: new patterns', window => newPatternsBody(loud.slice(-5), window))
    here('values of a field', window => valuesBody('service', 'pa', window, KNOWN_FIELDS))
    for (const [text, what] of Object.entries(SEARCHES)) {
      const translated = translateSearch(text, KNOWN_FIELDS)
      if (!translated.ok) throw new Error(`no search: ${text}`)
      const { query } = translated
      const scoped = (name: string, make: (scope: { query: typeof query; window: TimeWindow }) => SearchBody) =>
        here(`${name}, ${what}`, window => make({ query, window }))
      scoped('records', scope => recordsBody(scope, { order: 'newest' }))
      scoped('histogram', scope => histogramBody(scope, barMsFor(scope.window, 90)))
      for (const { fields } of facetRequests(text, back(Date.now()), USUAL_FACETS, KNOWN_FIELDS))
        here(
          `facets ${fields.join()}, ${what}`,
          window => facetRequests(text, window, USUAL_FACETS, KNOWN_FIELDS).find(one => one.fields.join() === fields.join())!.body,
        )
      if (!['everything', 'a level', 'a frequent word'].includes(what)) continue
      const scope = { query, window: back(Date.now()) }
      const ids = (await ask(patternCountsBody(scope))).aggregations!['patterns']!.buckets.map(({ key }) => key)
      scoped('next records', own => recordsBody(own, { order: 'newest', after: last.sort }))
      scoped('oldest records', own => recordsBody(own, { order: 'oldest' }))
      scoped('patterns', patternCountsBody)
      scoped('patterns before', patternsBeforeBody)
      scoped('patterns of before', own => patternCountsOfBody(own, ids))
      scoped('details of patterns', own => patternDetailsBody(own, ids))
      scoped('compare', own => compareBody(query, own.window))
      scoped('compare with before', own => compareBody(query, otherWindow(own.window, 'before')))
    }
  }
  // The two that were slowest, over all that is stored.
  found.push(
    ['all patterns', () => ({ size: 0, aggs: { patterns: { terms: { field: 'pattern_id', size: 50 } } } })],
    [
      'newest 50, words never adjacent',
      () => ({ size: 50, sort: [{ timestamp: 'desc' }], query: { match_phrase: { message: 'completed agent' } } }),
    ],
    [
      'newest 50, words never together',
      () => ({ size: 50, sort: [{ timestamp: 'desc' }], query: { match_phrase: { message: 'completed pool' } } }),
    ],
    [
      'newest 50, in each but never adjacent',
      () => ({ size: 50, sort: [{ timestamp: 'desc' }], query: { match_phrase: { message: 'route cache' } } }),
    ],
  )
  return found.filter(([query]) => query.includes(only))
}

/** The same on a store of its own that was just filled, so that nothing is cached: role `search` in a process of its own. */
export async function measureFilledStore(records: number): Promise<ConsoleQueryTime[]> {
  const program = resolve(import.meta.dirname, '../../dataplane/main.ts')
  const server = await startServer(
    (port, dataDir) => ({
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', program, 'search'],
      env: { HOST: '127.0.0.1', SEARCH_PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
    }),
    '/_cluster/health',
  )
  try {
    const search = `http://127.0.0.1:${server.port}`
    await fillStore(search, records, Date.now())
    return await measureConsoleQueries(search)
  } finally {
    await server.remove()
  }
}

if (import.meta.main) {
  const [search, only] = process.argv.slice(2)
  const { formatTable } = await import('./table.ts')
  const times = await measureConsoleQueries(search!, only, (query, all) => console.error(query, all.slice(0, 4).map(Math.round).join()))
  console.log(
    formatTable(
      ['query', 'first ms', 'p50 ms', 'p95 ms'],
      times.map(t => [t.query, t.firstMs, t.p50Ms, t.p95Ms]),
    ),
  )
}
