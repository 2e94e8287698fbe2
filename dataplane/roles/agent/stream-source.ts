/** Asks stream processes for their state, at addresses from the settings. */
import { lookup } from 'node:dns/promises'
import { STREAM_PROCESSES, type StreamProcessName } from '../../contract/stream-jobs.ts'
import type { Clock } from '../../ports/clock.ts'

export type JobState = 'RUNNING' | 'FAILED' | 'SUSPENDED'

/** One stream job, with `uptimeMs` 0 unless it is running. */
export interface StreamJob {
  readonly name: string
  readonly state: JobState
  /** Processes that work on it. */
  readonly taskManagers: number
  readonly uptimeMs: number
}

/** A process of the product whose address a setting names (Decisions 2: ETL and enrichment are two steps of one). */
export interface StreamProcess {
  readonly name: StreamProcessName
  /** Base URL of its health and metrics; a host name with several addresses stands for several processes. */
  readonly endpoint: string
}

export interface StreamDeps {
  readonly clock: Clock
  /** All addresses of a host name. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

const ANSWER_WITHIN_MS = 2_000

/** The product's own stream jobs, from the health of the processes that run them. */
export async function readStreamJobs(processes: readonly StreamProcess[], deps: StreamDeps): Promise<readonly StreamJob[]> {
  const states = await Promise.all(processes.map(({ endpoint }) => readProcess(endpoint, deps)))
  return processes.flatMap(({ name }, i) => STREAM_PROCESSES[name].jobs.map(job => ({ name: job, ...states[i]! })))
}

/** Never rejects: a process that does not answer has failed. */
async function readProcess(endpoint: string, deps: StreamDeps): Promise<Omit<StreamJob, 'name'>> {
  const instances = await addressesOf(endpoint, deps)
  const startTimes = (await Promise.all(instances.map(readStartTime))).filter(startMs => startMs !== undefined)
  if (startTimes.length === 0) return { state: 'FAILED', taskManagers: 0, uptimeMs: 0 }
  const uptimeMs = Math.max(0, deps.clock.nowMs() - Math.min(...startTimes))
  return { state: 'RUNNING', taskManagers: startTimes.length, uptimeMs }
}

/** Behind TLS the name is needed to check the certificate, so it stays as it is. */
async function addressesOf(endpoint: string, { resolve = resolveAll }: StreamDeps): Promise<readonly string[]> {
  const url = new URL(endpoint)
  if (url.protocol !== 'http:') return [endpoint]
  const addresses = await resolve(url.hostname).catch(() => [])
  return addresses.map(address => `http://${address.includes(':') ? `[${address}]` : address}:${url.port || 80}${url.pathname}`)
}

/** Addresses of one family: with both, each process would count twice. */
async function resolveAll(host: string): Promise<readonly string[]> {
  const found = await lookup(host.replace(/^\[|\]$/g, ''), { all: true })
  return found.filter(({ family }) => family === found[0]!.family).map(({ address }) => address)
}

/** When a healthy process started, ms since the epoch; undefined when it is not healthy. */
async function readStartTime(baseUrl: string): Promise<number | undefined> {
  const base = baseUrl.replace(/\/$/, '')
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
  try {
    const [health, metrics] = await Promise.all([fetch(`${base}/health`, { signal }), fetch(`${base}/metrics`, { signal })])
    const [, text] = await Promise.all([health.arrayBuffer(), metrics.text()])
    const [, seconds] = /^process_start_time_seconds ([\d.e+]+)$/m.exec(text) ?? []
    return health.ok && seconds !== undefined ? Number(seconds) * 1_000 : undefined
  } catch {
    // Whatever keeps it from answering: it does not work.
    return undefined
  }
}
