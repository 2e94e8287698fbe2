/** How long a record takes from POST to being found, while a steady load comes in. */

import { encodeProtobuf } from './encode-protobuf.ts'
import type { GeneratedRequest } from './generator.ts'
import type { LoadResult } from './load.ts'
import type { Target } from './load-connection.ts'
import { cpuSeconds } from './process-usage.ts'
import { Random } from './random.ts'
import type { Subject } from './subject.ts'
import { sendLoad } from './throughput.ts'

export interface FreshnessResult {
  readonly subject: string
  readonly recordsPerSecond: number
  readonly markers: number
  /** Markers that were not found in the end; 0 unless something is wrong. */
  readonly missing: number
  readonly postToSearchableMs: { readonly p50: number; readonly p99: number; readonly max: number }
  /** Planned send to answer. */
  readonly postToAnswerMs: LoadResult['latencyMs']
  /** Searching for markers included. */
  readonly cores: number
}

const RECORDS_PER_REQUEST = 100
const MARKER_EVERY_MS = 50
const POLL_EVERY_MS = 10
const FIND_LIMIT_MS = 30_000
const WORD = 'freshnessmarker'

export async function measureFreshness(
  subject: Subject,
  target: Target,
  recordsPerSecond: number,
  durationMs: number,
): Promise<FreshnessResult> {
  const random = new Random(Date.now())
  const sentAtMs = new Map<string, number>()
  const foundAfterMs: number[] = []
  let isSending = true

  const look = async () => {
    for (const message of await subject.newestMessages(WORD)) {
      const id = message.split(' ')[1] ?? ''
      const sent = sentAtMs.get(id)
      if (sent === undefined) continue
      foundAfterMs.push(performance.now() - sent)
      sentAtMs.delete(id)
    }
  }
  const sendMarkers = async () => {
    while (isSending) {
      const id = random.hex(16)
      sentAtMs.set(id, performance.now())
      await Promise.all([postMarker(target, `${WORD} ${id}`), sleep(MARKER_EVERY_MS)])
    }
  }
  const lookForMarkers = async () => {
    for (let limitMs = Number.POSITIVE_INFINITY; (isSending || sentAtMs.size > 0) && performance.now() < limitMs; ) {
      await look()
      await sleep(POLL_EVERY_MS)
      if (!isSending && limitMs === Number.POSITIVE_INFINITY) limitMs = performance.now() + FIND_LIMIT_MS
    }
  }

  const cpuBefore = cpuSeconds(subject.pid)
  const startedMs = performance.now()
  const looking = lookForMarkers()
  const sending = sendMarkers()
  const load = await sendLoad(target, RECORDS_PER_REQUEST, { durationMs, recordsPerSecond })
  const cores = (cpuSeconds(subject.pid) - cpuBefore) / ((performance.now() - startedMs) / 1000)
  isSending = false
  await Promise.all([sending, looking])
  foundAfterMs.sort((a, b) => a - b)
  const at = (share: number) => foundAfterMs[Math.min(foundAfterMs.length - 1, Math.floor(share * foundAfterMs.length))] ?? Number.NaN
  return {
    subject: subject.name,
    recordsPerSecond: load.recordsAccepted / load.seconds,
    markers: foundAfterMs.length + sentAtMs.size,
    missing: sentAtMs.size,
    postToSearchableMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    postToAnswerMs: load.latencyMs,
    cores,
  }
}

/** Sends one record of its own over HTTP protobuf. */
export async function postMarker(target: Target, message: string): Promise<void> {
  const time = String(BigInt(Date.now()) * 1_000_000n)
  const request: GeneratedRequest = {
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'bench-marker' } }] },
        scopeLogs: [
          {
            scope: { name: 'bench' },
            logRecords: [
              {
                timeUnixNano: time,
                observedTimeUnixNano: time,
                severityNumber: 9,
                severityText: 'INFO',
                body: { stringValue: message },
                attributes: [],
              },
            ],
          },
        ],
      },
    ],
  }
  const response = await fetch(`http://${target.host}:${target.port}${target.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(encodeProtobuf(request)),
  })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`a marker was answered ${response.status}`)
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
