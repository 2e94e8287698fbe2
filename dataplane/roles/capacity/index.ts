/** `logpipeline capacity`: what a rate of records needs, from measured figures (docs/capacity.md). */
import { EXIT, refusalsOf, type Terminal } from '../../command-line/command.ts'
import { readInteger, readNumber } from '../../command-line/option-values.ts'
import { obey, parseWords, type Words } from '../../command-line/words.ts'
import { parseDuration } from '../../domain/time/duration.ts'
import { type Estimate, estimate, type Load, type Need } from './estimate.ts'
import { MEASURED } from './figures.ts'

const DAY_MS = 86_400_000

const USAGE = `Usage: logpipeline capacity --rate N [--bytes N] [--retention TIME] [--copies N] [--json]

Says what a load needs: on one machine, and with Kafka and OpenSearch, by role. From the figures of hack/bench/results.md (docs/capacity.md).

  --rate N          records a second, of the busiest hour
  --bytes N         bytes of a record as OTLP JSON (default ${MEASURED.recordBytes})
  --retention TIME  how long records stay searchable, such as 30d (default 30d)
  --copies N        copies that Kafka and OpenSearch keep of all, 1 to 5 (default 2)
  --json            one JSON object

Exit code: 0 done, 64 the command line is wrong.`

const refuse = refusalsOf('capacity')

/** Runs the command and returns its exit code. */
export function runCapacity(args: readonly string[], terminal: Terminal = process): Promise<number> {
  return obey(parseOptions(args), { usage: USAGE, refuse }, terminal, ({ load, json }) => {
    const result = estimate(load)
    terminal.stdout.write(json ? `${JSON.stringify({ load, measured: MEASURED.date, ...result })}\n` : describe(load, result))
    return EXIT.done
  })
}

const OPTIONS = {
  rate: { type: 'string', default: '' },
  bytes: { type: 'string', default: String(MEASURED.recordBytes) },
  retention: { type: 'string', default: '30d' },
  copies: { type: 'string', default: '2' },
  json: { type: 'boolean', default: false },
} as const

function parseOptions(args: readonly string[]): Words<{ readonly load: Load; readonly json: boolean }> {
  return parseWords(args, { options: OPTIONS }, ({ values: { rate, bytes, retention, copies, json } }, problems) => {
    const retentionMs = parseDuration(retention) ?? 0
    if (retentionMs < DAY_MS / 24) problems.push(`--retention: expected a time such as 30d, an hour at least, seen ${retention}`)
    const load = {
      rate: readNumber('--rate', rate, { min: 1, max: 1e9 }, problems),
      bytes: readNumber('--bytes', bytes, { min: 1, max: 1e6 }, problems),
      retentionDays: retentionMs / DAY_MS,
      copies: readInteger('--copies', copies, { min: 1, max: 5 }, problems),
    }
    return { load, json }
  })
}

function describe(load: Load, { oneMachine, distributed, partitions, shards, nextBottleneck }: Estimate): string {
  const { rate, bytes, retentionDays, copies } = load
  const lines = [
    `${rate} records a second of ${bytes} bytes, kept for ${Number(retentionDays.toFixed(2))} days; figures of ${MEASURED.date}, three fifths of each machine planned for`,
    '',
    oneMachine === undefined
      ? `One machine: not enough. Standalone was measured up to ${MEASURED.standalone.maxPerSecond} records of ${MEASURED.recordBytes} bytes a second.`
      : `One machine:`,
    ...(oneMachine === undefined ? [] : table([oneMachine])),
    '',
    `Kafka and OpenSearch, ${copies} ${copies === 1 ? 'copy' : 'copies'}:`,
    ...table(distributed),
    `  partitions  raw-logs ${partitions.raw}, enriched-logs ${partitions.enriched}, anomaly-events ${partitions.anomaly} (RAW_PARTITIONS, ENRICHED_PARTITIONS, ANOMALY_PARTITIONS)`,
    `  shards      ${shards.perDay} primary shards a daily index, of ${gigabytes(shards.bytesEach)}; ${shards.open} shards open with their copies`,
    '',
    `With ten times as much: ${nextBottleneck}.`,
  ]
  return `${lines.join('\n')}\n`
}

function table(needs: readonly Need[]): readonly string[] {
  const rows = [
    ['', 'number', 'cores', 'memory', 'disk', 'network'],
    ...needs.map(({ part, count, cores, memoryBytes, diskBytes, networkBytes }) => [
      part,
      String(count),
      cores.toFixed(cores < 10 ? 1 : 0),
      gigabytes(memoryBytes),
      diskBytes === 0 ? '-' : gigabytes(diskBytes),
      `${((networkBytes * 8) / 1e6).toFixed(0)} Mbit/s`,
    ]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  return rows.map(
    row => `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ')}`,
  )
}

function gigabytes(bytes: number): string {
  const gb = bytes / 1e9
  return gb < 1000 ? `${gb.toFixed(gb < 10 ? 1 : 0)} GB` : `${(gb / 1000).toFixed(gb < 10_000 ? 1 : 0)} TB`
}
