/** Brings one `LogPipeline` into line: gather, build, apply, tell. */

import type { ApiAnswer } from '../../dataplane/kube/api-failure.ts'
import { type KubernetesObject, type ObjectReference, referenceTo } from '../../dataplane/kube/object.ts'
import { keyOf, nameOfKey } from '../../dataplane/kube/resource.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { readLogPipeline } from '../api/read-object.ts'
import type { LogPipelineStatus } from '../api/status.ts'
import { type PipelinePlan, planPipeline } from '../desired/index.ts'
import type { OperatorSettings } from '../desired/pipeline-context.ts'
import { pipelineStatus } from '../observed/conditions.ts'
import type { Gathered } from '../observed/gathered.ts'
import { invalidPipelineStatus } from '../observed/invalid-status.ts'
import { type PipelineView, viewPipeline, viewRunning } from '../observed/pipeline-view.ts'
import { pipelineReferences, routeReferences } from '../observed/references.ts'
import { startDeadlineMs } from '../observed/start-deadline.ts'
import { isPrefixNew, topicPrefixOf } from '../observed/topic-prefix.ts'
import type { ObjectProblem, ObjectReconciler, ReconcileReport } from '../reconcile/reconcile-objects.ts'
import { hasStatus } from '../reconcile/write-status.ts'
import { failedBy, type ReconcileOutcome } from '../runtime/controller.ts'
import type { BridgeHealthSource } from './bridge-health.ts'
import { type ClusterView, gatherPipeline, gatherReferred, LISTING_MS, type Referred } from './gather.ts'
import { LOG_PIPELINES, resourceOf } from './kinds.ts'
import { makeOnce } from './make-once.ts'
import type { SecretContents } from './secret-contents.ts'
import { createStatusPace, PIPELINE_SUMMARY } from './status-pace.ts'
import { type StatusDeps, tellStatus, timestamp } from './tell-status.ts'
import { createToldPrefixes } from './told-prefixes.ts'

export interface PipelineControllerDeps extends StatusDeps {
  readonly view: ClusterView
  readonly secrets: SecretContents
  readonly reconcileObjects: ObjectReconciler
  readonly settings: OperatorSettings
  readonly bridgeHealth: BridgeHealthSource
  readonly clock: Clock
}

/** The pause before a wanted name that another owner's object holds is looked at again: the watch does not tell when such an object goes. */
const FOREIGN_MS = 30_000

export function createPipelineReconcile(deps: PipelineControllerDeps): (key: string) => Promise<ReconcileOutcome> {
  const { view, settings } = deps
  /** By key, the objects that could not be applied the last time. A paused pipeline keeps its entry. */
  const lastProblems = new Map<string, readonly ObjectProblem[]>()
  const prefixes = createToldPrefixes()
  const pace = createStatusPace(PIPELINE_SUMMARY)

  const applyPlan = async (
    pipeline: LogPipeline,
    { objects, held, madeOnce }: PipelinePlan,
    before: readonly ObjectProblem[] | undefined = [],
  ): Promise<Pick<ReconcileReport, 'problems' | 'againMs'>> => {
    const found = objects.map(object => ({ object, resource: resourceOf(object, view.served()) }))
    const known = found.flatMap(({ object, resource }) => (resource === undefined ? [] : [{ object, resource }]))
    const unknown = found.flatMap(({ object, resource }) => (resource === undefined ? [unknownKind(object)] : []))
    const isKept = (object: KubernetesObject) => held.some(sameObject(object))
    const unmade = await makeOnce(deps, madeOnce)
    const { problems, ...rest } = await deps.reconcileObjects({ owner: pipeline, objects: known, isKept, before })
    return { ...rest, problems: [...unmade, ...problems, ...unknown] }
  }

  const gather = (key: string, pipeline: LogPipeline, referred: Referred): Gathered => {
    const gathered = gatherPipeline(view, pipeline, referred, lastProblems.get(key) ?? [], each =>
      prefixes.restore(keyOf(each.metadata), each),
    )
    const seen = deps.bridgeHealth.look(key, gathered.pods)
    return seen === undefined ? gathered : { ...gathered, bridgeHealth: seen }
  }

  const now = () => timestamp(deps.clock.nowMs())

  const writePipelineStatus = async (
    key: string,
    pipeline: LogPipeline,
    status: LogPipelineStatus,
  ): Promise<ApiAnswer<LogPipeline | undefined>> => {
    const written = await tellStatus(deps, LOG_PIPELINES, pipeline, status)
    if (!written.ok) return written
    if (written.value === undefined) return { ok: true, value: undefined }
    const value = readLogPipeline(written.value)
    pace.noteWritten(key, pipeline.status, status, monotonicMs(deps.clock))
    prefixes.note(key, value, status)
    return { ok: true, value }
  }

  /** A status comes before the first objects, and a topic prefix before the first topics: it must not be forgotten once topics have it. */
  const tellFirst = async (key: string, seen: PipelineView): Promise<PipelineView> => {
    const { pipeline } = seen.gathered
    // Without a status it would count as ready (kstatus); the CRD has one by default, that of an older release has none.
    if (pipeline.status?.conditions !== undefined && !isPrefixNew(pipeline)) return seen
    const desired = planPipeline(seen, settings).facts
    const written = await writePipelineStatus(key, pipeline, pipelineStatus({ view: seen, desired, now: now() }))
    if (!written.ok || written.value === undefined) return seen
    // The CRD of an older release does not keep the prefix: there it is what it was then. The spec stays the one whose Secrets were read.
    const { status } = written.value
    const told = { ...pipeline, ...(status !== undefined && { status }) }
    return { ...seen, gathered: { ...seen.gathered, pipeline: told }, topicPrefix: topicPrefixOf(told) }
  }

  /** Tells why the spec cannot be used. The objects of the pipeline stay as they are. */
  const tellInvalid = async (key: string, pipeline: LogPipeline): Promise<ReconcileOutcome> => {
    const written = await writePipelineStatus(key, pipeline, invalidPipelineStatus(prefixes.restore(key, pipeline), now()))
    return written.ok || written.failure.status === 404 ? { kind: 'settled' } : failedBy(written.failure)
  }

  const find = (key: string) => {
    const { namespace, name } = nameOfKey(key)
    return view.cache.get(LOG_PIPELINES, namespace, name) as LogPipeline | undefined
  }

  /** Tells how the pipeline stands, once the pace allows it, and when it is looked at again. */
  const tellOutcome = async (
    key: string,
    pipeline: LogPipeline,
    { after, desired, failure, againMs }: Outcome,
  ): Promise<ReconcileOutcome> => {
    const status = pipelineStatus({ view: after, desired, now: now() })
    const problems = lastProblems.get(key) ?? []
    const isUnderWay = isReconciling(status)
    const isInTrouble = problems.some(isRefusal) || failure !== undefined
    const waitMs = isInTrouble ? 0 : pace.waitMs(key, pipeline.status, status, monotonicMs(deps.clock))
    if (waitMs > 0 && !hasStatus(pipeline, status)) return { kind: 'again', afterMs: waitMs, isUnderWay }
    const written = await writePipelineStatus(key, pipeline, status)
    // Deleted meanwhile: the watch tells of it.
    if (!written.ok) return written.failure.status === 404 ? { kind: 'settled' } : failedBy(written.failure)
    if (failure !== undefined) return failedBy(failure)
    const { observedGeneration: generation = 0, inputsHash = '' } = status
    const deadlineMs = startDeadlineMs(status, { generation, inputsHash, appliedMs: after.gathered.appliedMs })
    const outcome = notAfter(notAfter(outcomeOf(problems), (deadlineMs ?? 0) - deps.clock.nowMs()), againMs)
    return outcome.kind === 'failed' ? outcome : { ...outcome, isUnderWay }
  }

  /** Applies what the pipeline is to have, and tells how it stands. */
  const reconcile = async (key: string, pipeline: LogPipeline): Promise<ReconcileOutcome> => {
    const { spec } = pipeline
    const referred = await gatherReferred(view, deps.secrets, pipeline, routes => [
      ...pipelineReferences(spec),
      ...routes.flatMap(route => routeReferences(route.spec)),
    ])
    const seen = await tellFirst(key, viewPipeline(gather(key, pipeline, referred)))
    const plan = planPipeline(seen, settings)
    const applied = seen.isPaused ? undefined : await applyPlan(pipeline, plan, lastProblems.get(key))
    if (applied !== undefined) lastProblems.set(key, applied.problems)
    const latest = find(key) ?? pipeline
    // Other Secrets may be wanted now.
    if (latest.metadata.generation !== pipeline.metadata.generation) return { kind: 'again', afterMs: 0, isUnderWay: true }
    return tellOutcome(key, latest, {
      after: { ...seen, ...viewRunning(gather(key, latest, referred)) },
      desired: plan.facts,
      failure: referred.failure,
      againMs: applied?.againMs ?? 0,
    })
  }

  const forget = (key: string): void => {
    lastProblems.delete(key)
    prefixes.forget(key)
    pace.forget(key)
    deps.bridgeHealth.forget(key)
    deps.secrets.forget(`${LOG_PIPELINES.kind} ${key}`)
  }

  return async key => {
    const pipeline = find(key)
    // The API server's garbage collector removes the objects of the pipeline.
    if (pipeline === undefined || pipeline.metadata.deletionTimestamp !== undefined) {
      forget(key)
      return { kind: 'settled' }
    }
    // Objects that are there would be taken for missing.
    if (!view.cache.hasListed(nameOfKey(key).namespace)) return { kind: 'again', afterMs: LISTING_MS }
    return pipeline.problems === undefined ? reconcile(key, pipeline) : tellInvalid(key, pipeline)
  }
}

/** How the pipeline stands once its objects are applied. */
interface Outcome {
  readonly after: PipelineView
  readonly desired: PipelinePlan['facts']
  /** Why what the pipeline refers to could not be read. */
  readonly failure: Referred['failure']
  /** When the objects want to be looked at again. */
  readonly againMs: number
}

/** The outcome, with another look after that time at the latest, if that is still to come. */
function notAfter(outcome: ReconcileOutcome, ms: number): ReconcileOutcome {
  if (ms <= 0 || outcome.kind === 'failed') return outcome
  return { kind: 'again', afterMs: outcome.kind === 'again' ? Math.min(outcome.afterMs, ms) : ms }
}

function isReconciling({ conditions = [] }: LogPipelineStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Reconciling' && status === 'True')
}

const isRefusal = ({ reason }: ObjectProblem) => reason !== 'ChangedByOthers'

function outcomeOf(problems: readonly ObjectProblem[]): ReconcileOutcome {
  const failed = problems.find(problem => isRefusal(problem) && problem.reason !== 'ForeignObject')
  if (failed !== undefined) return failed.failure === undefined ? { kind: 'failed', message: failed.message } : failedBy(failed.failure)
  return problems.some(({ reason }) => reason === 'ForeignObject') ? { kind: 'again', afterMs: FOREIGN_MS } : { kind: 'settled' }
}

function unknownKind(object: KubernetesObject): ObjectProblem {
  const message = `this cluster does not have ${object.kind} of ${object.apiVersion}`
  return { object: referenceTo(object), reason: 'ApplyFailed', message }
}

function sameObject({ apiVersion, kind, metadata }: KubernetesObject): (reference: ObjectReference) => boolean {
  return reference =>
    reference.name === metadata.name &&
    reference.kind === kind &&
    reference.apiVersion === apiVersion &&
    reference.namespace === metadata.namespace
}
