/** The figures of the operator as tables. */
import { formatNumber, formatTable } from '../table.ts'
import type { ChangeResult, ModeResult, UnchangedResult } from './phases.ts'
import type { RequestCounts } from './requests.ts'

export function operatorTables(results: readonly ModeResult[]): string {
  const tables = [changeTable(results), costTable(results), unchangedTable(results), requestTable(results)]
  return tables.join('\n\n')
}

function changeTable(results: readonly ModeResult[]): string {
  const row = (name: string, { set }: ModeResult, change: ChangeResult) => [
    `${name}, ${set.mode} × ${set.count}`,
    change.allReadySeconds,
    change.floorSeconds,
    ...[change.settledSeconds.p50, change.settledSeconds.p99],
    ...[change.readySeconds.p50, change.readySeconds.p99],
    ...[change.readyLagSeconds.p50, change.readyLagSeconds.p99],
    ...[change.writesPerPipeline, change.leastWritesPerPipeline, change.writesPerPipeline / change.leastWritesPerPipeline],
    ...[change.requests.writeMs.p50, change.requests.writeMs.p99, change.loadAverage],
  ]
  return formatTable(
    [
      ...['all at once', 'all Ready s', 'floor s', 'objects settled p50 s', 'p99', 'Ready p50 s', 'p99'],
      ...['after its pods p50 s', 'p99', 'writes/pipeline', 'least', 'ratio', 'API server ms p50', 'p99', 'load'],
    ],
    results.flatMap(result => [row('applied', result, result.apply), row('Secret rotated', result, result.rotate)]),
  )
}

function costTable(results: readonly ModeResult[]): string {
  return formatTable(
    ['operator', 'CPU s, applied', 'rotated', 'idle', 'of s', 'RSS MB peak', 'idle', 'after restart', 'idle: writes', 'lease renewals'],
    results.map(({ set, apply, rotate, idle, restart }) => [
      `${set.mode} × ${set.count}`,
      ...[apply.cpuSeconds, rotate.cpuSeconds, idle.cpuSeconds, idle.seconds],
      ...[Math.max(apply.operator.peakRssMb, rotate.operator.peakRssMb), idle.rssMb, restart.rssMb],
      ...[writesOf(idle.requests), idle.requests.leaseWrites],
    ]),
  )
}

function unchangedTable(results: readonly ModeResult[]): string {
  const row = (name: string, { cost, requests }: UnchangedResult) => [
    name,
    cost.reconciles,
    cost.meanMs,
    `${formatNumber(cost.shareUpTo5Ms * 100)} %`,
    cost.cpuMs,
    writesOf(requests),
  ]
  return formatTable(
    ['unchanged', 'reconciles', 'mean ms', 'within 5 ms', 'CPU ms, all in', 'writes'],
    results.flatMap(({ set, unchanged, restart }) => [
      row(`annotated, ${set.mode} × ${set.count}`, unchanged),
      row(`restarted, ${set.mode} × ${set.count}: ${formatNumber(restart.seconds)} s`, restart),
    ]),
  )
}

/** Leases apart. */
function writesOf({ objectWrites, statusWrites, eventWrites }: RequestCounts): number {
  return objectWrites + statusWrites + eventWrites
}

function requestTable(results: readonly ModeResult[]): string {
  const columns = results.flatMap(({ set, apply, rotate }) => [
    { title: `${set.mode} applied`, requests: apply.requests, count: set.count },
    { title: 'rotated', requests: rotate.requests, count: set.count },
  ])
  const all = columns.flatMap(({ requests }) => Object.keys(requests.byKind))
  // Each kind is listed and watched once, however many pipelines there are.
  const kinds = [...new Set(all)].filter(kind => !/^(list|watch) /.test(kind)).sort()
  return formatTable(
    ['requests per pipeline', ...columns.map(({ title }) => title)],
    kinds.map(kind => [kind, ...columns.map(({ requests, count }) => (requests.byKind[kind] ?? 0) / count)]),
  )
}
