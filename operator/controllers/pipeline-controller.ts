/** Brings one `LogPipeline` into line: gather, build, apply, tell. */

import { type KubernetesObject, type ObjectReference, referenceTo } from '../../dataplane/kube/object.ts'
import { keyOf, nameOfKey } from '../../dataplane/kube/resource.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { type PipelinePlan, planPipeline } from '../desired/index.ts'
import type { Gathered } from '../observed/gathered.ts'
import { viewPipeline, viewRunning } from '../observed/pipeline-view.ts'
import { pipelineReferences, routeReferences } from '../observed/references.ts'
import type { ObjectProblem, ObjectReconciler, ReconcileReport } from '../reconcile/reconcile-objects.ts'
import type { ReconcileOutcome } from '../runtime/controller.ts'
import type { BridgeHealthSource } from './bridge-health.ts'
import { type ClusterView, gatherPipeline, gatherReferred, LISTING_MS, type Referred } from './gather.ts'
import { LOG_PIPELINES, resourceOf } from './kinds.ts'
import { makeOnce } from './make-once.ts'
import { createPipelineTeller, type PipelineTellerDeps } from './pipeline-teller.ts'
import type { SecretContents } from './secret-contents.ts'

export interface PipelineControllerDeps extends PipelineTellerDeps {
  readonly view: ClusterView
  readonly secrets: SecretContents
  readonly reconcileObjects: ObjectReconciler
  readonly bridgeHealth: BridgeHealthSource
}

export function createPipelineReconcile(deps: PipelineControllerDeps): (key: string) => Promise<ReconcileOutcome> {
  const { view, settings } = deps
  /** By key, the objects that could not be applied the last time. A paused pipeline keeps its entry. */
  const lastProblems = new Map<string, readonly ObjectProblem[]>()
  const teller = createPipelineTeller(deps)

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
      teller.withTopicPrefix(keyOf(each.metadata), each),
    )
    const seen = deps.bridgeHealth.look(key, gathered.pods)
    return seen === undefined ? gathered : { ...gathered, bridgeHealth: seen }
  }

  const find = (key: string) => {
    const { namespace, name } = nameOfKey(key)
    return view.cache.get(LOG_PIPELINES, namespace, name) as LogPipeline | undefined
  }

  /** Applies what the pipeline is to have, and tells how it stands. */
  const reconcile = async (key: string, pipeline: LogPipeline): Promise<ReconcileOutcome> => {
    const { spec } = pipeline
    const referred = await gatherReferred(view, deps.secrets, pipeline, routes => [
      ...pipelineReferences(spec),
      ...routes.flatMap(route => routeReferences(route.spec)),
    ])
    const seen = await teller.tellFirst(key, viewPipeline(gather(key, pipeline, referred)))
    const plan = planPipeline(seen, settings)
    const applied = seen.isPaused ? undefined : await applyPlan(pipeline, plan, lastProblems.get(key))
    if (applied !== undefined) lastProblems.set(key, applied.problems)
    const latest = find(key) ?? pipeline
    // Other Secrets may be wanted now.
    if (latest.metadata.generation !== pipeline.metadata.generation) return { kind: 'again', afterMs: 0, isUnderWay: true }
    return teller.tellOutcome(key, latest, {
      after: { ...seen, ...viewRunning(gather(key, latest, referred)) },
      desired: plan.facts,
      problems: lastProblems.get(key) ?? [],
      failure: referred.failure,
      againMs: applied?.againMs ?? 0,
    })
  }

  const forget = (key: string): void => {
    lastProblems.delete(key)
    teller.forget(key)
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
    return pipeline.problems === undefined ? reconcile(key, pipeline) : teller.tellInvalid(key, pipeline)
  }
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
