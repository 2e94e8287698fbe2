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
import { pipelineReferences, routeReference } from '../observed/references.ts'
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

  return async key => {
    const { namespace, name } = nameOfKey(key)
    const owner = `${LOG_PIPELINES.kind} ${key}`
    const find = () => view.cache.get(LOG_PIPELINES, namespace, name) as LogPipeline | undefined
    const pipeline = find()
    // The API server's garbage collector removes the objects of the pipeline.
    if (pipeline === undefined || pipeline.metadata.deletionTimestamp !== undefined) {
      lastProblems.delete(key)
      prefixes.forget(key)
      pace.forget(key)
      deps.bridgeHealth.forget(key)
      deps.secrets.forget(owner)
      return { kind: 'settled' }
    }
    // Objects that are there would be taken for missing.
    if (!view.cache.hasListed(namespace)) return { kind: 'again', afterMs: LISTING_MS }
    if (pipeline.problems !== undefined) return tellInvalid(key, pipeline)
    const { spec } = pipeline
    const referred = await gatherReferred(view, deps.secrets, pipeline, routes => [
      ...pipelineReferences(spec),
      ...routes.map(route => routeReference(route.spec)),
    ])
    const seen = await tellFirst(key, viewPipeline(gather(key, pipeline, referred)))
    const plan = planPipeline(seen, settings)
    const applied = seen.isPaused ? undefined : await applyPlan(pipeline, plan, lastProblems.get(key))
    if (applied !== undefined) lastProblems.set(key, applied.problems)
    const latest = find() ?? pipeline
    // Other Secrets may be wanted now.
    if (latest.metadata.generation !== pipeline.metadata.generation) return { kind: 'again', afterMs: 0, isUnderWay: true }
    const after = { ...seen, ...viewRunning(gather(key, latest, referred)) }
    const status = pipelineStatus({ view: after, desired: plan.facts, now: now() })
    const problems = lastProblems.get(key) ?? []
    const isUnderWay = isReconciling(status)
    const { observedGeneration: told = 0, inputsHash = '' } = status
    const lookAgainMs = startDeadlineMs(status, { generation: told, inputsHash, appliedMs: after.gathered.appliedMs })
    const isInTrouble = problems.some(isRefusal) || referred.failure !== undefined
    const waitMs = isInTrouble ? 0 : pace.waitMs(key, latest.status, status, monotonicMs(deps.clock))
    if (waitMs > 0 && !hasStatus(latest, status)) return { kind: 'again', afterMs: waitMs, isUnderWay }
    const written = await writePipelineStatus(key, latest, status)
    if (written.ok && referred.failure !== undefined) return failedBy(referred.failure)
    if (written.ok) {
      const outcome = notAfter(outcomeOf(problems), (lookAgainMs ?? 0) - deps.clock.nowMs())
      return { ...notAfter(outcome, applied?.againMs ?? 0), isUnderWay }
    }
    // Deleted meanwhile: the watch tells of it.
    if (written.failure.status === 404) return { kind: 'settled' }
    return failedBy(written.failure)
  }
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
