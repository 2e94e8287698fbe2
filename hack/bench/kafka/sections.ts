/** The sections of the benchmark that need a real Kafka, and a real OpenSearch: what they measure, and their tables. */
import type { Protocol } from '../load-connection.ts'
import { formatNumber, formatTable } from '../table.ts'
import { COLLECTOR_BATCHES, type CollectorResult, measureCollectors } from './collector-rounds.ts'
import { type CollectorKind, type CollectorSubject, OUR_COLLECTOR, otelCollector, startSubject } from './collector-subjects.ts'
import { type EtlResult, measureEtl } from './etl-rounds.ts'
import { type IndexResult, measureIndex } from './index-rounds.ts'
import { type KilledResult, measureKilled } from './killed-rounds.ts'
import { withRealServers } from './real-servers.ts'

export interface KafkaReport {
  readonly collector: CollectorResult[]
  readonly killed: KilledResult[]
  readonly etl: EtlResult[]
  readonly index: IndexResult[]
}

export const emptyKafkaReport = (): KafkaReport => ({ collector: [], killed: [], etl: [], index: [] })

export interface KafkaOptions {
  readonly protocols: readonly Protocol[]
  readonly batches: readonly number[]
  /** Binary of an OpenTelemetry Collector to measure beside ours. */
  readonly otelcol: string | undefined
  readonly isShort: boolean
}

/** Every combination on processes and topics of its own. */
export async function benchKafkaCollector(options: KafkaOptions, results: CollectorResult[]): Promise<void> {
  const { protocols, batches, otelcol, isShort } = options
  const plan = isShort ? { warmUpMs: 3_000, rounds: 1, roundMs: 2_000 } : { warmUpMs: 8_000, rounds: 5, roundMs: 3_000 }
  await withRealServers(['kafka'], async () => {
    for (const protocol of protocols)
      for (const recordsPerRequest of COLLECTOR_BATCHES.filter(one => batches.includes(one))) {
        const subjects: CollectorSubject[] = []
        try {
          subjects.push(await startSubject(OUR_COLLECTOR))
          if (otelcol !== undefined) subjects.push(await startSubject(otelCollector(otelcol, 'no queue')))
          results.push(...(await measureCollectors(subjects, { ...plan, protocol, recordsPerRequest })))
        } finally {
          for (const subject of subjects) await subject.remove()
        }
      }
    print('Collector to Kafka, acks=all', collectorTable(results))
  })
}

function collectorTable(results: readonly CollectorResult[]): string {
  return formatTable(
    [
      'protocol × batch, load',
      'records/s',
      'CPU µs/record',
      'of Kafka',
      'p50 ms',
      'p99 ms',
      'RSS MB, first to last round',
      'peak',
      'answers',
    ],
    results.map(r => [
      `${r.subject} ${r.protocol} × ${r.recordsPerRequest}, ${r.load}`,
      r.recordsPerSecond,
      `${formatNumber(r.cpuMicrosPerRecord)}${shareOf(r, results)}`,
      r.brokerCpuMicrosPerRecord,
      r.p50Ms,
      r.p99Ms,
      `${r.residentMb.at(0)} to ${r.residentMb.at(-1)}`,
      r.peakMb,
      formatStatuses(r.statuses),
    ]),
  )
}

const formatStatuses = (statuses: Readonly<Record<string, number>>) =>
  Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')

/** Ours as a share of the other's. */
function shareOf(result: CollectorResult, results: readonly CollectorResult[]): string {
  const isSame = (other: CollectorResult) =>
    (['protocol', 'recordsPerRequest', 'load'] as const).every(field => other[field] === result[field])
  const [ours, other] = results.filter(isSame)
  if (result !== ours || other === undefined) return ''
  return ` (× ${(ours.cpuMicrosPerRecord / other.cpuMicrosPerRecord).toFixed(2)})`
}

/** Requests of 100 records over HTTP, protobuf, 16 at once. */
export async function benchKilledCollector({ otelcol, isShort }: KafkaOptions, results: KilledResult[]): Promise<void> {
  const plan = {
    protocol: 'http-protobuf',
    recordsPerRequest: 100,
    ...(isShort ? { kills: 1, loadMs: 2_000 } : { kills: 5, loadMs: 4_000 }),
  } as const
  const kinds: CollectorKind[] = [OUR_COLLECTOR]
  if (otelcol !== undefined) kinds.push(otelCollector(otelcol, 'default queue'), otelCollector(otelcol, 'no queue'))
  await withRealServers(['kafka'], async () => {
    results.push(...(await measureKilled(kinds, plan)))
    print(
      'Killed at full load',
      formatTable(
        ['collector', 'kills', 'acknowledged/s', 'acknowledged', 'of these not in Kafka', 'by kill', 'duplicates', 'answers'],
        results.map(r => [
          r.subject,
          r.kills,
          r.recordsPerSecond,
          r.acknowledged,
          r.missing.reduce((sum, each) => sum + each, 0),
          r.missing.map(formatNumber).join(' '),
          r.duplicates,
          formatStatuses(r.statuses),
        ]),
      ),
    )
  })
}

export async function benchKafkaEtl({ isShort }: KafkaOptions, results: EtlResult[]): Promise<void> {
  await withRealServers(['kafka'], async () => {
    results.push(...(await measureEtl(isShort ? { rounds: 1, records: 100_000 } : { rounds: 5, records: 300_000 })))
    print(
      'etl between topics of Kafka',
      formatTable(
        ['runner', 'processes', 'records/s', 'records/s per core', 'CPU µs/record', 'of Kafka'],
        results.map(r => [
          r.runner,
          r.processes,
          r.recordsPerSecond,
          1e6 / r.cpuMicrosPerRecord,
          r.cpuMicrosPerRecord,
          r.brokerCpuMicrosPerRecord,
        ]),
      ),
    )
  })
}

export async function benchKafkaIndex({ isShort }: KafkaOptions, results: IndexResult[]): Promise<void> {
  await withRealServers(['kafka', 'opensearch'], async () => {
    const result = await measureIndex(isShort ? { rounds: 1, warmUpDocuments: 1 } : { rounds: 5, warmUpDocuments: 400_000 })
    results.push(result)
    print(
      'Into OpenSearch',
      formatTable(
        ['writer', 'documents/s', 'CPU µs/document', 'of OpenSearch', 'share of the bare loop, by round'],
        (['bare', 'indexer'] as const).map(writer => [
          writer === 'bare' ? 'bare loop of prebuilt bulk requests' : 'indexer, from Kafka',
          result[writer].documentsPerSecond,
          result[writer].cpuMicrosPerDocument,
          result[writer].storeCpuMicrosPerDocument,
          writer === 'bare' ? '' : result.shares.map(share => share.toFixed(2)).join(' '),
        ]),
      ),
    )
  })
}

function print(title: string, table: string): void {
  console.log(`\n${title}\n\n${table}`)
}
