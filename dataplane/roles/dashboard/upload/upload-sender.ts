/** Sends the requests of uploads to the collector, with patience for one that is busy or restarts. */
import { backOffMs } from '../../../limits/back-off.ts'
import { retryAfterMs } from '../../../limits/retry-after.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import { atFirstUse } from '../../../process/at-first-use.ts'

export type UploadAnswer =
  | { readonly status: 'taken'; readonly rejected: number; readonly message: string }
  /** The collector will never take the request. */
  | { readonly status: 'refused'; readonly message: string }
  | { readonly status: 'away'; readonly message: string }

export interface UploadSender {
  /** Rejects only when `signal` aborts. */
  send(json: string, signal: AbortSignal): Promise<UploadAnswer>
  close(): Promise<void>
}

const MAX_CONNECTIONS = 16
const CONNECT_TIMEOUT_MS = 3_000
const ANSWER_TIMEOUT_MS = 30_000
/** How long a collector that is busy is asked again, and one that does not answer. */
const BUSY_PATIENCE_MS = 60_000
const AWAY_PATIENCE_MS = 4_000
const PAUSE = { firstMs: 200, maxMs: 5_000 }

const BUSY: ReadonlySet<number> = new Set([429, 503])
const AWAY: ReadonlySet<number> = new Set([502, 504])

interface Attempt {
  readonly outcome: UploadAnswer
  /** Undefined: what was said is final. */
  readonly patienceMs?: number
  readonly pauseMs?: number | undefined
}

export function createUploadSender(endpoint: string, clock: Clock): UploadSender {
  const { origin, pathname } = new URL(endpoint)
  const path = `${pathname.replace(/\/$/, '')}/v1/logs`
  const connections = atFirstUse(async () => {
    const { Pool } = await import('undici')
    return new Pool(origin, {
      connections: MAX_CONNECTIONS,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    })
  })

  async function attempt(json: string, signal: AbortSignal): Promise<Attempt> {
    try {
      const headers = { 'content-type': 'application/json' }
      const pool = await connections.open()
      const answer = await pool.request({ method: 'POST', path, headers, body: json, signal })
      const text = await answer.body.text()
      return readAnswer(answer.statusCode, text, answer.headers['retry-after'], clock.nowMs())
    } catch (error) {
      signal.throwIfAborted()
      return { outcome: { status: 'away', message: (error as Error).message }, patienceMs: AWAY_PATIENCE_MS }
    }
  }

  return {
    async send(json, signal) {
      const startedMs = monotonicMs(clock)
      for (let failures = 1; ; failures++) {
        const { outcome, patienceMs = 0, pauseMs = backOffMs(PAUSE, failures) } = await attempt(json, signal)
        if (monotonicMs(clock) + pauseMs - startedMs > patienceMs) return outcome
        await clock.sleep(pauseMs, signal)
        signal.throwIfAborted()
      }
    },
    close: () => connections.close(pool => pool.destroy()),
  }
}

function readAnswer(status: number, text: string, retryAfter: string | string[] | undefined, nowMs: number): Attempt {
  const answer = parseAnswer(text)
  if (status === 200) {
    const { rejectedLogRecords = 0, errorMessage = '' } = answer.partialSuccess ?? {}
    return { outcome: { status: 'taken', rejected: Number(rejectedLogRecords) || 0, message: String(errorMessage) } }
  }
  const message = answer.error ?? `the collector answered ${status}`
  const pauseMs = retryAfterMs(retryAfter, nowMs)
  if (BUSY.has(status)) return { outcome: { status: 'away', message }, patienceMs: BUSY_PATIENCE_MS, pauseMs }
  if (AWAY.has(status)) return { outcome: { status: 'away', message }, patienceMs: AWAY_PATIENCE_MS, pauseMs }
  return { outcome: { status: status >= 500 ? 'away' : 'refused', message } }
}

interface CollectorAnswer {
  readonly error?: string
  readonly partialSuccess?: { readonly rejectedLogRecords?: unknown; readonly errorMessage?: unknown } | null
}

function parseAnswer(text: string): CollectorAnswer {
  try {
    return (JSON.parse(text) as CollectorAnswer | null) ?? {}
  } catch {
    return {}
  }
}
