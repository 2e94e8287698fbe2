/** Brings one `LogPipeline` into line: gather, build, apply, tell. */

import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import { type KubernetesObject, type ObjectReference, referenceTo } from '../../dataplane/kube/object.ts'
import { nameOfKey } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { LogPipelineStatus } from '../api/status.ts'
import { type PipelinePlan, planPipeline } from '../desired/index.ts'
import type { OperatorSettings } from '../desired/pipeline-context.ts'
import { type DesiredFacts, pipelineStatus } from '../observed/conditions.ts'
import type { Gathered } from '../observed/gathered.ts'
import { viewPipeline } from '../observed/pipeline-view.ts'
import { isPrefixNew } from '../observed/topic-prefix.ts'
import type { ObjectProblem, ObjectReconciler } from '../reconcile/reconcile-objects.ts'
import { hasStatus, writeStatus } from '../reconcile/write-status.ts'
import type { ReconcileOutcome } from '../runtime/controller.ts'
import type { BridgeHealthSource } from './bridge-health.ts'
import { type ClusterView, gatherPipeline } from './gather.ts'
import { LOG_PIPELINES, resourceOf } from './kinds.ts'
import { createStatusPace } from './status-pace.ts'
import { timestamp } from './timestamp.ts'
import type { TellTransitions } from './transition-events.ts'

export interface PipelineControllerDeps {
  readonly view: ClusterView
  readonly cache: Pick<ObjectCache, 'get' | 'noteApplied'>
  readonly client: KubeClient
  readonly reconcileObjects: ObjectReconciler
  readonly settings: OperatorSettings
  readonly bridgeHealth: BridgeHealthSource
  readonly clock: Clock
  readonly tell: TellTransitions
  readonly onStatusWrite?: () => void
}

/** Nobody tells when somebody else's object under a wanted name is gone. */
const FOREIGN_MS = 30_000

export function createPipelineReconcile(deps: PipelineControllerDeps): (key: string) => Promise<ReconcileOutcome> {
  const { view, cache, client, settings } = deps
  /** By key: what could not be applied the last time. A pause leaves it as it was. */
  const lastProblems = new Map<string, readonly ObjectProblem[]>()
  const pace = createStatusPace()

  const applyPlan = async (pipeline: LogPipeline, { objects, held }: PipelinePlan): Promise<readonly ObjectProblem[]> => {
    const found = objects.map(object => ({ object, resource: resourceOf(object, view.served()) }))
    const known = found.flatMap(({ object, resource }) => (resource === undefined ? [] : [{ object, resource }]))
    const unknown = found.flatMap(({ object, resource }) => (resource === undefined ? [unknownKind(object)] : []))
    const isKept = (object: KubernetesObject) => held.some(sameObject(object))
    const { problems } = await deps.reconcileObjects({ owner: pipeline, objects: known, isKept })
    return [...problems, ...unknown]
  }

  const gather = (key: string, pipeline: LogPipeline, problems: readonly ObjectProblem[]): Gathered => {
    const gathered = gatherPipeline(view, pipeline, problems)
    const seen = deps.bridgeHealth.look(key, gathered.pods)
    return seen === undefined ? gathered : { ...gathered, bridgeHealth: seen }
  }

  const statusOf = (gathered: Gathered, desired: DesiredFacts) => pipelineStatus({ gathered, desired, now: timestamp(deps.clock.nowMs()) })

  const writePipelineStatus = async (key: string, pipeline: LogPipeline, status: LogPipelineStatus) => {
    const written = await writeStatus(client, LOG_PIPELINES, pipeline, status)
    if (written.ok && written.value !== undefined) {
      deps.onStatusWrite?.()
      pace.noteWritten(key, pipeline.status, status, deps.clock.nowMs())
      deps.tell(pipeline, pipeline.status?.conditions ?? [], status.conditions ?? [])
      cache.noteApplied(LOG_PIPELINES, written.value)
    }
    return written
  }

  /** As it is to be made; what has to be told before anything is made is told. */
  const prepare = async (key: string, pipeline: LogPipeline): Promise<{ readonly gathered: Gathered; readonly plan: PipelinePlan }> => {
    const gathered = gather(key, pipeline, lastProblems.get(key) ?? [])
    const plan = planPipeline({ gathered, settings })
    // Without a status it would count as ready (kstatus); the CRD has one by default, that of an older release has none.
    const isUnseen = pipeline.status?.conditions === undefined
    if (!isUnseen && !isPrefixNew(pipeline)) return { gathered, plan }
    const written = await writePipelineStatus(key, pipeline, statusOf(gathered, plan.facts))
    if (!written.ok || written.value === undefined) return { gathered, plan }
    // The CRD of an older release does not keep the prefix: there it is what it was then.
    const told = gather(key, written.value as LogPipeline, lastProblems.get(key) ?? [])
    return { gathered: told, plan: planPipeline({ gathered: told, settings }) }
  }

  return async key => {
    const { namespace, name } = nameOfKey(key)
    const find = () => cache.get(LOG_PIPELINES, namespace, name) as LogPipeline | undefined
    const pipeline = find()
    // What it owns goes with it: the API server's garbage collector sees to that.
    if (pipeline === undefined || pipeline.metadata.deletionTimestamp !== undefined) {
      lastProblems.delete(key)
      pace.forget(key)
      deps.bridgeHealth.forget(key)
      return { kind: 'settled' }
    }
    const { gathered, plan } = await prepare(key, pipeline)
    if (!viewPipeline(gathered).isPaused) lastProblems.set(key, await applyPlan(pipeline, plan))
    const problems = lastProblems.get(key) ?? []
    const now = find() ?? pipeline
    const status = statusOf(gather(key, now, problems), plan.facts)
    const isUnderWay = isReconciling(status)
    const waitMs = problems.length > 0 ? 0 : pace.waitMs(key, now.status, status, deps.clock.nowMs())
    if (waitMs > 0 && !hasStatus(now, status)) return { kind: 'again', afterMs: waitMs, isUnderWay }
    const written = await writePipelineStatus(key, now, status)
    if (written.ok) return { ...outcomeOf(problems), isUnderWay }
    // Deleted meanwhile: the watch tells of it.
    if (written.failure.status === 404) return { kind: 'settled' }
    return { kind: 'failed', message: written.failure.message, ...advice(written.failure.advice) }
  }
}

function isReconciling({ conditions = [] }: LogPipelineStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Reconciling' && status === 'True')
}

function outcomeOf(problems: readonly ObjectProblem[]): ReconcileOutcome {
  const failed = problems.find(({ reason }) => reason !== 'ForeignObject')
  if (failed !== undefined) return { kind: 'failed', message: failed.message, ...advice(failed.failure?.advice) }
  return problems.length === 0 ? { kind: 'settled' } : { kind: 'again', afterMs: FOREIGN_MS }
}

function advice(text: string | undefined): { readonly advice?: string } {
  return text === undefined ? {} : { advice: text }
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
