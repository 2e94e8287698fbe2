/** How many records a server takes per second until all of them are searchable, and what that costs. */
import type { LoadConfig, LoadResult } from './load.ts'
import type { Protocol, Target } from './load-connection.ts'
import { cpuSeconds, cpuSecondsByThread, diskBytesByEntry, type ResidentMemory, resetPeakMemory, residentMemory } from './process-usage.ts'
import { runChild } from './run-child.ts'
import type { Subject } from './subject.ts'

export const BATCH_SIZES = [1, 100, 1_000] as const

/** Requests in flight: enough that waiting for the disk does not leave the server idle. */
const LANES: Readonly<Record<number, number>> = { 1: 128, 100: 16, 1000: 4 }
const DISTINCT_RECORDS = 20_000
const SETTLE_LIMIT_MS = 300_000
/** Work put off (merging, flushing) is counted too: CPU, disk and memory at rest are read this long after the last record was found. */
const REST_MS = 8_000

export interface ThroughputResult {
  readonly subject: string
  readonly protocol: Protocol
  readonly recordsPerRequest: number
  readonly recordsAccepted: number
  readonly acceptedPerSecond: number
  /** From the first request until the last accepted record was searchable. */
  readonly searchablePerSecond: number
  readonly cpuSecondsPerMillion: number
  /** The same by thread. */
  readonly cpuByThread: Readonly<Record<string, number>>
  readonly memory: ResidentMemory
  readonly bytesOnDiskPerRecord: number
  /** The same by file or folder of the data directory. */
  readonly bytesByEntry: Readonly<Record<string, number>>
  readonly load: LoadResult
}

let seed = 0

/** A load of the generator's mix; every call sends records that were never sent before. */
export function sendLoad(
  target: Target,
  recordsPerRequest: number,
  limits: Pick<LoadConfig, 'durationMs' | 'maxRecords' | 'recordsPerSecond' | 'pods'>,
): Promise<LoadResult> {
  const config: LoadConfig = {
    target,
    recordsPerRequest,
    lanes: LANES[recordsPerRequest] ?? 16,
    distinctRecords: DISTINCT_RECORDS,
    seed: ++seed,
    ...limits,
  }
  return runChild<LoadResult>('load.ts', ['--config', JSON.stringify(config)])
}

export async function measureThroughput(
  subject: Subject,
  target: Target,
  recordsPerRequest: number,
  durationMs: number,
  pods: number,
): Promise<ThroughputResult> {
  const warmUp = await sendLoad(target, recordsPerRequest, { pods, durationMs: durationMs / 3 })
  const before = warmUp.recordsAccepted
  await untilSearchable(subject, before)
  resetPeakMemory(subject.pid)
  const cpuBefore = cpuSeconds(subject.pid)
  const threadsBefore = cpuSecondsByThread(subject.pid)
  const startedMs = performance.now()
  const load = await sendLoad(target, recordsPerRequest, { pods, durationMs })
  // The load process reports its own time without its start-up.
  const startUpMs = performance.now() - startedMs - load.seconds * 1000
  await untilSearchable(subject, before + load.recordsAccepted)
  const seconds = (performance.now() - startedMs - startUpMs) / 1000
  await new Promise(resolve => setTimeout(resolve, REST_MS))
  const cpu = cpuSeconds(subject.pid) - cpuBefore
  const total = before + load.recordsAccepted
  const bytesByEntry = Object.fromEntries(
    Object.entries(diskBytesByEntry(subject.dataDir)).map(([name, bytes]) => [name, Math.round((bytes / total) * 10) / 10]),
  )
  return {
    subject: subject.name,
    protocol: target.protocol,
    recordsPerRequest,
    recordsAccepted: load.recordsAccepted,
    acceptedPerSecond: load.recordsAccepted / load.seconds,
    searchablePerSecond: load.recordsAccepted / seconds,
    cpuSecondsPerMillion: (cpu / load.recordsAccepted) * 1e6,
    cpuByThread: Object.fromEntries(
      Object.entries(cpuSecondsByThread(subject.pid))
        .map(([name, seconds]) => [name, ((seconds - (threadsBefore[name] ?? 0)) / load.recordsAccepted) * 1e6] as const)
        .filter(([, perMillion]) => perMillion >= 0.1),
    ),
    memory: residentMemory(subject.pid),
    bytesOnDiskPerRecord: Object.values(bytesByEntry).reduce((sum, bytes) => sum + bytes, 0),
    bytesByEntry,
    load,
  }
}

/** Resolves once a search finds `expected` records; rejects when it finds more, or not enough in five minutes. */
export async function untilSearchable(subject: Subject, expected: number): Promise<void> {
  const deadline = performance.now() + SETTLE_LIMIT_MS
  for (;;) {
    const found = await subject.count()
    if (found === expected) return
    if (found > expected) throw new Error(`${subject.name} finds ${found} records, but accepted only ${expected}`)
    if (performance.now() > deadline)
      throw new Error(`${subject.name} finds ${found} of ${expected} records after ${SETTLE_LIMIT_MS / 1000} s`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
