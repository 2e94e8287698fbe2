/** One mode from first to last: apply, rest, look again, rotate, restart. */
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type OperatorProcess, startOperator } from '../../../operator/testing/operator-process.ts'
import { type Quantiles, quantiles } from '../quantiles.ts'
import { type AuditedRequest, type AuditLog, readAuditLog } from './audit-log.ts'
import { type BenchCluster, OPERATOR_NAMESPACE } from './cluster.ts'
import { type OperatorReading, type ReconcileCost, readOperator, reconcileCost } from './operator-meter.ts'
import { isReady, type PipelineWatch, watchPipelines } from './pipeline-watch.ts'
import { annotatePipelines, applyPipelines, type PipelineSet, prepare, rotateSecrets } from './pipelines.ts'
import { countRequests, lastObjectWrites, type RequestCounts } from './requests.ts'
import { type WorkloadWatch, watchWorkloads } from './workload-watch.ts'

/** Rate limit of the operator's client for reconciling (`operator/main.ts`). */
const RATE = { perSecond: 50, burst: 100 }
/** The fewest writes of a pipeline's status: that it is ready; that it is not ready any more, and that it is again. */
const LEAST_STATUS_WRITES = { applied: 1, rotated: 2 } as const
const QUIET_MS = 10_000
const READY_LIMIT_MS = 60 * 60_000
/** Objects that change within one second are looked at together. */
const LOOK_AGAIN_MS = 5000

export interface ChangeResult {
  /** From the first request of the benchmark until the last pipeline was Ready. */
  readonly allReadySeconds: number
  /** From the request for a pipeline until the last write to one of its objects. */
  readonly settledSeconds: Quantiles
  readonly readySeconds: Quantiles
  /** From when the cluster had rolled the last of its pods out until the status said so. */
  readonly readyLagSeconds: Quantiles
  readonly requests: RequestCounts
  readonly writesPerPipeline: number
  readonly leastWritesPerPipeline: number
  /** How long the least writes take at the client's rate limit. */
  readonly floorSeconds: number
  readonly operator: OperatorReading
  readonly cpuSeconds: number
  readonly loadAverage: number
}

export interface UnchangedResult {
  readonly cost: ReconcileCost
  readonly requests: RequestCounts
}

export interface ModeResult {
  readonly set: PipelineSet
  readonly apply: ChangeResult
  readonly idle: { readonly seconds: number; readonly requests: RequestCounts; readonly cpuSeconds: number; readonly rssMb: number }
  readonly unchanged: UnchangedResult
  readonly rotate: ChangeResult
  readonly restart: UnchangedResult & { readonly seconds: number; readonly rssMb: number }
}

interface Bench {
  readonly cluster: BenchCluster
  readonly set: PipelineSet
  readonly watch: PipelineWatch
  readonly workloads: WorkloadWatch
  readonly audit: AuditLog
}

/** Told of the figures of each phase as it ends. */
export type OnPhase = <T extends object>(phase: string, figures: T) => T

export interface ModeOptions {
  readonly idleSeconds: number
  /** Whether the operator takes a Lease; without one it goes on however late the API server answers. */
  readonly elects: boolean
  readonly onPhase: OnPhase
}

export async function measureMode(
  cluster: BenchCluster,
  set: PipelineSet,
  { idleSeconds, elects, onPhase }: ModeOptions,
): Promise<ModeResult> {
  await prepare(cluster.client, set)
  const watch = await watchPipelines(cluster.client)
  const workloads = await watchWorkloads(cluster.client)
  const bench: Bench = { cluster, set, watch, workloads, audit: readAuditLog(cluster.auditFile) }
  let operator = await startBenchOperator(cluster, elects)
  const measure = async <T extends object>(phase: string, work: () => Promise<T>): Promise<T> =>
    onPhase(phase, await Promise.race([work(), unexpectedEnd(operator)]))
  try {
    const apply = await measure('apply', () => measureApply(bench, operator))
    const idle = await measure('idle', () => measureIdle(bench, operator, idleSeconds))
    const unchanged = await measure('unchanged', () => measureUnchanged(bench, operator))
    const rotate = await measure('rotate', () => measureRotation(bench, operator))
    await operator.stop()
    bench.audit.take()
    const startMs = Date.now()
    operator = await startBenchOperator(cluster, elects)
    const restart = await measure('restart', () => measureRestart(bench, operator, startMs))
    return { set, apply, idle, unchanged, rotate, restart }
  } finally {
    await operator.stop('SIGKILL')
    await Promise.all([watch.stop(), workloads.stop()])
  }
}

/** Rejects with its last words: on a machine too busy for its Lease it ends as it should, and no figure means anything after that. */
function unexpectedEnd({ child, output }: OperatorProcess): Promise<never> {
  const LAST_WORDS = 2000
  return new Promise((_, reject) => {
    const tell = () =>
      reject(new Error(`the operator ended by itself (${child.exitCode ?? child.signalCode}):\n${output().slice(-LAST_WORDS)}`))
    if (child.exitCode !== null) tell()
    else child.once('exit', tell)
  })
}

async function startBenchOperator({ operatorKubeconfig }: BenchCluster, elects: boolean): Promise<OperatorProcess> {
  const operator = await startOperator(operatorKubeconfig, {
    POD_NAMESPACE: OPERATOR_NAMESPACE,
    POD_NAME: 'bench',
    LEADER_ELECTION: String(elects),
  })
  process.once('exit', () => operator.child.kill('SIGKILL'))
  return operator
}

async function measureApply(bench: Bench, operator: OperatorProcess): Promise<ChangeResult> {
  const { cluster, set, watch } = bench
  return measureChange('applied', bench, operator, async limitMs => {
    const applied = applyPipelines(cluster.client, set)
    const ready = await watch.untilEach('Ready', set.count, isReady, limitMs)
    return { sentMs: await applied, ready }
  })
}

async function measureRotation(bench: Bench, operator: OperatorProcess): Promise<ChangeResult> {
  const { cluster, set, watch } = bench
  const hashes = new Map(watch.list().map(({ metadata, status }) => [metadata.name, status?.inputsHash]))
  return measureChange('rotated', bench, operator, async limitMs => {
    const startMs = Date.now()
    const sentMs = new Map([...hashes.keys()].map(name => [name, startMs]))
    await rotateSecrets(cluster.client, set, `second-${startMs}`)
    const isRolled = (pipeline: Parameters<typeof isReady>[0]) =>
      pipeline.status?.inputsHash !== hashes.get(pipeline.metadata.name) && isReady(pipeline)
    return { sentMs, ready: await watch.untilEach('rolled', set.count, isRolled, limitMs) }
  })
}

interface Times {
  readonly sentMs: ReadonlyMap<string, number>
  readonly ready: ReadonlyMap<string, number>
}

async function measureChange(
  what: keyof typeof LEAST_STATUS_WRITES,
  { audit, set, workloads }: Bench,
  operator: OperatorProcess,
  change: (limitMs: number) => Promise<Times>,
): Promise<ChangeResult> {
  audit.take()
  const before = await readOperator(operator)
  const { sentMs, ready } = await change(READY_LIMIT_MS)
  const rolledOut = workloads.rolledOutMs()
  const taken = [...audit.take(), ...(await untilQuiet(audit))]
  const after = await readOperator(operator)
  const requests = countRequests(taken)
  const settled = lastObjectWrites(taken)
  const seconds = (from: ReadonlyMap<string, number>, to: ReadonlyMap<string, number>) =>
    quantiles([...to].flatMap(([name, ms]) => (from.has(name) ? [Math.max(0, ms - from.get(name)!) / 1000] : [])))
  const least = requests.objectsWritten + LEAST_STATUS_WRITES[what] * set.count
  return {
    allReadySeconds: (Math.max(...ready.values()) - Math.min(...sentMs.values())) / 1000,
    settledSeconds: seconds(sentMs, settled),
    readySeconds: seconds(sentMs, ready),
    readyLagSeconds: seconds(rolledOut, ready),
    requests,
    writesPerPipeline: (requests.objectWrites + requests.statusWrites) / set.count,
    leastWritesPerPipeline: least / set.count,
    floorSeconds: Math.max(0, least - RATE.burst) / RATE.perSecond,
    operator: after,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    loadAverage: loadavg()[0]!,
  }
}

/** Until nothing is written: events come at a slower pace than all else. */
async function untilQuiet(audit: AuditLog): Promise<readonly AuditedRequest[]> {
  const taken: AuditedRequest[] = []
  for (let quietSinceMs = Date.now(); Date.now() - quietSinceMs < QUIET_MS; ) {
    await sleep(1000)
    const more = audit.take()
    const { objectWrites, statusWrites, eventWrites } = countRequests(more)
    if (objectWrites + statusWrites + eventWrites > 0) quietSinceMs = Date.now()
    taken.push(...more)
  }
  return taken
}

async function measureIdle({ audit }: Bench, operator: OperatorProcess, seconds: number): Promise<ModeResult['idle']> {
  const before = await readOperator(operator)
  audit.take()
  await sleep(seconds * 1000)
  const requests = countRequests(audit.take())
  const after = await readOperator(operator)
  return { seconds, requests, cpuSeconds: after.cpuSeconds - before.cpuSeconds, rssMb: after.rssMb }
}

/** A foreign annotation on each pipeline sets a reconcile off; twice, as the first one meets code that is not compiled yet. */
async function measureUnchanged({ cluster, set, watch, audit }: Bench, operator: OperatorProcess): Promise<UnchangedResult> {
  await annotatePipelines(cluster.client, watch.list().slice(0, 200), 'once')
  await sleep(LOOK_AGAIN_MS)
  audit.take()
  const before = await readOperator(operator)
  await annotatePipelines(cluster.client, watch.list(), 'twice')
  const after = await untilReconciled(operator, before.reconciles + set.count)
  return { cost: reconcileCost(before, after), requests: countRequests(audit.take()) }
}

async function measureRestart({ set, audit }: Bench, operator: OperatorProcess, startMs: number): Promise<ModeResult['restart']> {
  const after = await untilReconciled(operator, set.count)
  const seconds = (Date.now() - startMs) / 1000
  await sleep(LOOK_AGAIN_MS)
  const nothing = { ...after, cpuSeconds: 0, reconciles: 0, reconcileSeconds: 0, quickReconciles: 0 }
  const { rssMb } = await readOperator(operator)
  return { seconds, cost: reconcileCost(nothing, after), requests: countRequests(audit.take()), rssMb }
}

async function untilReconciled(operator: OperatorProcess, count: number): Promise<OperatorReading> {
  for (;;) {
    const reading = await readOperator(operator)
    if (reading.reconciles >= count) return reading
    await sleep(100)
  }
}
