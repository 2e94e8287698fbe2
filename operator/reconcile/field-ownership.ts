/** Whether the fields that we applied are still ours, by what the API server notes in `managedFields`. */
import { OPERATOR_NAME } from '../../dataplane/contract/operator-name.ts'
import type { FieldsV1, KubernetesObject, ManagedFieldsEntry } from '../../dataplane/kube/object.ts'

type Fields = Readonly<Record<string, unknown>>

/** Other fields of `metadata` have no owner. */
const OWNED_METADATA = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const

/** False behind proxies that strip `managedFields` from objects. */
export function saysWhoManages({ metadata }: KubernetesObject): boolean {
  return metadata.managedFields !== undefined && metadata.managedFields !== null
}

/** Fields that the operator applied to the object itself; undefined when it never did. */
export function appliedFields(object: KubernetesObject): FieldsV1 | undefined {
  return appliedEntry(object)?.fieldsV1
}

/** When the operator changed the object last, in whole seconds as ms since the epoch; undefined where nothing tells. */
export function appliedMs(object: KubernetesObject): number | undefined {
  const ms = Date.parse(appliedEntry(object)?.time ?? '')
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000) * 1000
}

function appliedEntry({ metadata: { managedFields } }: KubernetesObject): ManagedFieldsEntry | undefined {
  const ours = (managedFields ?? []).filter(({ manager, operation }) => manager === OPERATOR_NAME && operation === 'Apply')
  return ours.find(({ subresource }) => subresource === undefined)
}

/**
 * The path of a field that is wanted but not owned; undefined when there is none.
 * A manager that changes or removes a field takes it from us, so no value has to be compared (the API server rewrites some).
 */
export function findLostField(wanted: KubernetesObject, owned: FieldsV1): string | undefined {
  const { apiVersion: _version, kind: _kind, metadata, status: _status, ...rest } = wanted
  const meta = Object.fromEntries(OWNED_METADATA.map(name => [name, metadata[name]]).filter(([, value]) => !isEmpty(value)))
  return findLostMember(Object.keys(meta).length === 0 ? rest : { metadata: meta, ...rest }, owned, '')
}

function findLost(wanted: unknown, owned: FieldsV1, path: string): string | undefined {
  // A field without fields below it is owned as a whole.
  if (typeof wanted !== 'object' || wanted === null || isLeaf(owned)) return undefined
  return Array.isArray(wanted) ? findLostItem(wanted, owned, path) : findLostMember(wanted as Fields, owned, path)
}

function findLostMember(wanted: Fields, owned: FieldsV1, path: string): string | undefined {
  for (const [name, value] of Object.entries(wanted)) {
    const inner = owned[`f:${name}`]
    if (value === undefined || value === null || (inner === undefined && isEmptyList(value))) continue
    const innerPath = path === '' ? name : `${path}.${name}`
    const lost = inner === undefined ? innerPath : findLost(value, inner, innerPath)
    if (lost !== undefined) return lost
  }
  return undefined
}

function findLostItem(wanted: readonly unknown[], owned: FieldsV1, path: string): string | undefined {
  for (const [index, item] of wanted.entries()) {
    const innerPath = `${path}[${index}]`
    const inner = ownedItem(item, owned)
    const lost = inner === undefined ? innerPath : findLost(item, inner, innerPath)
    if (lost !== undefined) return lost
  }
  return undefined
}

function ownedItem(item: unknown, owned: FieldsV1): FieldsV1 | undefined {
  if (typeof item !== 'object' || item === null) return owned[`v:${JSON.stringify(item)}`]
  const found = Object.keys(owned).find(key => key.startsWith('k:') && isKeyOf(parseKey(key), item as Fields))
  return found === undefined ? undefined : owned[found]
}

/** A key that the item leaves out has a default, such as the protocol of a port. */
function isKeyOf(keys: Fields, item: Fields): boolean {
  return Object.entries(keys).every(([name, value]) => item[name] === undefined || item[name] === value)
}

const parsedKeys = new Map<string, Fields>()
/** Keys of lists are few and come again and again; above this many they are parsed anew. */
const MAX_PARSED_KEYS = 2000

function parseKey(key: string): Fields {
  const known = parsedKeys.get(key)
  if (known !== undefined) return known
  const parsed = JSON.parse(key.slice(2)) as Fields
  if (parsedKeys.size >= MAX_PARSED_KEYS) parsedKeys.clear()
  parsedKeys.set(key, parsed)
  return parsed
}

function isLeaf(owned: FieldsV1): boolean {
  for (const key in owned) if (key !== '.') return false
  return true
}

/** The API server drops an empty list from most objects, and its owner with it. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}
