/** Query times and their CPU cost as stored data grows. */
import { postMarker } from './freshness.ts'
import type { Target } from './load-connection.ts'
import { cpuSeconds, type ResidentMemory, residentMemory } from './process-usage.ts'
import { Random } from './random.ts'
import type { Subject } from './subject.ts'
import { sendLoad, untilSearchable } from './throughput.ts'

export interface QueryTime {
  readonly query: string
  readonly p50Ms: number
  readonly maxMs: number
  readonly cpuMs: number
}

export interface QueryTimesResult {
  readonly subject: string
  readonly storedRecords: number
  readonly memory: ResidentMemory
  readonly queries: readonly QueryTime[]
}

const RECORDS_PER_REQUEST = 1_000
const WARM_UP = 3
const REPETITIONS = 21
/** CPU time is counted in hundredths of a second: a query is repeated until this much time has passed. */
const MIN_QUERY_MS = 1_000
const MAX_REPETITIONS = 2_000

/** Fills the subject to each of `sizes` in turn and times its queries there. */
export async function measureQueryTimes(subject: Subject, target: Target, sizes: readonly number[]): Promise<QueryTimesResult[]> {
  const results: QueryTimesResult[] = []
  const rareWord = `rare${new Random(Date.now()).hex(12)}`
  let stored = 0
  for (const size of sizes) {
    const load = await sendLoad(target, RECORDS_PER_REQUEST, { durationMs: 600_000, maxRecords: size - stored })
    stored += load.recordsAccepted
    if (results.length === 0) {
      await postMarker(target, `a line with ${rareWord} in it`)
      stored += 1
    }
    await untilSearchable(subject, stored)
    const queries: QueryTime[] = []
    for (const [query, ask] of Object.entries(await subject.queries(rareWord))) queries.push(await timeQuery(subject.pid, query, ask))
    results.push({ subject: subject.name, storedRecords: stored, memory: residentMemory(subject.pid), queries })
  }
  return results
}

async function timeQuery(pid: number, query: string, ask: () => Promise<unknown>): Promise<QueryTime> {
  for (let i = 0; i < WARM_UP; i += 1) await ask()
  const times: number[] = []
  const cpuBefore = cpuSeconds(pid)
  const startedMs = performance.now()
  while (times.length < REPETITIONS || (performance.now() - startedMs < MIN_QUERY_MS && times.length < MAX_REPETITIONS)) {
    const beganMs = performance.now()
    await ask()
    times.push(performance.now() - beganMs)
  }
  const cpuMs = ((cpuSeconds(pid) - cpuBefore) * 1000) / times.length
  times.sort((a, b) => a - b)
  return { query, p50Ms: times[Math.floor(times.length / 2)]!, maxMs: times.at(-1)!, cpuMs }
}
