/** Costs of the etl step between topics of a real Kafka: at least once as in the bridge, exactly once as in `stream etl`, in one process and in two. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus, BusRecord } from '../../../dataplane/ports/bus.ts'
import { brokerPid } from '../../../dataplane/testing/real/kafka-server.ts'
import { cpuSeconds } from '../process-usage.ts'
import { rawMessages } from '../sample-records.ts'
import { type BenchTopics, createTopics, deleteTopics, openBenchBus } from './bench-topics.ts'
import { nextMessage, startChild } from './child.ts'
import { type EtlSample, type EtlTask, type FromEtl, RUNNERS, type RunnerName, type ToEtl } from './etl-task.ts'
import { median } from './median.ts'

export interface EtlPlan {
  readonly rounds: number
  readonly records: number
}

export interface EtlResult {
  readonly runner: RunnerName
  readonly processes: number
  /** Medians of the rounds; all processes together. */
  readonly recordsPerSecond: number
  readonly cpuMicrosPerRecord: number
  readonly brokerCpuMicrosPerRecord: number
  readonly rounds: readonly EtlRound[]
}

interface EtlRound {
  readonly recordsPerSecond: number
  readonly cpuMicrosPerRecord: number
  readonly brokerCpuMicrosPerRecord: number
}

const CASES: readonly { readonly runner: RunnerName; readonly processes: number }[] = [
  ...RUNNERS.map(runner => ({ runner, processes: 1 })),
  { runner: 'at-least-once', processes: 2 },
]
/** Keys enough for each partition to have about the same share. */
const KEYS = 600
/** Members of a group take this long to share its partitions. */
const ASSIGNMENT_MS = 3_000

/** Every case reads the same records, as a new group, one case after the other in each round. */
export async function measureEtl({ rounds, records }: EtlPlan): Promise<EtlResult[]> {
  const topics = await createTopics()
  const children = [startChild('etl-process.ts'), startChild('etl-process.ts')]
  const results = CASES.map(of => ({ ...of, rounds: [] as EtlRound[] }))
  try {
    const bus = await openBenchBus(topics)
    await fill(bus, topics, records)
    await bus.stop()
    let groups = 0
    const runCase = (of: (typeof CASES)[number], on: readonly ChildProcess[]) =>
      measureRound(on, { topics, runner: of.runner, group: `${topics.raw}-${groups++}` }, records)
    for (const child of children) for (const of of CASES) if (of.processes === 1) await runCase(of, [child])
    for (let round = 0; round < rounds; round++)
      for (const result of results) result.rounds.push(await runCase(result, children.slice(0, result.processes)))
  } finally {
    for (const child of children) child.kill()
    await deleteTopics(topics)
  }
  return results.map(result => ({
    ...result,
    recordsPerSecond: median(result.rounds.map(round => round.recordsPerSecond)),
    cpuMicrosPerRecord: median(result.rounds.map(round => round.cpuMicrosPerRecord)),
    brokerCpuMicrosPerRecord: median(result.rounds.map(round => round.brokerCpuMicrosPerRecord)),
  }))
}

/** `raw-logs` of many services, in messages of 100 records. */
async function fill(bus: Bus, { raw }: BenchTopics, records: number): Promise<void> {
  const messages = rawMessages()
  const perSend = 50
  for (let sent = 0; sent * 100 < records; sent += perSend) {
    const part = Array.from({ length: perSend }, (_, i): BusRecord => {
      const number = sent + i
      return { key: `default/service-${number % KEYS}`, value: messages[number % messages.length]! }
    })
    await bus.send(raw, part)
  }
}

async function measureRound(children: readonly ChildProcess[], task: EtlTask, records: number): Promise<EtlRound> {
  const broker = brokerPid('kafka', 1)
  const brokerSeconds = () => (broker === undefined ? Number.NaN : cpuSeconds(broker))
  const before = brokerSeconds()
  const joining = children.map(child => nextMessage<FromEtl, 'joined'>(child, 'joined'))
  for (const child of children) tell(child, { kind: 'join', task })
  await Promise.all(joining)
  if (children.length > 1) await sleep(ASSIGNMENT_MS)
  const ending = children.map(child => nextMessage<FromEtl, 'done'>(child, 'done'))
  for (const child of children) tell(child, { kind: 'go' })
  const runs = (await Promise.all(ending)).map(({ samples }) => samples)
  const total = runs.reduce((sum, samples) => sum + (samples.at(-1)?.records ?? 0), 0)
  if (total !== records) throw new Error(`${task.runner}: ${records} records were to be done, ${total} were`)
  return { ...judge(runs), brokerCpuMicrosPerRecord: ((brokerSeconds() - before) / total) * 1e6 }
}

const tell = (child: ChildProcess, message: ToEtl) => child.send(message)

/** Over the time in which all processes were at work, without the first tenth of what each did. */
function judge(runs: readonly (readonly EtlSample[])[]): Pick<EtlRound, 'recordsPerSecond' | 'cpuMicrosPerRecord'> {
  const atWork = runs.map(samples => samples.filter(({ records }) => records >= 0.1 * samples.at(-1)!.records))
  const fromMs = Math.max(...atWork.map(samples => samples[0]!.atMs))
  const toMs = Math.min(...atWork.map(samples => samples.at(-1)!.atMs))
  if (fromMs >= toMs) throw new Error('one etl process was done before the other began: too few records')
  let records = 0
  let cpu = 0
  for (const samples of atWork) {
    const within = samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
    records += within.at(-1)!.records - within[0]!.records
    cpu += within.at(-1)!.cpuSeconds - within[0]!.cpuSeconds
  }
  return { recordsPerSecond: (records * 1000) / (toMs - fromMs), cpuMicrosPerRecord: (cpu / records) * 1e6 }
}
