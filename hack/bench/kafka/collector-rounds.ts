/** What collectors cost that write to a real Kafka, measured in turns: a round of one, a round of the other. */
import { brokerPid } from '../../real/kafka-server.ts'
import type { LoadConfig, LoadResult } from '../load.ts'
import type { Protocol } from '../load-connection.ts'
import { cpuSeconds, residentMemory } from '../process-usage.ts'
import { runChild } from '../run-child.ts'
import type { CollectorSubject } from './collector-subjects.ts'
import { median } from './median.ts'

export const COLLECTOR_BATCHES = [1, 100] as const

/** `closed`: so many requests are always under way. `open`: requests come at a fixed rate, whatever the answers. */
export const LOADS = ['closed', 'open'] as const
type LoadKind = (typeof LOADS)[number]

const LANES: Readonly<Record<LoadKind, number>> = { closed: 16, open: 64 }
/** Records per second by records per request: what either takes with a fraction of a core. */
const OPEN_RATES: Readonly<Record<number, number>> = { 1: 1_000, 100: 20_000 }
const DISTINCT_RECORDS = 10_000

export interface CollectorResult {
  readonly subject: string
  readonly protocol: Protocol
  readonly recordsPerRequest: number
  readonly load: LoadKind
  /** Medians of the rounds. */
  readonly recordsPerSecond: number
  readonly cpuMicrosPerRecord: number
  readonly brokerCpuMicrosPerRecord: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** After each round of either load, MB. */
  readonly residentMb: readonly number[]
  readonly peakMb: number
  readonly statuses: Readonly<Record<string, number>>
  readonly rounds: readonly Round[]
}

interface Round {
  readonly load: LoadResult
  readonly cpuMicrosPerRecord: number
  readonly brokerCpuMicrosPerRecord: number
  readonly residentMb: number
}

export interface RoundPlan {
  readonly protocol: Protocol
  readonly recordsPerRequest: number
  /** Until compiled code is what runs; not counted. */
  readonly warmUpMs: number
  readonly rounds: number
  readonly roundMs: number
}

/** Measures all subjects under both loads. They are taken in turn, so that what else the machine does meets all of them alike. */
export async function measureCollectors(subjects: readonly CollectorSubject[], plan: RoundPlan): Promise<CollectorResult[]> {
  const rounds = new Map<string, Round[]>()
  const resident = new Map<CollectorSubject, number[]>(subjects.map(subject => [subject, []]))
  for (const subject of subjects) await measureRound(subject, 'closed', { ...plan, roundMs: plan.warmUpMs })
  for (let i = 0; i < plan.rounds; i++)
    for (const load of LOADS)
      for (const subject of subjects) {
        const round = await measureRound(subject, load, plan)
        resident.get(subject)!.push(round.residentMb)
        const key = `${subject.name} ${load}`
        rounds.set(key, [...(rounds.get(key) ?? []), round])
      }
  return subjects.flatMap(subject =>
    LOADS.map(load => summarise(subject, load, plan, rounds.get(`${subject.name} ${load}`) ?? [], resident.get(subject)!)),
  )
}

let seed = 0

async function measureRound(subject: CollectorSubject, kind: LoadKind, plan: RoundPlan): Promise<Round> {
  const { protocol, recordsPerRequest, roundMs } = plan
  const config: LoadConfig = {
    target: subject.target(protocol),
    recordsPerRequest,
    lanes: LANES[kind],
    durationMs: roundMs,
    distinctRecords: DISTINCT_RECORDS,
    seed: ++seed,
    ...(kind === 'open' ? { recordsPerSecond: OPEN_RATES[recordsPerRequest]! } : {}),
  }
  const broker = brokerPid('kafka', 1)
  const cpuOf = () => [cpuSeconds(subject.pid), broker === undefined ? Number.NaN : cpuSeconds(broker)] as const
  const before = cpuOf()
  const load = await runChild<LoadResult>('load.ts', ['--config', JSON.stringify(config)])
  const after = cpuOf()
  return {
    load,
    cpuMicrosPerRecord: ((after[0] - before[0]) / load.recordsAccepted) * 1e6,
    brokerCpuMicrosPerRecord: ((after[1] - before[1]) / load.recordsAccepted) * 1e6,
    residentMb: residentMemory(subject.pid).nowMb,
  }
}

function summarise(
  subject: CollectorSubject,
  load: LoadKind,
  { protocol, recordsPerRequest }: RoundPlan,
  rounds: readonly Round[],
  residentMb: readonly number[],
): CollectorResult {
  const of = (read: (round: Round) => number) => median(rounds.map(read))
  const statuses: Record<string, number> = {}
  for (const round of rounds)
    for (const [status, count] of Object.entries(round.load.statuses)) statuses[status] = (statuses[status] ?? 0) + count
  return {
    subject: subject.name,
    protocol,
    recordsPerRequest,
    load,
    recordsPerSecond: of(round => round.load.recordsAccepted / round.load.seconds),
    cpuMicrosPerRecord: of(round => round.cpuMicrosPerRecord),
    brokerCpuMicrosPerRecord: of(round => round.brokerCpuMicrosPerRecord),
    p50Ms: of(round => round.load.latencyMs.p50),
    p99Ms: of(round => round.load.latencyMs.p99),
    residentMb,
    peakMb: residentMemory(subject.pid).peakMb,
    statuses,
    rounds,
  }
}
