import { setTimeout as sleep } from 'node:timers/promises'
import { exportRecords, type SentRecord } from '../../testing/api.ts'
import type { Chain } from './chain.ts'

/** How often a service's client sends a request, ms. */
const REQUEST_EVERY_MS = 200
/** Wait before what was refused is sent again, unless the answer says less. */
const AGAIN_AFTER_MS = 1_000

interface Kind {
  readonly services: readonly string[]
  /** The differences from an INFO record without any fault. */
  readonly unusual: (number: number) => Pick<SentRecord, 'severityText' | 'body'> | undefined
}

/** Each kind of anomaly that there is: by rule, by Z-score alone, and one that makes an incident by itself. */
const KINDS: readonly Kind[] = [
  {
    services: ['checkout', 'payment', 'cart'],
    unusual: number => (number % 10 === 3 ? { severityText: 'ERROR', body: 'connection refused' } : undefined),
  },
  {
    services: ['stock', 'mail', 'search'],
    unusual: number => (number % 40 === 27 ? { severityText: 'ERROR', body: 'no price for this article' } : undefined),
  },
  {
    services: ['ledger'],
    unusual: number => (number % 150 === 60 ? { severityText: 'FATAL', body: 'OutOfMemory, then a segfault' } : undefined),
  },
]

export const TRAFFIC_SERVICES: readonly string[] = KINDS.flatMap(({ services }) => services)

/** The engines leave out debug records. */
const isDebug = (number: number) => number % 7 === 5

/** Requests of clients and their answers. */
export interface Traffic {
  /** Every record, in the order in which its service sent it; all were acknowledged once `stop` has resolved. */
  readonly records: readonly SentRecord[]
  /** Requests by their answer: a status, or `none`. */
  readonly answers: ReadonlyMap<number | 'none', number>
  /** Answers 429 and 503 without `Retry-After`. */
  readonly withoutRetryAfter: number
  /** Records acknowledged so far. */
  readonly acknowledged: number
  /** Sends no new records; resolves once all are acknowledged. */
  stop(): Promise<void>
}

/**
 * One client for each service, as an exporter does it: what is not acknowledged is sent again, unchanged, to the next collector, and the next
 * request waits for it. So the order of a service's records is that of an undisturbed run.
 */
export function startTraffic({ collectors, closing }: Pick<Chain, 'collectors' | 'closing'>, recordsPerSecond: number): Traffic {
  const clients = KINDS.flatMap(({ services, unusual }) => services.map(service => ({ service, unusual })))
  const perRequest = Math.max(1, Math.round((recordsPerSecond * REQUEST_EVERY_MS) / 1_000 / clients.length))
  const records: SentRecord[] = []
  const answers = new Map<number | 'none', number>()
  let withoutRetryAfter = 0
  let acknowledged = 0
  let requests = 0
  let sequence = 0
  let isStopping = false

  const nextCollector = () => {
    const all = collectors()
    if (all.length === 0) throw new Error('no collector runs')
    return all[requests++ % all.length]!
  }
  /** Undefined once acknowledged, else how long to wait, ms. */
  const send = async (batch: readonly SentRecord[]): Promise<number | undefined> => {
    const request = async () => exportRecords(nextCollector(), batch)
    const response = await request().catch(() => undefined)
    await response?.text().catch(() => undefined)
    const status = response?.status ?? 'none'
    answers.set(status, (answers.get(status) ?? 0) + 1)
    if (status === 200) return undefined
    const retryAfter = response?.headers.get('retry-after')
    if ((status === 429 || status === 503) && !retryAfter) withoutRetryAfter++
    return Math.min(AGAIN_AFTER_MS, retryAfter ? Number(retryAfter) * 1_000 : AGAIN_AFTER_MS)
  }
  const run = async ({ service, unusual }: (typeof clients)[number]) => {
    for (let number = 0; !isStopping && !closing.aborted; ) {
      const nextMs = performance.now() + REQUEST_EVERY_MS
      const batch = Array.from({ length: perRequest }, () => buildRecord(service, number++, unusual, sequence++))
      records.push(...batch)
      for (let waitMs = await send(batch); waitMs !== undefined && !closing.aborted; waitMs = await send(batch)) await sleep(waitMs)
      acknowledged += batch.length
      await sleep(Math.max(0, nextMs - performance.now()))
    }
  }
  const done = Promise.all(clients.map(run))
  return {
    records,
    answers,
    get withoutRetryAfter() {
      return withoutRetryAfter
    },
    get acknowledged() {
      return acknowledged
    },
    async stop() {
      isStopping = true
      await done
    },
  }
}

/** No two of them have the same time, by which documents are ordered. */
function buildRecord(service: string, number: number, unusual: Kind['unusual'], sequence: number): SentRecord {
  const ordinary = { severityText: isDebug(number) ? 'DEBUG' : 'INFO', body: 'request served' }
  const { severityText, body } = unusual(number) ?? ordinary
  return {
    id: `${service}-${number}`,
    service,
    severityText,
    body: `${body} #${number}#`,
    attempt: 0,
    timeUnixNano: `${BigInt(Date.now()) * 1_000_000n + BigInt(sequence % 1_000_000)}`,
  }
}
