/** Sends records to a collector, in their order, one request at a time. */
import { backOffMs } from '../../limits/back-off.ts'
import type { Clock } from '../../ports/clock.ts'
import { DemoProblem } from './demo-problem.ts'
import { toExportRequest } from './export-request.ts'
import type { ShopRecord } from './services.ts'

/** OTLP: answers after which the same request may come again. */
const BUSY = new Set([429, 502, 503, 504])
const PAUSE = { firstMs: 500, maxMs: 5_000 }
const MAX_FAILURES = 8
const REQUEST_TIMEOUT_MS = 30_000
export const MAX_RECORDS_OF_REQUEST = 1_000
/** However much is to be sent: others use the collector, too. */
const MAX_RECORDS_PER_SECOND = 20_000

export interface Collector {
  /** Resolves when the records are safe, or when `signal` aborts. Throws a `DemoProblem`. */
  send(records: readonly ShopRecord[], signal: AbortSignal): Promise<void>
}

interface CollectorOptions {
  readonly logsUrl: string
  readonly tenant: string
}

export function createCollector({ logsUrl, tenant }: CollectorOptions, clock: Clock): Collector {
  const post = async (body: string, signal: AbortSignal): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    for (let failures = 1; ; failures++) {
      const status = await request(logsUrl, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      })
      if (signal.aborted || status === 200) return
      if (typeof status === 'string') throw new DemoProblem(unreachable(logsUrl, status))
      if (!BUSY.has(status))
        throw new DemoProblem(`${logsUrl} answered ${status}: is this the OTLP endpoint of a logpipeline? (--endpoint)`)
      if (failures >= MAX_FAILURES)
        throw new DemoProblem(`${logsUrl} is too busy: it answered ${status} ${failures} times, try again later`)
      await clock.sleep(backOffMs(PAUSE, failures), signal)
    }
  }
  return {
    async send(records, signal) {
      for (let at = 0; at < records.length && !signal.aborted; at += MAX_RECORDS_OF_REQUEST) {
        const startedMs = clock.nowMs()
        const part = records.slice(at, at + MAX_RECORDS_OF_REQUEST)
        await post(toExportRequest(part, tenant), signal)
        const leastMs = (part.length * 1_000) / MAX_RECORDS_PER_SECOND
        await clock.sleep(Math.max(0, leastMs - (clock.nowMs() - startedMs)), signal)
      }
    },
  }
}

/** The status of the answer, or why there is none. */
async function request(url: string, init: RequestInit): Promise<number | string> {
  try {
    const response = await fetch(url, init)
    await response.arrayBuffer()
    return response.status
  } catch (error) {
    return causeOf(error)
  }
}

export function causeOf(error: unknown): string {
  const { cause, message } = error as Error
  if (!(cause instanceof Error)) return message
  return cause.message || ('code' in cause ? String(cause.code) : message)
}

function unreachable(url: string, problem: string): string {
  return `no logpipeline answers at ${url} (${problem}).
Start one with \`npm start\` (or \`logpipeline standalone\`) in another terminal, or say with --endpoint where it listens for OTLP over HTTP.`
}
