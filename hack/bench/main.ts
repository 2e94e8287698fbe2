/** `npm run bench`: prints tables and writes all figures as JSON to hack/bench/out/. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ConsoleQueryTime, measureFilledStore } from './console-queries.ts'
import { type FreshnessResult, measureFreshness } from './freshness.ts'
import { type GatewayOverheadResult, measureGatewayOverhead, WAYS } from './gateway-overhead.ts'
import { PODS } from './generator.ts'
import {
  benchKafkaCollector,
  benchKafkaEtl,
  benchKafkaIndex,
  benchKilledCollector,
  emptyKafkaReport,
  type KafkaOptions,
  type KafkaReport,
} from './kafka/sections.ts'
import { PROTOCOLS, type Protocol, type Target } from './load-connection.ts'
import { describeCommit, describeMachine } from './machine.ts'
import { measureQueriesBeside, type QueriesBesideResult } from './queries-beside.ts'
import { measureQueryTimes, type QueryTimesResult } from './query-times.ts'
import { runChild } from './run-child.ts'
import type { StageResult } from './stage-process.ts'
import { STAGES } from './stages.ts'
import { startStandaloneSubject } from './standalone-subject.ts'
import { QUERY_NAMES, type Subject } from './subject.ts'
import { formatTable } from './table.ts'
import { BATCH_SIZES, measureThroughput, type ThroughputResult } from './throughput.ts'
import { startVictoriaLogs } from './victoria-logs-subject.ts'
import { measureWorstQueries, type WorstQueriesResult } from './worst-queries.ts'

const USAGE = `Usage: npm run bench -- [options]

  --only LIST     of stages, throughput, gateway, freshness, queries, queries-beside, console, worst-queries, kafka-collector,
                  kafka-etl, kafka-index, killed-collector; kafka means the three that begin so (default: all)
  --protocol LIST of http-json, http-protobuf, grpc (throughput, gateway, kafka-collector; default: all)
  --batch LIST    of 1, 100, 1000 (throughput, kafka-collector without 1000; default: all)
  --pods N        throughput: senders, each with a resource of its own (default 200)
  --seconds N     length of each throughput measurement (default 20)
  --rate N        records a second that come in beside the worst queries (default 10000)
  --short         a few seconds for each figure, to see whether it works; the figures are rough
  --full          queries over 5 million records too, those of the console and those beside ingestion over 5 million in place of one
  --peer PATH     the same figures for a victoria-logs binary, where it can do the same
  --before DIR    stages, throughput, freshness, queries: the same figures for another checkout of this product, with its packages installed
  --rounds N      throughput: so many measurements of each, by turns and in the opposite order every second time (default 1)
  --otelcol PATH  kafka-collector, killed-collector: the same figures for an OpenTelemetry Collector (hack/bench/kafka/build-otelcol.sh makes one)

The kafka sections and killed-collector measure against the real servers of hack/backends, which they start where they are missing.
On a machine that does other work too, "nice -n -10 npm run bench -- …" keeps that out of the figures as far as it goes.`

/** Records that come in beside the console's queries, a second. */
const BESIDE_RATES = [12_000, 25_000]
/** Answers of the console that take longer are felt. */
const INTERACTION_MS = 100

const SECTIONS = [
  'stages',
  'throughput',
  'gateway',
  'freshness',
  'queries',
  'queries-beside',
  'console',
  'worst-queries',
  'kafka-collector',
  'kafka-etl',
  'kafka-index',
  'killed-collector',
] as const
type Section = (typeof SECTIONS)[number]

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: SECTIONS.join() },
    protocol: { type: 'string', default: PROTOCOLS.join() },
    batch: { type: 'string', default: BATCH_SIZES.join() },
    pods: { type: 'string', default: String(PODS) },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '10000' },
    short: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    peer: { type: 'string' },
    before: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    otelcol: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) console.log(USAGE)
else await main()

interface Report {
  readonly machine: Readonly<Record<string, string | number>>
  readonly stages: StageResult[]
  readonly throughput: ThroughputResult[]
  readonly gateway: GatewayOverheadResult[]
  readonly freshness: FreshnessResult[]
  readonly queries: QueryTimesResult[]
  readonly queriesBeside: QueriesBesideResult[]
  readonly consoleQueries: ConsoleQueryTime[]
  readonly worstQueries: WorstQueriesResult[]
  readonly kafka: KafkaReport
}

async function main(): Promise<void> {
  const report: Report = {
    machine: {
      ...describeMachine(['dataplane']),
      ...(values.before === undefined ? {} : { before: describeCommit(['dataplane'], values.before) }),
    },
    stages: [],
    throughput: [],
    gateway: [],
    freshness: [],
    queries: [],
    queriesBeside: [],
    consoleQueries: [],
    worstQueries: [],
    kafka: emptyKafkaReport(),
  }
  const steps: Readonly<Record<Section, () => Promise<void>>> = {
    stages: () => benchStages(report.stages),
    throughput: () => benchThroughput(report.throughput),
    gateway: () => benchGateway(report.gateway),
    freshness: () => benchFreshness(report.freshness),
    queries: () => benchQueries(report.queries),
    'queries-beside': () => benchQueriesBeside(report.queriesBeside),
    console: () => benchConsole(report.consoleQueries),
    'worst-queries': () => benchWorstQueries(report.worstQueries),
    'kafka-collector': () => benchKafkaCollector(kafkaOptions(), report.kafka.collector),
    'kafka-etl': () => benchKafkaEtl(kafkaOptions(), report.kafka.etl),
    'kafka-index': () => benchKafkaIndex(kafkaOptions(), report.kafka.index),
    'killed-collector': () => benchKilledCollector(kafkaOptions(), report.kafka.killed),
  }
  console.log(
    Object.entries(report.machine)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
  )
  const wanted = values.only.split(',')
  for (const section of SECTIONS)
    if (wanted.includes(section) || (section.startsWith('kafka-') && wanted.includes('kafka'))) await steps[section]()
  const directory = join(import.meta.dirname, 'out')
  mkdirSync(directory, { recursive: true })
  const file = join(directory, `${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.json`)
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`)
  console.log(`\nAll figures: ${file}`)
}

function kafkaOptions(): KafkaOptions {
  return {
    protocols: PROTOCOLS.filter(one => values.protocol.split(',').includes(one)),
    batches: values.batch.split(',').map(Number),
    otelcol: values.otelcol,
    isShort: values.short,
  }
}

async function benchStages(results: StageResult[]): Promise<void> {
  const [rounds, roundMs] = values.short ? ['3', '300'] : ['7', '1500']
  const { before } = values
  for (const stage of Object.keys(STAGES)) {
    const args = ['--stage', stage, '--rounds', rounds, '--round-ms', roundMs]
    if (before !== undefined) results.push({ ...(await runChild<StageResult>('stage-process.ts', args, before)), subject: 'before' })
    results.push({ ...(await runChild<StageResult>('stage-process.ts', args)), subject: 'logpipeline' })
  }
  print(
    'Stages alone',
    ['stage', 'records/s', 'CPU s per million'],
    results.map(r => [before === undefined ? r.stage : `${r.stage}, ${r.subject}`, r.recordsPerSecond, r.cpuSecondsPerMillion]),
  )
}

/** Starts every subject that speaks the protocol, one after the other, each on an empty directory. An odd round goes the other way round. */
async function withSubjects(protocol: Protocol, use: (subject: Subject, target: Target) => Promise<void>, round = 0): Promise<void> {
  const { peer, before } = values
  const starts: (() => Promise<Subject>)[] = [() => startStandaloneSubject()]
  if (before !== undefined) starts.unshift(() => startStandaloneSubject({}, { name: 'before', checkout: before }))
  if (peer !== undefined) starts.push(() => startVictoriaLogs(peer))
  for (const start of round % 2 === 0 ? starts : starts.reverse()) {
    const subject = await start()
    try {
      const target = subject.target(protocol)
      if (target !== undefined) await use(subject, target)
    } finally {
      await subject.remove()
    }
  }
}

async function benchThroughput(results: ThroughputResult[]): Promise<void> {
  const durationMs = values.short ? 4_000 : Number(values.seconds) * 1000
  for (const protocol of PROTOCOLS.filter(one => values.protocol.split(',').includes(one)))
    for (const batch of BATCH_SIZES.filter(one => values.batch.split(',').includes(String(one))))
      for (let round = 0; round < Number(values.rounds); round++) {
        const measure = async (subject: Subject, target: Target) => {
          results.push(await measureThroughput(subject, target, batch, durationMs, Number(values.pods)))
        }
        await withSubjects(protocol, measure, round)
      }
  print(
    'Whole way, until searchable',
    [
      'protocol × batch',
      'accepted/s',
      'searchable/s',
      'CPU s per million',
      'RSS peak MB',
      'end MB',
      'bytes/record on disk',
      'of which',
      'answers',
    ],
    results.map(r => [
      `${r.subject} ${r.protocol} × ${r.recordsPerRequest}`,
      r.acceptedPerSecond,
      r.searchablePerSecond,
      r.cpuSecondsPerMillion,
      r.memory.peakMb,
      r.memory.nowMb,
      r.bytesOnDiskPerRecord,
      Object.entries(r.bytesByEntry)
        .filter(([, bytes]) => bytes >= 1)
        .map(([name, bytes]) => `${name} ${bytes}`)
        .join(', '),
      Object.entries(r.load.statuses)
        .map(([status, count]) => `${status}: ${count}`)
        .join(', '),
    ]),
  )
  printThreads(results)
}

/** Threads of less than half a second a million records are told together. */
function printThreads(results: readonly ThroughputResult[]): void {
  const entries = results.flatMap(r => Object.entries(r.cpuByThread))
  const names = [...new Set(entries.filter(([, perMillion]) => perMillion >= 0.5).map(([name]) => name))].sort()
  print(
    'Whole way, CPU s per million by thread',
    ['protocol × batch', ...names, 'others'],
    results.map(r => {
      const shown = names.map(name => r.cpuByThread[name] ?? 0)
      return [
        `${r.subject} ${r.protocol} × ${r.recordsPerRequest}`,
        ...shown,
        shown.reduce((rest, each) => rest - each, r.cpuSecondsPerMillion),
      ]
    }),
  )
}

async function benchGateway(results: GatewayOverheadResult[]): Promise<void> {
  const protocols = PROTOCOLS.filter(one => values.protocol.split(',').includes(one))
  const [turnMs, budgetMs] = values.short ? [500, 20_000] : [1_000, 90_000]
  results.push(...(await measureGatewayOverhead({ protocols, lanes: [1, 4], turnMs, budgetMs })))
  print(
    'Through the gateway, beside direct requests: batches of 500',
    ['protocol', 'in flight', 'way', 'records/s', 'ratio', 'p50 ms', 'CPU s per million', 'rounds', 'load'],
    results.flatMap(({ protocol, lanes, rounds, figures, throughputRatios, load1 }) =>
      WAYS.map(way => [
        ...[protocol, lanes, way, figures[way].recordsPerSecond, throughputRatios[way].toFixed(2), figures[way].p50Ms.toFixed(1)],
        ...[figures[way].cpuSecondsPerMillion, rounds, load1.toFixed(1)],
      ]),
    ),
  )
}

async function benchFreshness(results: FreshnessResult[]): Promise<void> {
  await withSubjects('http-protobuf', async (subject, target) => {
    await measureFreshness(subject, target, 10_000, values.short ? 2_000 : 10_000)
    results.push(await measureFreshness(subject, target, 10_000, values.short ? 5_000 : 30_000))
  })
  print(
    'POST to searchable, open loop',
    ['subject', 'records/s', 'p50 ms', 'p99 ms', 'max ms', 'POST to answer p50', 'p99', 'cores', 'markers', 'missing'],
    results.map(r => [
      r.subject,
      r.recordsPerSecond,
      ...Object.values(r.postToSearchableMs),
      r.postToAnswerMs.p50,
      r.postToAnswerMs.p99,
      r.cores,
      r.markers,
      r.missing,
    ]),
  )
}

async function benchQueries(results: QueryTimesResult[]): Promise<void> {
  const sizes = values.short ? [50_000] : [100_000, 1_000_000, ...(values.full ? [5_000_000] : [])]
  await withSubjects('http-protobuf', async (subject, target) => {
    results.push(...(await measureQueryTimes(subject, target, sizes)))
  })
  print(
    'Queries: p50 ms (CPU ms)',
    ['query', ...results.map(r => `${r.subject} ${r.storedRecords}`)],
    QUERY_NAMES.map(name => [
      name,
      ...results.map(r => {
        const time = r.queries.find(one => one.query === name)
        return time === undefined ? '–' : `${time.p50Ms.toFixed(1)} (${time.cpuMs.toFixed(1)})`
      }),
    ]),
  )
}

async function benchQueriesBeside(results: QueriesBesideResult[]): Promise<void> {
  const records = values.short ? 100_000 : values.full ? 5_000_000 : 1_000_000
  results.push(...(await measureQueriesBeside(records, BESIDE_RATES, values.short ? 8_000 : 30_000)))
  print(
    `Questions of the console while records come in, ${records} of a day stored before`,
    ['query', 'records/s planned', 'accepted', 'searchable', 'asked', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'],
    results.flatMap(({ recordsPerSecond, queries }) =>
      queries.map(({ query, asked, times }) => [query, ...Object.values(recordsPerSecond), asked, ...Object.values(times)]),
    ),
  )
  for (const { recordsPerSecond, postToAnswerMs, cores, peakMb } of results)
    console.log(
      `\n${recordsPerSecond.planned} a second: POST to answer p50 ${postToAnswerMs.p50.toFixed(1)} ms, p99 ${postToAnswerMs.p99.toFixed(1)}; ${cores.toFixed(2)} cores, RSS peak ${peakMb} MB`,
    )
}

async function benchConsole(results: ConsoleQueryTime[]): Promise<void> {
  const records = values.short ? 100_000 : values.full ? 5_000_000 : 1_000_000
  results.push(...(await measureFilledStore(records)))
  print(
    `Questions of the console, ${records} records of a day stored`,
    ['query', 'first ms', 'p50 ms', 'p95 ms'],
    results.map(r => [r.query, r.firstMs, r.p50Ms, r.p95Ms]),
  )
  const isLong = (figure: (time: ConsoleQueryTime) => number) => results.filter(time => figure(time) > INTERACTION_MS).length
  console.log(
    `\nof ${results.length}, longer than ${INTERACTION_MS} ms: ${isLong(t => t.firstMs)} at first, ${isLong(t => t.p50Ms)} at p50, ${isLong(t => t.p95Ms)} at p95`,
  )
}

async function benchWorstQueries(results: WorstQueriesResult[]): Promise<void> {
  const subject = await startStandaloneSubject()
  try {
    const durationMs = values.short ? 10_000 : 30_000
    results.push(await measureWorstQueries(subject, subject.target('http-protobuf')!, Number(values.rate), durationMs))
  } finally {
    await subject.remove()
  }
  print(
    'Ingestion and health beside the worst queries',
    ['', 'records/s', 'settle ms', 'POST p99 ms', 'health p50 ms', 'p99', 'max', 'failed', 'RSS peak MB'],
    results.flatMap(r =>
      (['alone', 'beside'] as const).map(when => [
        when,
        r.recordsPerSecond[when],
        r.settleMs[when],
        r.answerMs[when].p99,
        r.healthMs[when].p50,
        r.healthMs[when].p99,
        r.healthMs[when].max,
        r.healthMs[when].failed,
        r.peakMb,
      ]),
    ),
  )
  print(
    'The worst queries',
    ['query', 'answers', 'seconds'],
    results.flatMap(r => r.queries.map(each => [each.name, each.answers, each.seconds])),
  )
}

function print(title: string, header: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  console.log(`\n${title}\n\n${formatTable(header, rows)}`)
}
