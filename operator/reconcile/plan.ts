/** The steps that make the cluster hold the wanted objects. Pure; no steps when it holds them. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import { hashOf } from './canonical-json.ts'
import { appliedFields, findLostField, saysWhoManages } from './field-ownership.ts'

/** On each object: hash of what was applied, so that a restart applies nothing anew. */
export const APPLIED_HASH_ANNOTATION = 'logpipeline.dev/applied-hash'

/** An object with the resource under which the API server has it. */
export interface Addressed {
  readonly resource: Resource
  readonly object: KubernetesObject
}

/** The cache of the cluster. */
export interface LiveObjects {
  get(resource: Resource, namespace: string | undefined, name: string): KubernetesObject | undefined
  /** The objects that name this owner. */
  ownedBy(uid: string): readonly Addressed[]
}

export type Step =
  /** `why`: what differs, for the log. `force`: the object is known to be ours. */
  | {
      readonly kind: 'apply'
      readonly resource: Resource
      readonly object: KubernetesObject
      readonly force: boolean
      readonly why: string
    }
  | { readonly kind: 'delete'; readonly resource: Resource; readonly object: KubernetesObject }
  /** Somebody else's object has the wanted name. */
  | { readonly kind: 'leave'; readonly resource: Resource; readonly object: KubernetesObject; readonly belongsTo: string }
  /** An object that is on its way out: that of an earlier owner of the same name, or ours, which somebody deletes. */
  | { readonly kind: 'wait'; readonly resource: Resource; readonly object: KubernetesObject; readonly isOurs: boolean }

export interface Wanted {
  readonly owner: KubernetesObject
  readonly objects: readonly Addressed[]
  /** Objects of the owner that are not wanted now and yet must stay. */
  readonly isKept?: (object: KubernetesObject) => boolean
}

/**
 * Deletions come last. `settled` is, by uid, the hash of what was applied to objects whose managed fields do not tell it: the API server drops fields that it
 * does not know, or the objects name no managers. Such objects count as unchanged until the wanted object changes.
 */
export function plan(
  { owner, objects, isKept = () => false }: Wanted,
  live: LiveObjects,
  settled: ReadonlyMap<string, string>,
): readonly Step[] {
  const steps = objects.flatMap(wanted => planObject(wanted, owner, live, settled))
  const names = new Set(objects.map(({ resource, object }) => nameOf(resource, object)))
  const unwanted = live.ownedBy(owner.metadata.uid ?? '').filter(({ resource, object }) => {
    const isGoing = object.metadata.deletionTimestamp !== undefined
    return !names.has(nameOf(resource, object)) && !isGoing && wasAppliedByUs(object) && !isKept(object)
  })
  return [...steps, ...unwanted.map(({ resource, object }) => ({ kind: 'delete' as const, resource, object }))]
}

/** The object as it is applied: with its hash. */
function withHash(object: KubernetesObject): KubernetesObject {
  const annotations = { ...object.metadata.annotations, [APPLIED_HASH_ANNOTATION]: hashOf(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function planObject(
  { resource, object }: Addressed,
  owner: KubernetesObject,
  live: LiveObjects,
  settled: ReadonlyMap<string, string>,
): readonly Step[] {
  const found = live.get(resource, object.metadata.namespace, object.metadata.name)
  const wanted = withHash(object)
  if (found === undefined) return [{ kind: 'apply', resource, object: wanted, force: false, why: 'it is missing' }]
  if (isOfPredecessor(found, owner)) return [{ kind: 'wait', resource, object: found, isOurs: false }]
  const belongsTo = foreignOwner(found, owner)
  if (belongsTo !== undefined) return [{ kind: 'leave', resource, object: found, belongsTo }]
  if (found.metadata.deletionTimestamp !== undefined) return [{ kind: 'wait', resource, object: found, isOurs: true }]
  const why = whyApply(wanted, found, settled)
  if (why === undefined) return []
  const { uid } = found.metadata
  const exactly = uid === undefined ? wanted : { ...wanted, metadata: { ...wanted.metadata, uid } }
  return [{ kind: 'apply', resource, object: exactly, force: true, why }]
}

function whyApply(wanted: KubernetesObject, found: KubernetesObject, settled: ReadonlyMap<string, string>): string | undefined {
  const hash = wanted.metadata.annotations![APPLIED_HASH_ANNOTATION]!
  if (found.metadata.annotations?.[APPLIED_HASH_ANNOTATION] !== hash) return 'other things are wanted of it than were applied'
  if (settled.get(found.metadata.uid ?? '') === hash) return undefined
  const owned = appliedFields(found)
  if (owned === undefined) return saysWhoManages(found) ? 'nothing was applied to it' : 'nothing tells whether somebody else changed it'
  const lost = findLostField(wanted, owned)
  return lost === undefined ? undefined : `somebody else changed ${lost}`
}

/** The owner of the object, when it is not this one. */
function foreignOwner(found: KubernetesObject, owner: KubernetesObject): string | undefined {
  const references = found.metadata.ownerReferences ?? []
  if (references.some(({ uid }) => uid === owner.metadata.uid)) return undefined
  const controller = references.find(reference => reference.controller === true) ?? references[0]
  if (controller !== undefined) return `${controller.kind} ${controller.name}`
  // Our own object, from which another manager took the owner reference, or that a backup brought back without: it is put back.
  if (wasAppliedByUs(found) || hasOurMark(found)) return undefined
  return 'nobody that it names'
}

/** The API server's garbage collector removes it: its owner was deleted and made anew a moment ago. */
export function isOfPredecessor(found: KubernetesObject, { apiVersion, kind, metadata }: KubernetesObject): boolean {
  const [only, ...others] = found.metadata.ownerReferences ?? []
  if (only === undefined || others.length > 0 || only.uid === metadata.uid) return false
  return only.apiVersion === apiVersion && only.kind === kind && only.name === metadata.name
}

/** Others may name our resource as the owner of their objects too. The hash is the mark of ours where nothing tells who manages fields. */
function wasAppliedByUs(object: KubernetesObject): boolean {
  return saysWhoManages(object) ? appliedFields(object) !== undefined : hasOurMark(object)
}

function hasOurMark({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.[APPLIED_HASH_ANNOTATION] !== undefined
}

function nameOf({ group, plural }: Resource, { metadata }: KubernetesObject): string {
  return `${group}/${plural}/${metadata.namespace ?? ''}/${metadata.name}`
}
