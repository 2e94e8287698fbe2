/** The load generator: a process of its own that sends until the time is over and prints a `LoadResult` as JSON. */
import { parseArgs } from 'node:util'
import { type Answer, connect, type Lane, type Target } from './load-connection.ts'
import { buildRequestBodies, type RequestBody } from './request-body.ts'

export interface LoadConfig {
  readonly target: Target
  readonly recordsPerRequest: number
  /** Requests in flight. */
  readonly lanes: number
  /** Ends the run, whichever comes first. */
  readonly durationMs: number
  readonly maxRecords?: number
  /** Open loop: planned records per second over all lanes; absent: each lane sends as soon as it got its answer. */
  readonly recordsPerSecond?: number
  readonly distinctRecords: number
  /** Default: 200. */
  readonly pods?: number
  readonly seed: number
}

export interface LoadResult {
  readonly seconds: number
  readonly requests: number
  readonly recordsAccepted: number
  readonly retries: number
  /** How often each answer was seen. */
  readonly statuses: Readonly<Record<string, number>>
  /** Send (or planned send) to final answer, ms. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly loaderCpuSeconds: number
}

const { values } = parseArgs({ options: { config: { type: 'string' } } })
const config = JSON.parse(values.config ?? '') as LoadConfig
process.stdout.write(`${JSON.stringify(await run())}\n`)

async function run(): Promise<LoadResult> {
  const encoding = config.target.protocol === 'http-json' ? 'json' : 'protobuf'
  const bodies = buildRequestBodies(encoding, config.recordsPerRequest, config.distinctRecords, config.seed, config.pods)
  const lanesUsed = Math.min(config.lanes, bodies.length)
  const { lanes, close } = await connect(config.target, lanesUsed)
  const statuses: Record<string, number> = {}
  const latencies: number[] = []
  let sentRecords = 0
  let recordsAccepted = 0
  let retries = 0
  let clockNanos = BigInt(Date.now()) * 1_000_000n

  const startedMs = performance.now()
  const cpu = process.cpuUsage()
  const elapsedMs = () => performance.now() - startedMs
  const isOver = () => elapsedMs() >= config.durationMs || sentRecords >= (config.maxRecords ?? Number.POSITIVE_INFINITY)

  /** Times never repeat, even across requests of one millisecond. */
  const nextTimes = (records: number): bigint => {
    const nowNanos = BigInt(Date.now()) * 1_000_000n
    const from = nowNanos > clockNanos ? nowNanos : clockNanos
    clockNanos = from + BigInt(records)
    return from
  }

  /** Bodies belong to one lane, so that none is overwritten while it is on its way. */
  async function runLane(lane: Lane, own: readonly RequestBody[]): Promise<void> {
    for (let turn = 0; !isOver(); turn += 1) {
      const body = own[turn % own.length]!
      const plannedMs = config.recordsPerSecond === undefined ? elapsedMs() : (sentRecords * 1000) / config.recordsPerSecond
      sentRecords += body.records
      if (plannedMs > elapsedMs()) await sleep(plannedMs - elapsedMs())
      body.renew(nextTimes(body.records))
      const answer = await sendUntilAnswered(lane, body.bytes)
      latencies.push(elapsedMs() - plannedMs)
      if (answer.isAccepted) recordsAccepted += body.records
    }
  }

  async function sendUntilAnswered(lane: Lane, bytes: Buffer): Promise<Answer> {
    for (;;) {
      const answer = await lane.send(bytes)
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      if (answer.retryAfterMs === undefined) return answer
      retries += 1
      await sleep(answer.retryAfterMs)
    }
  }

  await Promise.all(
    lanes.map((lane, i) =>
      runLane(
        lane,
        bodies.filter((_, k) => k % lanesUsed === i),
      ),
    ),
  )
  const seconds = elapsedMs() / 1000
  close()
  const { user, system } = process.cpuUsage(cpu)
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? 0
  return {
    seconds,
    requests: latencies.length,
    recordsAccepted,
    retries,
    statuses,
    latencyMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    loaderCpuSeconds: (user + system) / 1e6,
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
