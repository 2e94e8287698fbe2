/** Times of the console's usual questions while records come in at a steady rate, over a store that is full already. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { facetRequests, USUAL_FACETS } from '../../dataplane/console/pages/logs/requests/facets.ts'
import { barMsFor, histogramBody } from '../../dataplane/console/pages/logs/requests/histogram.ts'
import { patternCountsBody } from '../../dataplane/console/pages/logs/requests/patterns.ts'
import { recordsBody } from '../../dataplane/console/pages/logs/requests/records.ts'
import type { SearchBody } from '../../dataplane/console/pages/logs/requests/scope.ts'
import { KNOWN_FIELDS } from '../../dataplane/console/pages/logs/search/field-catalog.ts'
import { translateSearch } from '../../dataplane/console/pages/logs/search/to-query.ts'
import type { TimeWindow } from '../../dataplane/console/url-state/time-range.ts'
import { fillDirectory } from './fill-store.ts'
import type { Target } from './load-connection.ts'
import { cpuSeconds, residentMemory } from './process-usage.ts'
import { type Quantiles, quantiles } from './quantiles.ts'
import { startStandaloneSubject } from './standalone-subject.ts'
import { fetchText, type Subject } from './subject.ts'
import { sendLoad, untilSearchable } from './throughput.ts'

export interface QueriesBesideResult {
  readonly storedRecords: number
  readonly recordsPerSecond: {
    readonly planned: number
    readonly accepted: number
    /** From the first request until the last accepted record was searchable. */
    readonly searchable: number
  }
  readonly queries: readonly { readonly query: string; readonly asked: number; readonly times: Quantiles }[]
  /** Planned send to answer. */
  readonly postToAnswerMs: { readonly p50: number; readonly p99: number; readonly max: number }
  /** Queries included. */
  readonly cores: number
  readonly peakMb: number
}

const RECORDS_PER_REQUEST = 100
/** A question is asked so long after the one before, or once that one is answered. */
const ASK_EVERY_MS = 50
const HOUR_MS = 3_600_000

type MakeBody = (window: TimeWindow) => SearchBody

/** The bodies that the console sends, over the last 24 hours. */
function usualQueries(): Readonly<Record<string, MakeBody>> {
  const scoped = (text: string, make: (scope: { query: ReturnType<typeof queryOf>; window: TimeWindow }) => SearchBody): MakeBody => {
    const query = queryOf(text)
    return window => make({ query, window })
  }
  const newest = (text: string) => scoped(text, scope => recordsBody(scope, { order: 'newest', size: 50 }))
  return {
    'newest 50': newest(''),
    'newest 50, a phrase': newest('"slow acquisition of"'),
    'histogram with a word': scoped('completed', scope => histogramBody(scope, barMsFor(scope.window, 90))),
    facets: window => facetRequests('', window, USUAL_FACETS, KNOWN_FIELDS)[0]!.body,
    'most frequent patterns': scoped('', patternCountsBody),
  }
}

function queryOf(text: string) {
  const translated = translateSearch(text, KNOWN_FIELDS)
  if (!translated.ok) throw new Error(`no search: ${text}`)
  return translated.query
}

/** Fills a store of its own, starts a standalone on it, and measures at each rate in turn. */
export async function measureQueriesBeside(records: number, rates: readonly number[], durationMs: number): Promise<QueriesBesideResult[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'logpipeline-bench-'))
  try {
    await fillDirectory(dataDir, records, Date.now())
    return await measureOnStore(dataDir, records, rates, durationMs)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The same on a data directory that holds `stored` records. */
async function measureOnStore(
  dataDir: string,
  stored: number,
  rates: readonly number[],
  durationMs: number,
): Promise<QueriesBesideResult[]> {
  const subject = await startStandaloneSubject({ DATA_DIR: dataDir })
  const target = subject.target('http-protobuf')!
  const results: QueriesBesideResult[] = []
  try {
    await untilSearchable(subject, stored)
    let total = stored
    // The first questions after a start are another section's, and so are the first records.
    total += (await measureAt(subject, target, total, rates[0]!, durationMs / 4)).accepted
    for (const rate of rates) {
      const { accepted, result } = await measureAt(subject, target, total, rate, durationMs)
      total += accepted
      results.push(result)
    }
    return results
  } finally {
    await subject.remove()
  }
}

async function measureAt(
  subject: Subject & { readonly search: string },
  target: Target,
  stored: number,
  rate: number,
  durationMs: number,
): Promise<{ readonly accepted: number; readonly result: QueriesBesideResult }> {
  const cpuBefore = cpuSeconds(subject.pid)
  const startedMs = performance.now()
  let isLoaded = false
  const asking = askByTurns(subject.search, () => isLoaded)
  const load = await sendLoad(target, RECORDS_PER_REQUEST, { durationMs, recordsPerSecond: rate })
  isLoaded = true
  const loadedMs = performance.now() - startedMs
  const cores = (cpuSeconds(subject.pid) - cpuBefore) / (loadedMs / 1000)
  const times = await asking
  await untilSearchable(subject, stored + load.recordsAccepted)
  // The load process reports its own time without its start-up.
  const seconds = load.seconds + (performance.now() - startedMs - loadedMs) / 1000
  const { recordsAccepted } = load
  return {
    accepted: recordsAccepted,
    result: {
      storedRecords: stored,
      recordsPerSecond: { planned: rate, accepted: recordsAccepted / load.seconds, searchable: recordsAccepted / seconds },
      queries: [...times].map(([query, all]) => ({ query, asked: all.length, times: quantiles(all) })),
      postToAnswerMs: load.latencyMs,
      cores,
      peakMb: residentMemory(subject.pid).peakMb,
    },
  }
}

/** Times of each question, ms, as they were asked one after the other until `isOver`. */
async function askByTurns(search: string, isOver: () => boolean): Promise<ReadonlyMap<string, readonly number[]>> {
  const queries = Object.entries(usualQueries())
  const times = new Map(queries.map(([name]) => [name, [] as number[]]))
  for (let turn = 0; !isOver(); turn++) {
    const [name, makeBody] = queries[turn % queries.length]!
    const toMs = Date.now()
    const body = JSON.stringify(makeBody({ fromMs: toMs - 24 * HOUR_MS, toMs }))
    const beganMs = performance.now()
    await fetchText(`${search}/service-logs-*/_search?ignore_unavailable=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const tookMs = performance.now() - beganMs
    times.get(name)!.push(tookMs)
    if (tookMs < ASK_EVERY_MS) await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS - tookMs))
  }
  return times
}
