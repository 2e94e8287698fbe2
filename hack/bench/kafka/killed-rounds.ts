/** Losses of collectors that are killed at full load: records that they acknowledged and that Kafka does not hold, counted when it is read back. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Protocol } from '../load-connection.ts'
import { runChild } from '../run-child.ts'
import { type BenchTopics, createTopics, deleteTopics } from './bench-topics.ts'
import { type CollectorKind, startCollector } from './collector-subjects.ts'
import type { KilledLoadConfig, KilledLoadResult } from './killed-load.ts'
import { readBack } from './read-back.ts'

export interface KillPlan {
  readonly protocol: Protocol
  readonly recordsPerRequest: number
  readonly kills: number
  /** From the start of the load until SIGKILL. */
  readonly loadMs: number
}

export interface KilledResult {
  readonly subject: string
  readonly protocol: Protocol
  readonly recordsPerRequest: number
  readonly kills: number
  readonly recordsPerSecond: number
  readonly acknowledged: number
  /** Acknowledged, and not in Kafka; by kill, in their order. */
  readonly missing: readonly number[]
  /** Records that Kafka holds more often than once count for each further time. */
  readonly duplicates: number
  readonly statuses: Readonly<Record<string, number>>
}

const LANES = 16
/** A load process starts within it. */
const START_MS = 1_500

/** Kills each in turn, so that what else the machine does meets all of them alike, and starts it anew on the same topics. */
export async function measureKilled(kinds: readonly CollectorKind[], plan: KillPlan): Promise<KilledResult[]> {
  const subjects: { readonly kind: CollectorKind; readonly topics: BenchTopics; readonly loads: KilledLoadResult[] }[] = []
  try {
    for (const kind of kinds) subjects.push({ kind, topics: await createTopics(), loads: [] })
    for (let i = 0; i < plan.kills; i++)
      for (const { kind, topics, loads } of subjects) loads.push(await loadAndKill(kind, topics, plan, i + 1))
    const results: KilledResult[] = []
    for (const { kind, topics, loads } of subjects) results.push(await count(kind.name, topics.raw, loads, plan))
    return results
  } finally {
    for (const { topics } of subjects) await deleteTopics(topics)
  }
}

async function loadAndKill(kind: CollectorKind, topics: BenchTopics, plan: KillPlan, seed: number): Promise<KilledLoadResult> {
  const collector = await startCollector(kind, topics)
  const config: KilledLoadConfig = {
    target: collector.target(plan.protocol),
    recordsPerRequest: plan.recordsPerRequest,
    lanes: LANES,
    seed,
  }
  const load = runChild<KilledLoadResult>('kafka/killed-load.ts', ['--config', JSON.stringify(config)])
  try {
    await Promise.race([sleep(START_MS + plan.loadMs), load])
  } finally {
    await collector.kill()
  }
  return load
}

async function count(subject: string, topic: string, loads: readonly KilledLoadResult[], plan: KillPlan): Promise<KilledResult> {
  const held = new Set<number>()
  let duplicates = 0
  await readBack(topic, time => {
    const id = idOf(time)
    if (held.has(id)) duplicates += 1
    else held.add(id)
  })
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
  const acknowledged = loads.map(({ accepted }) => sum(accepted.map(({ records }) => records)))
  const missing = loads.map(({ accepted }) =>
    sum(accepted.map(({ from, records }) => Array.from({ length: records }, (_, i) => idOf(from) + i).filter(id => !held.has(id)).length)),
  )
  const statuses: Record<string, number> = {}
  for (const load of loads) for (const [status, times] of Object.entries(load.statuses)) statuses[status] = (statuses[status] ?? 0) + times
  const { protocol, recordsPerRequest, kills } = plan
  const recordsPerSecond = sum(acknowledged) / sum(loads.map(({ seconds }) => seconds))
  return { subject, protocol, recordsPerRequest, kills, recordsPerSecond, acknowledged: sum(acknowledged), missing, duplicates, statuses }
}

/** A number that holds it exactly: 15 digits of nanoseconds do not come again for eleven days. */
const idOf = (timeUnixNano: string) => Number(timeUnixNano.slice(-15))
