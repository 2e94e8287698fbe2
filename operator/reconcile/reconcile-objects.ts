/** Reconciles an owner's objects: applies those that differ, deletes those that are no longer wanted, leaves those of other owners alone. */
import type { ApiFailure } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import { type KubernetesObject, type ObjectReference, referenceTo } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import { firstOf } from '../../dataplane/text/listed.ts'
import { appliedFields, findLostField } from './field-ownership.ts'
import { APPLIED_HASH_ANNOTATION, type LiveObjects, plan, type Step, type Wanted } from './plan.ts'
import { createPutBacks } from './put-backs.ts'

/** Why an object is not as it should be. */
export interface ObjectProblem {
  readonly object: ObjectReference
  readonly reason: 'ForeignObject' | 'QuotaExceeded' | 'AdmissionDenied' | 'Forbidden' | 'Invalid' | 'ApplyFailed' | 'ChangedByOthers'
  readonly message: string
  /** The answer of the API server; missing where it was not asked. */
  readonly failure?: ApiFailure
}

export interface ReconcileReport {
  readonly applied: readonly ObjectReference[]
  readonly deleted: readonly ObjectReference[]
  readonly problems: readonly ObjectProblem[]
  /** Ms after which to look again, as somebody fights over an object. */
  readonly againMs?: number
}

/** The cache of the cluster, which learns of our writes at once. */
export interface WritableLiveObjects extends LiveObjects {
  noteApplied(resource: Resource, object: KubernetesObject): void
  noteDeleted(resource: Resource, object: KubernetesObject): void
}

export interface ObjectReconcilerDeps {
  readonly client: KubeClient
  readonly live: WritableLiveObjects
  readonly clock: Clock
  /** Called for each write that succeeded. */
  readonly onWrite?: (verb: 'apply' | 'delete', object: KubernetesObject, why: string) => void
}

export interface WantedObjects extends Wanted {
  /** Problems of the last time: their objects come after the others, in this order, since the first that meets trouble ends the round. Default: none. */
  readonly before?: readonly ObjectProblem[]
}

/** Never rejects for what the API server answers. Makes no request when nothing differs. */
export type ObjectReconciler = (wanted: WantedObjects) => Promise<ReconcileReport>

export function createObjectReconciler({ client, live, clock, onWrite }: ObjectReconcilerDeps): ObjectReconciler {
  const putBacks = createPutBacks(clock)
  const settled = new Map<string, string>()

  const noteApplied = (step: Step & { readonly kind: 'apply' }, result: KubernetesObject): void => {
    live.noteApplied(step.resource, result)
    putBacks.noteApplied(nameOf(step.object), hashIn(step.object))
    const { uid = '' } = result.metadata
    const owned = appliedFields(result)
    if (owned !== undefined && findLostField(step.object, owned) === undefined) settled.delete(uid)
    else settled.set(uid, step.object.metadata.annotations![APPLIED_HASH_ANNOTATION]!)
    onWrite?.('apply', result, step.why)
  }

  const perform = async (step: Step): Promise<ObjectProblem | undefined> => {
    const { resource, object } = step
    if (step.kind === 'leave') return foreign(step.object, step.belongsTo)
    if (step.kind === 'wait') return leaving(step)
    if (step.kind === 'apply') {
      const answer = await client.apply(resource, object, { force: step.force })
      if (!answer.ok) return problemOf(object, answer.failure)
      noteApplied(step, answer.value)
      return undefined
    }
    const { uid } = object.metadata
    const answer = await client.delete(resource, object.metadata, uid === undefined ? {} : { uid })
    if (!answer.ok) return problemOf(object, answer.failure)
    settled.delete(uid ?? '')
    live.noteDeleted(resource, object)
    putBacks.noteDeleted(nameOf(object))
    onWrite?.('delete', object, 'it is no longer wanted')
    return undefined
  }

  return async ({ before = [], ...wanted }) => {
    const done = { apply: [] as ObjectReference[], delete: [] as ObjectReference[] }
    const problems: ObjectProblem[] = []
    const planned = inTurn(plan(wanted, live, settled), before)
    const waitOf = (step: Step) => (step.kind === 'apply' ? putBacks.waitMs(nameOf(step.object), hashIn(step.object)) : 0)
    const steps = planned.filter(step => waitOf(step) === 0)
    const waitsMs = planned.map(waitOf).filter(ms => ms > 0)
    for (const [n, step] of steps.entries()) {
      const problem = await perform(step)
      if (problem === undefined && (step.kind === 'apply' || step.kind === 'delete')) done[step.kind].push(referenceTo(step.object))
      if (problem !== undefined) problems.push(problem)
      if (problem?.failure === undefined || !(isServerTrouble(problem.failure) || isNamespaceGoing(problem.failure))) continue
      // As with this one, so with the others, of which those with a problem keep it and come first the next time.
      const left = steps.slice(n + 1).map(({ object }) => nameOf(object))
      return {
        applied: done.apply,
        deleted: done.delete,
        problems: [...before.filter(({ object }) => left.includes(nameOf(object))), ...problems],
      }
    }
    const fought = wanted.objects.flatMap(({ object }) => {
      const calmMs = putBacks.calmMs(nameOf(object))
      return calmMs === undefined ? [] : [{ calmMs, problem: foughtOver(object) }]
    })
    if (fought.length === 0) return { applied: done.apply, deleted: done.delete, problems }
    problems.push(...fought.map(({ problem }) => problem))
    return { applied: done.apply, deleted: done.delete, problems, againMs: Math.min(...waitsMs, ...fought.map(({ calmMs }) => calmMs)) }
  }
}

const hashIn = ({ metadata }: KubernetesObject) => metadata.annotations?.[APPLIED_HASH_ANNOTATION] ?? ''

/** Deletions stay last. */
function inTurn(steps: readonly Step[], before: readonly ObjectProblem[]): readonly Step[] {
  if (before.length === 0) return steps
  const turns = new Map(before.map(({ object }, n) => [nameOf(object), n + 1]))
  const turnOf = ({ object, kind }: Step) => [Number(kind === 'delete'), turns.get(nameOf(object)) ?? 0] as const
  return steps.toSorted((a, b) => {
    const [ofA, ofB] = [turnOf(a), turnOf(b)]
    return ofA[0] - ofB[0] || ofA[1] - ofB[1]
  })
}

function nameOf(object: KubernetesObject | ObjectReference): string {
  const { apiVersion, kind, namespace, name } = 'metadata' in object ? referenceTo(object) : object
  return `${apiVersion} ${kind} ${namespace ?? ''}/${name}`
}

function isServerTrouble(failure: ApiFailure): boolean {
  const { status } = failure
  return status === 0 || status === 401 || status === 429 || (status >= 500 && !isUnacceptable(failure))
}

/** The API server blames itself (500) for an object with unknown fields, with an item twice in a list, or too large for its store. */
function isUnacceptable({ message }: ApiFailure): boolean {
  return /failed to create typed patch object|request is too large/.test(message)
}

/** Nothing can be made there any more, and what there is will be gone soon. */
function isNamespaceGoing({ status, message }: ApiFailure): boolean {
  return status === 403 && message.includes('because it is being terminated')
}

/** By what the API server says, as quotas and admission share their statuses with rights and schemas; the first that applies counts. */
const REASONS: readonly (readonly [reason: ObjectProblem['reason'], applies: (failure: ApiFailure) => boolean])[] = [
  ['ApplyFailed', isNamespaceGoing],
  ['QuotaExceeded', ({ status, message }) => status === 403 && message.includes('exceeded quota')],
  ['AdmissionDenied', ({ message }) => /\bdenied (the )?request/.test(message)],
  ['Forbidden', ({ status }) => status === 403],
  ['Invalid', failure => [400, 413, 422].includes(failure.status) || isUnacceptable(failure)],
]

function problemOf(object: KubernetesObject, failure: ApiFailure): ObjectProblem {
  const { message, advice } = failure
  const reason = REASONS.find(([, applies]) => applies(failure))?.[0] ?? 'ApplyFailed'
  return { object: referenceTo(object), reason, message: advice === undefined ? message : `${message}; ${advice}`, failure }
}

function foughtOver(object: KubernetesObject): ObjectProblem {
  const { kind, metadata } = object
  const message = `${kind} ${metadata.name} is changed or deleted by somebody else again and again: it is put back at growing intervals, each two minutes in the end`
  return { object: referenceTo(object), reason: 'ChangedByOthers', message }
}

function foreign(object: KubernetesObject, belongsTo: string): ObjectProblem {
  const { kind, metadata } = object
  const message = `${kind} ${metadata.name} is there already and belongs to ${belongsTo}: it is left alone; rename or delete it`
  return { object: referenceTo(object), reason: 'ForeignObject', message }
}

function leaving({ object, isOurs }: Step & { readonly kind: 'wait' }): ObjectProblem {
  const { kind, metadata } = object
  const finalizers = metadata.finalizers ?? []
  const held = finalizers.length === 0 ? '' : ` (finalizers: ${firstOf(finalizers, MAX_FINALIZERS)})`
  const message = isOurs
    ? `${kind} ${metadata.name} is being deleted${held}: it is made anew once it is gone`
    : `${kind} ${metadata.name} is still that of an earlier resource of the same name, with which it goes: it is made anew then`
  return { object: referenceTo(object), reason: 'ApplyFailed', message }
}

const MAX_FINALIZERS = 3
