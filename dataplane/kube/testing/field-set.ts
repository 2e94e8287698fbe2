/** Which fields an object sets, as the API server counts them: sets of paths, and their form in `managedFields`. */
import type { FieldsV1 } from '../object.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** A path: `f:spec`, `k:{"name":"web"}`, … joined by this. */
const SEPARATOR = '\u0001'
export type FieldSet = ReadonlySet<string>

/** Lists whose items are told apart by keys, by the name of their field; all others are replaced as a whole. As far as the tests need. */
const LIST_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  imagePullSecrets: ['name'],
  ownerReferences: ['uid'],
  conditions: ['type'],
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The key of a list's item as managed fields write it; undefined: the list is replaced as a whole. */
function itemKey(field: string, item: Json): string | undefined {
  const keys =
    field === 'ports'
      ? isObject(item) && 'containerPort' in item
        ? ['containerPort', 'protocol']
        : ['port', 'protocol']
      : Object.hasOwn(LIST_KEYS, field)
        ? LIST_KEYS[field]
        : undefined
  if (keys === undefined || !isObject(item)) return undefined
  const values = keys.map(key => [key, item[key] ?? (key === 'protocol' ? 'TCP' : undefined)])
  return `k:${JSON.stringify(Object.fromEntries(values))}`
}

/** The paths of all leaves: scalars, whole lists, empty maps; and of keyed items themselves. */
export function fieldsOf(object: JsonObject): FieldSet {
  const paths = new Set<string>()
  const walk = (value: Json, path: readonly string[], field: string): void => {
    if (isObject(value) && Object.keys(value).length > 0)
      for (const [key, inner] of Object.entries(value)) walk(inner, [...path, `f:${key}`], key)
    else if (Array.isArray(value) && value.length > 0 && itemKey(field, value[0]) !== undefined)
      for (const item of value) {
        const itemPath = [...path, itemKey(field, item)!]
        paths.add([...itemPath, '.'].join(SEPARATOR))
        walk(item, itemPath, '')
      }
    else paths.add(path.join(SEPARATOR))
  }
  for (const [key, value] of Object.entries(withoutSystemFields(object))) walk(value, [`f:${key}`], key)
  return paths
}

/** An object without the fields that no manager owns. */
function withoutSystemFields({ apiVersion: _version, kind: _kind, metadata, ...rest }: JsonObject): JsonObject {
  const { labels, annotations, ownerReferences, finalizers } = (metadata ?? {}) as JsonObject
  const owned = Object.entries({ labels, annotations, ownerReferences, finalizers }).filter(([, value]) => value !== undefined)
  return owned.length === 0 ? rest : { metadata: Object.fromEntries(owned) as JsonObject, ...rest }
}

export function toFieldsV1(paths: FieldSet): FieldsV1 {
  const root: Record<string, unknown> = {}
  for (const path of paths) {
    let node = root
    for (const part of path.split(SEPARATOR)) {
      node[part] ??= {}
      node = node[part] as Record<string, unknown>
    }
  }
  return root as FieldsV1
}

/** The value at a path; undefined where there is none. */
export function valueAt(object: Json | undefined, path: string): Json | undefined {
  let value = object
  let field = ''
  for (const part of path.split(SEPARATOR)) {
    if (part === '.') return value
    if (part.startsWith('f:')) {
      field = part.slice(2)
      value = isObject(value) ? value[field] : undefined
    } else value = Array.isArray(value) ? value.find((item: Json) => itemKey(field, item) === part) : undefined
    if (value === undefined) return undefined
  }
  return value
}

/** The object without the field at the path; items that end empty go with it. */
export function without(object: JsonObject, path: string): JsonObject {
  const remove = (value: Json, parts: readonly string[], field: string): Json | undefined => {
    const [part, ...rest] = parts
    if (part === undefined || part === '.') return undefined
    if (part.startsWith('f:')) {
      if (!isObject(value)) return value
      const key = part.slice(2)
      if (!(key in value)) return value
      const inner = remove(value[key]!, rest, key)
      const { [key]: _removed, ...others } = value
      const left = inner === undefined ? others : { ...value, [key]: inner }
      return Object.keys(left).length === 0 ? undefined : left
    }
    if (!Array.isArray(value)) return value
    const items = value
      .map((item: Json) => (itemKey(field, item) === part ? remove(item, rest, '') : item))
      .filter(item => item !== undefined)
    return items.length === 0 ? undefined : (items as Json)
  }
  return (remove(object, path.split(SEPARATOR), '') ?? {}) as JsonObject
}

/** Lays the patch over the object; keyed lists item by item. */
export function merge(value: Json | undefined, patch: Json, field = ''): Json {
  if (isObject(patch)) {
    const base = isObject(value) ? value : {}
    return { ...base, ...Object.fromEntries(Object.entries(patch).map(([key, inner]) => [key, merge(base[key], inner, key)])) }
  }
  if (!Array.isArray(patch) || !Array.isArray(value) || itemKey(field, patch[0]) === undefined) return patch
  const kept = value.map((item: Json) => {
    const over = patch.find((other: Json) => itemKey(field, other) === itemKey(field, item))
    return over === undefined ? item : merge(item, over)
  })
  const added = patch.filter((item: Json) => !value.some((other: Json) => itemKey(field, other) === itemKey(field, item)))
  return [...kept, ...added]
}

export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || canonical(a) === canonical(b)
}

function canonical(value: Json | undefined): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
