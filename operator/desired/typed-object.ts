/** Objects of kinds that the compiler knows, by the types of `@kubernetes/client-node`. */
import type { KubernetesObject, ObjectMeta } from '../../dataplane/kube/object.ts'

/**
 * A type of client-node as its JSON. Its classes are a program's view: times are `Date`, and fields that are words of the language have another name
 * (`_from` of a NetworkPolicy), which its serialiser changes back. The operator's objects are the JSON itself.
 */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Field in keyof T as Field extends `_${infer Name}` ? Name : Field]: Json<T[Field]> }
      : T

/** `spec`, `data` and what else a kind has beside its metadata. */
type Parts<T> = { [Field in keyof T as Exclude<Field, 'apiVersion' | 'kind' | 'metadata'>]: Json<T[Field]> }

export function typed<T>(
  metadata: ObjectMeta,
  { apiVersion, kind, ...parts }: Pick<KubernetesObject, 'apiVersion' | 'kind'> & Parts<T>,
): KubernetesObject {
  return { apiVersion, kind, metadata, ...parts }
}
