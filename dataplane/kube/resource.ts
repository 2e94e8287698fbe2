/** Kinds of objects, and where the API server keeps them. */

export interface Resource {
  /** Empty: the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The plural name in addresses and in RBAC rules. */
  readonly plural: string
  readonly namespaced: boolean
}

export interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}

/** The name that RBAC rules and CRDs use: `deployments.apps`, `pods`. */
export function qualifiedName({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** The path of a collection, of all namespaces when none is given. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${scope}/${resource.plural}`
}

export function objectPath(resource: Resource, { namespace, name }: ObjectName, subresource?: string): string {
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** `namespace/name`, or the name alone: how objects of one kind are told apart. */
export function keyOf({ namespace, name }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf('/')
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
