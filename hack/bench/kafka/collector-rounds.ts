/** Costs of collectors that write to a real Kafka, measured in turns: a round of one, a round of the other. */
import { brokerPid } from '../../../dataplane/testing/real/kafka-server.ts'
import type { LoadConfig, LoadResult } from '../load.ts'
import type { Protocol } from '../load-connection.ts'
import { cpuSeconds, residentMemory } from '../process-usage.ts'
import { runChild } from '../run-child.ts'
import type { CollectorSubject } from './collector-subjects.ts'
import { median } from './median.ts'

export const COLLECTOR_BATCHES = [1, 100] as const
type Batch = (typeof COLLECTOR_BATCHES)[number]

type LoadKind = '16 at once' | '128 at once' | 'steady'

interface Load {
  /** Requests under way at most. */
  readonly lanes: number
  readonly recordsPerSecondBy?: Readonly<Record<Batch, number>>
}

/** `n at once`: so many requests are always under way. `steady`: requests come at a fixed rate and wait for no answers. */
const LOADS: Readonly<Record<LoadKind, Load>> = {
  '16 at once': { lanes: 16 },
  '128 at once': { lanes: 128 },
  steady: { lanes: 64, recordsPerSecondBy: { 1: 1_000, 100: 20_000 } },
}

/** Large requests fill the machine with few of them under way. */
const LOADS_BY_BATCH: Readonly<Record<Batch, readonly LoadKind[]>> = {
  1: ['16 at once', '128 at once', 'steady'],
  100: ['16 at once', 'steady'],
}
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
  readonly recordsPerRequest: Batch
  /** Until compiled code is what runs; not counted. */
  readonly warmUpMs: number
  readonly rounds: number
  readonly roundMs: number
}

/** Measures all subjects under both loads. They are taken in turn, so that what else the machine does meets all of them alike. */
export async function measureCollectors(subjects: readonly CollectorSubject[], plan: RoundPlan): Promise<CollectorResult[]> {
  const loads = LOADS_BY_BATCH[plan.recordsPerRequest]
  const rounds = new Map<string, Round[]>()
  const resident = new Map<CollectorSubject, number[]>(subjects.map(subject => [subject, []]))
  for (const subject of subjects) await measureRound(subject, '16 at once', { ...plan, roundMs: plan.warmUpMs })
  for (let i = 0; i < plan.rounds; i++)
    for (const load of loads)
      for (const subject of subjects) {
        const round = await measureRound(subject, load, plan)
        resident.get(subject)!.push(round.residentMb)
        const key = `${subject.name} ${load}`
        rounds.set(key, [...(rounds.get(key) ?? []), round])
      }
  return subjects.flatMap(subject =>
    loads.map(load => summarise(subject, load, plan, rounds.get(`${subject.name} ${load}`) ?? [], resident.get(subject)!)),
  )
}

let seed = 0

async function measureRound(subject: CollectorSubject, kind: LoadKind, plan: RoundPlan): Promise<Round> {
  const { protocol, recordsPerRequest, roundMs } = plan
  const load = LOADS[kind]
  const config: LoadConfig = {
    target: subject.target(protocol),
    recordsPerRequest,
    lanes: load.lanes,
    durationMs: roundMs,
    distinctRecords: DISTINCT_RECORDS,
    seed: ++seed,
    ...(load.recordsPerSecondBy === undefined ? {} : { recordsPerSecond: load.recordsPerSecondBy[recordsPerRequest] }),
  }
  const broker = brokerPid('kafka', 1)
  const cpuOf = () => [cpuSeconds(subject.pid), broker === undefined ? Number.NaN : cpuSeconds(broker)] as const
  const before = cpuOf()
  const result = await runChild<LoadResult>('load.ts', ['--config', JSON.stringify(config)])
  const after = cpuOf()
  return {
    load: result,
    cpuMicrosPerRecord: ((after[0] - before[0]) / result.recordsAccepted) * 1e6,
    brokerCpuMicrosPerRecord: ((after[1] - before[1]) / result.recordsAccepted) * 1e6,
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
