/** Sends single requests to a collector and decides what its answers mean. */
import { backOffMs } from '../../limits/back-off.ts'
import { retryAfterMs } from '../../limits/retry-after.ts'
import type { Clock } from '../../ports/clock.ts'
import { atFirstUse } from '../../process/at-first-use.ts'
import type { ReplayConfig } from './replay-options.ts'

export type SendOutcome =
  /** `rejected` counts the records of a partial success that were not taken; `message` is the collector's word on it. */
  | { readonly status: 'answered'; readonly rejected: number; readonly message: string; readonly retries: number }
  | { readonly status: 'failed'; readonly reason: string; readonly retries: number }

export interface CollectorClient {
  /** Never rejects. Gives up waiting between attempts when `signal` aborts. */
  send(body: Buffer | string, signal: AbortSignal): Promise<SendOutcome>
  close(): Promise<void>
}

/** OTLP: the answers after which the same request may be sent again. */
const RETRYABLE = new Set([429, 502, 503, 504])
const REQUEST_TIMEOUT_MS = 60_000
/** Without chance, since one command alone sends. */
const PAUSE = { firstMs: 500, maxMs: 10_000 }
const LONGEST_PAUSE_MS = 120_000

type Attempt =
  | { readonly done: true; readonly rejected: number; readonly message: string }
  | { readonly done: false; readonly reason: string; readonly retryable: boolean; readonly pauseMs?: number }

export function createCollectorClient(
  config: Pick<ReplayConfig, 'url' | 'headers' | 'concurrency' | 'retries'>,
  clock: Clock,
  /** Called once, before the first request waits to be sent again. */
  onFirstWait: (reason: string) => void = () => undefined,
): CollectorClient {
  let hasWaited = false
  const connections = atFirstUse(async () => {
    const { Pool } = await import('undici')
    return new Pool(config.url.origin, {
      connections: config.concurrency,
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: REQUEST_TIMEOUT_MS,
    })
  })
  const headers = { 'content-type': 'application/json', ...config.headers }
  const path = config.url.pathname + config.url.search

  async function attempt(body: Buffer | string): Promise<Attempt> {
    try {
      const pool = await connections.open()
      const response = await pool.request({ method: 'POST', path, headers, body })
      const text = await response.body.text()
      if (response.statusCode === 200) return { done: true, ...partialSuccess(text) }
      const afterMs = retryAfterMs(response.headers['retry-after'], clock.nowMs())
      return {
        done: false,
        reason: `${response.statusCode} ${text.slice(0, 300).trim()}`.trim(),
        retryable: RETRYABLE.has(response.statusCode),
        ...(afterMs !== undefined && { pauseMs: Math.min(LONGEST_PAUSE_MS, afterMs) }),
      }
    } catch (error) {
      return { done: false, reason: describe(error), retryable: true }
    }
  }

  return {
    async send(body, signal) {
      for (let retries = 0; ; retries += 1) {
        const result = await attempt(body)
        if (result.done) return { status: 'answered', rejected: result.rejected, message: result.message, retries }
        if (!result.retryable || retries >= config.retries || signal.aborted) return { status: 'failed', reason: result.reason, retries }
        if (!hasWaited) onFirstWait(result.reason)
        hasWaited = true
        await clock.sleep(result.pauseMs ?? backOffMs(PAUSE, retries + 1, () => 0), signal)
        if (signal.aborted) return { status: 'failed', reason: result.reason, retries }
      }
    },
    close: () => connections.close(pool => pool.close()),
  }
}

/** A collector that answers 200 has taken the request, with any body. */
function partialSuccess(text: string): { readonly rejected: number; readonly message: string } {
  const { rejectedLogRecords, errorMessage } = readPartialSuccess(text)
  const rejected = Number(rejectedLogRecords ?? 0)
  return { rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0, message: String(errorMessage ?? '') }
}

function readPartialSuccess(text: string): { readonly rejectedLogRecords?: unknown; readonly errorMessage?: unknown } {
  try {
    const answer: { readonly partialSuccess?: object | null } | null = JSON.parse(text)
    return answer?.partialSuccess ?? {}
  } catch {
    return {}
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const first = error instanceof AggregateError ? error.errors.find(inner => inner instanceof Error) : undefined
  return (first as Error | undefined)?.message || error.message || error.name
}
