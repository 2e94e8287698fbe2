/** Load for a collector that will be killed: a process of its own that sends until the server is gone and prints a `KilledLoadResult` as JSON. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect, type Lane, type Target } from '../load-connection.ts'
import { buildRequestBodies, type RequestBody } from '../request-body.ts'

export interface KilledLoadConfig {
  readonly target: Target
  readonly recordsPerRequest: number
  /** Requests in flight. */
  readonly lanes: number
  readonly seed: number
}

export interface KilledLoadResult {
  /** Until the last answer. */
  readonly seconds: number
  readonly recordsSent: number
  /** Requests that were answered with success. Each record carries a number of its own as its time: `from` and those after it. */
  readonly accepted: readonly AcceptedRequest[]
  /** How often each answer was seen. */
  readonly statuses: Readonly<Record<string, number>>
}

export interface AcceptedRequest {
  /** Nanoseconds since 1970, 19 digits. */
  readonly from: string
  readonly records: number
}

const DISTINCT_RECORDS = 10_000

const { values } = parseArgs({ options: { config: { type: 'string' } } })
const config = JSON.parse(values.config ?? '') as KilledLoadConfig
process.stdout.write(`${JSON.stringify(await run())}\n`)

async function run(): Promise<KilledLoadResult> {
  const encoding = config.target.protocol === 'http-json' ? 'json' : 'protobuf'
  const bodies = buildRequestBodies(encoding, config.recordsPerRequest, DISTINCT_RECORDS, config.seed)
  const { lanes } = await connect(config.target, config.lanes)
  const startedMs = performance.now()
  const accepted: AcceptedRequest[] = []
  const statuses: Record<string, number> = {}
  let nextTime = BigInt(Date.now()) * 1_000_000n
  let recordsSent = 0
  let lastAnswerMs = startedMs
  let isGone = false

  async function runLane(lane: Lane, own: readonly RequestBody[]): Promise<void> {
    for (let turn = 0; !isGone; turn += 1) {
      const body = own[turn % own.length]!
      const from = nextTime
      nextTime += BigInt(body.records)
      body.renew(from)
      recordsSent += body.records
      if (await sendUntilAccepted(lane, body.bytes)) accepted.push({ from: String(from), records: body.records })
    }
  }

  /** False when the server refused the request for good, or is gone. */
  async function sendUntilAccepted(lane: Lane, bytes: Buffer): Promise<boolean> {
    while (!isGone) {
      const { status, isAccepted, retryAfterMs } = await lane.send(bytes)
      lastAnswerMs = performance.now()
      statuses[status] = (statuses[status] ?? 0) + 1
      if (retryAfterMs === undefined) return isAccepted
      await sleep(retryAfterMs)
    }
    return false
  }

  const running = lanes.map(async (lane, i) => {
    const own = bodies.filter((_, k) => k % lanes.length === i)
    try {
      await runLane(lane, own)
    } catch {
      isGone = true // the connection broke
    }
  })
  await Promise.all(running)
  return { seconds: (lastAnswerMs - startedMs) / 1000, recordsSent, accepted, statuses }
}
