/** Brings one `LogPipeline` into line: gather, build, apply, tell. */

import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import { type KubernetesObject, type ObjectReference, referenceTo } from '../../dataplane/kube/object.ts'
import { nameOfKey } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { readLogPipeline } from '../api/read-object.ts'
import type { LogPipelineStatus } from '../api/status.ts'
import { type PipelinePlan, planPipeline } from '../desired/index.ts'
import type { OperatorSettings } from '../desired/pipeline-context.ts'
import { type DesiredFacts, pipelineStatus } from '../observed/conditions.ts'
import type { Gathered } from '../observed/gathered.ts'
import { invalidPipelineStatus } from '../observed/invalid-status.ts'
import { viewPipeline } from '../observed/pipeline-view.ts'
import { startDeadlineMs } from '../observed/start-deadline.ts'
import { isPrefixNew } from '../observed/topic-prefix.ts'
import type { ObjectProblem, ObjectReconciler } from '../reconcile/reconcile-objects.ts'
import { hasStatus, writeStatus } from '../reconcile/write-status.ts'
import { failedBy, type ReconcileOutcome } from '../runtime/controller.ts'
import type { BridgeHealthSource } from './bridge-health.ts'
import { type ClusterView, gatherPipeline, type SecretSources, sourcesOfPipeline } from './gather.ts'
import { LOG_PIPELINES, resourceOf } from './kinds.ts'
import type { ReadSecrets, SecretContents } from './secret-contents.ts'
import { createStatusPace } from './status-pace.ts'
import { timestamp } from './timestamp.ts'
import type { TellTransitions } from './transition-events.ts'

export interface PipelineControllerDeps {
  readonly view: ClusterView
  readonly cache: Pick<ObjectCache, 'get' | 'noteApplied'>
  readonly client: KubeClient
  readonly secrets: SecretContents
  readonly reconcileObjects: ObjectReconciler
  readonly settings: OperatorSettings
  readonly bridgeHealth: BridgeHealthSource
  readonly clock: Clock
  readonly tell: TellTransitions
  readonly onStatusWrite?: () => void
}

interface SecretsOfRun {
  readonly sources: SecretSources
  readonly read: ReadSecrets
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

  const gather = (key: string, pipeline: LogPipeline, { sources, read }: SecretsOfRun, problems: readonly ObjectProblem[]): Gathered => {
    const gathered = gatherPipeline(view, pipeline, sources, read, problems)
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
  const prepare = async (key: string, pipeline: LogPipeline, secrets: SecretsOfRun) => {
    const planned = (as: LogPipeline) => {
      const gathered = gather(key, as, secrets, lastProblems.get(key) ?? [])
      return { gathered, plan: planPipeline({ gathered, settings }) }
    }
    const first = planned(pipeline)
    // Without a status it would count as ready (kstatus); the CRD has one by default, that of an older release has none.
    const isUnseen = pipeline.status?.conditions === undefined
    if (!isUnseen && !isPrefixNew(pipeline)) return first
    const written = await writePipelineStatus(key, pipeline, statusOf(first.gathered, first.plan.facts))
    if (!written.ok || written.value === undefined) return first
    // The CRD of an older release does not keep the prefix: there it is what it was then. The spec stays the one whose Secrets were read.
    const { status } = readLogPipeline(written.value)
    return planned({ ...pipeline, ...(status !== undefined && { status }) })
  }

  /** What it has stays as it is. */
  const tellInvalid = async (key: string, pipeline: LogPipeline): Promise<ReconcileOutcome> => {
    const written = await writePipelineStatus(key, pipeline, invalidPipelineStatus(pipeline, timestamp(deps.clock.nowMs())))
    return written.ok || written.failure.status === 404 ? { kind: 'settled' } : failedBy(written.failure)
  }

  return async key => {
    const { namespace, name } = nameOfKey(key)
    const owner = `${LOG_PIPELINES.kind} ${key}`
    const find = () => cache.get(LOG_PIPELINES, namespace, name) as LogPipeline | undefined
    const pipeline = find()
    // What it owns goes with it: the API server's garbage collector sees to that.
    if (pipeline === undefined || pipeline.metadata.deletionTimestamp !== undefined) {
      lastProblems.delete(key)
      pace.forget(key)
      deps.bridgeHealth.forget(key)
      deps.secrets.forget(owner)
      return { kind: 'settled' }
    }
    if (pipeline.problems !== undefined) return tellInvalid(key, pipeline)
    const sources = sourcesOfPipeline(view, pipeline)
    const read = await deps.secrets.read(owner, namespace, sources.wanted)
    const secrets = { sources, read }
    const { gathered, plan } = await prepare(key, pipeline, secrets)
    if (!viewPipeline(gathered).isPaused) lastProblems.set(key, await applyPlan(pipeline, plan))
    const problems = lastProblems.get(key) ?? []
    const now = find() ?? pipeline
    // Other Secrets may be wanted now.
    if (now.metadata.generation !== pipeline.metadata.generation) return { kind: 'again', afterMs: 0, isUnderWay: true }
    const status = statusOf(gather(key, now, secrets, problems), plan.facts)
    const isUnderWay = isReconciling(status)
    const lookAgainMs = startDeadlineMs(status, { generation: status.observedGeneration ?? 0, inputsHash: status.inputsHash ?? '' })
    const waitMs = problems.length > 0 || read.failure !== undefined ? 0 : pace.waitMs(key, now.status, status, deps.clock.nowMs())
    if (waitMs > 0 && !hasStatus(now, status)) return { kind: 'again', afterMs: waitMs, isUnderWay }
    const written = await writePipelineStatus(key, now, status)
    if (written.ok && read.failure !== undefined) return failedBy(read.failure)
    if (written.ok) return { ...notAfter(outcomeOf(problems), (lookAgainMs ?? 0) - deps.clock.nowMs()), isUnderWay }
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

function outcomeOf(problems: readonly ObjectProblem[]): ReconcileOutcome {
  const failed = problems.find(({ reason }) => reason !== 'ForeignObject')
  if (failed !== undefined) return failed.failure === undefined ? { kind: 'failed', message: failed.message } : failedBy(failed.failure)
  return problems.length === 0 ? { kind: 'settled' } : { kind: 'again', afterMs: FOREIGN_MS }
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
