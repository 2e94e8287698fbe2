/** A well-behaved tenant beside hostile ones: sends records, looks for them, and asks each role for its health. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { exportRecords, postJson, type SentRecord } from '../api.ts'
import type { Standalone } from '../standalone-process.ts'

export const BYSTANDER = 'bystander'
const SEND_EVERY_MS = 100
const RECORDS_A_REQUEST = 20
const PROBE_EVERY_MS = 1_000
const PROBE_GIVES_UP_MS = 60_000
const HEALTH_EVERY_MS = 250
const HEALTH_GIVES_UP_MS = 30_000

export interface BystanderReport {
  /** Acknowledged records, in order. */
  readonly acknowledged: readonly SentRecord[]
  /** Time from the acknowledgement of a record until a search finds it, ms, in order of time. */
  readonly searchableMs: readonly number[]
  /** Times of the answers of each role's health, ms, in order of time. */
  readonly healthMs: Readonly<Record<string, readonly number[]>>
  /** The longest time that this process itself did nothing but compute or wait for a processor, ms: part of the times above. */
  readonly ownPauseMs: number
  /** Answers of health that were not 200, and sends that were refused otherwise than by 429 or 503. */
  readonly problems: readonly string[]
}

export interface Bystander {
  /** Sends no more; resolves once what is under way is answered. */
  stop(): Promise<BystanderReport>
}

export function startBystander(app: Standalone): Bystander {
  const acknowledged: SentRecord[] = []
  const searchableMs: number[] = []
  const healthMs: Record<string, number[]> = {}
  const problems: string[] = []
  const pauses = monitorEventLoopDelay({ resolution: 10 })
  pauses.enable()
  let sequence = 0
  let isStopped = false

  const every = async (pauseMs: number, act: () => Promise<void>) => {
    while (!isStopped) {
      await act().catch((error: Error) => void problems.push(error.message))
      await sleep(pauseMs)
    }
  }

  const send = async () => {
    const records = Array.from({ length: RECORDS_A_REQUEST }, () => record(sequence++))
    const response = await exportRecords(app.collector, records, { tenant_id: BYSTANDER })
    const text = await response.text()
    if (response.status === 200) acknowledged.push(...records)
    else if (response.status !== 429 && response.status !== 503) problems.push(`a valid request was answered ${response.status}: ${text}`)
  }

  const probe = async () => {
    const wanted = acknowledged.at(-1)
    if (wanted === undefined) return
    const start = performance.now()
    while (!(await isSearchable(app.search, wanted.id))) {
      if (performance.now() - start > PROBE_GIVES_UP_MS) throw new Error(`${wanted.id} was not searchable after ${PROBE_GIVES_UP_MS} ms`)
      await sleep(50)
    }
    searchableMs.push(performance.now() - start)
  }

  const askHealth = async () => {
    const roles = { collector: `${app.health}/`, search: `${app.search}/`, ...healthOf(app) }
    await Promise.all(
      Object.entries(roles).map(async ([role, url]) => {
        const start = performance.now()
        const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_GIVES_UP_MS) })
        const text = await response.text()
        healthMs[role] ??= []
        healthMs[role].push(performance.now() - start)
        if (response.status !== 200) problems.push(`health of ${role} is ${response.status}: ${text.slice(0, 200)}`)
      }),
    )
  }

  const loops = [every(SEND_EVERY_MS, send), every(PROBE_EVERY_MS, probe), every(HEALTH_EVERY_MS, askHealth)]
  return {
    async stop() {
      isStopped = true
      await Promise.all(loops)
      pauses.disable()
      return { acknowledged, searchableMs, healthMs, ownPauseMs: pauses.max / 1e6, problems }
    },
  }
}

function healthOf(app: Standalone): Readonly<Record<string, string>> {
  const { bridge, ticketing, features, scheduler, agent } = app
  return Object.fromEntries(Object.entries({ bridge, ticketing, features, scheduler, agent }).map(([role, at]) => [role, `${at}/health`]))
}

async function isSearchable(search: string, id: string): Promise<boolean> {
  const query = { bool: { filter: [{ term: { tenant_id: BYSTANDER } }, { term: { 'record.id': id } }] } }
  const answer = (await postJson(`${search}/service-logs-*/_search`, { size: 1, query })) as { hits: { hits: unknown[] } }
  return answer.hits.hits.length === 1
}

function record(sequence: number): SentRecord {
  const isFailed = sequence % 50 === 0
  return {
    id: `b-${sequence}`,
    service: `shop-${sequence % 3}`,
    severityText: isFailed ? 'ERROR' : 'INFO',
    body: isFailed ? `order ${sequence}: connection refused, timeout` : `order ${sequence} is "done" ✓`,
    attempt: sequence,
    timeUnixNano: String(BigInt(Date.now()) * 1_000_000n + BigInt(sequence % 1_000_000)),
  }
}
