/** Reads the kinds of the API server outside the core group from its answer to `GET /apis`. */
import { type ApiAnswer, type Asked, NO_ANSWER, noAnswer } from './api-failure.ts'
import type { Resource } from './resource.ts'

/** All groups and their resources in one answer (Kubernetes 1.30; its older form since 1.26); the names of the groups from any other server. */
export const ACCEPT_DISCOVERY = [
  ...['v2', 'v2beta1'].map(v => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`),
  'application/json',
].join(',')

interface AggregatedBody {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly { readonly version: string; readonly resources?: readonly AggregatedResource[] }[]
  }[]
  /** Where the answer is an `APIGroupList`. */
  readonly groups?: readonly { readonly name?: string; readonly versions?: readonly { readonly version?: string }[] }[]
}

interface AggregatedResource {
  readonly resource: string
  readonly responseKind?: { readonly kind?: string }
  readonly scope?: 'Namespaced' | 'Cluster'
}

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** `resources` is undefined where the server lists groups alone: each of `versions` has to be asked for its resources. */
export type Discovered =
  | { readonly resources: readonly Resource[] }
  | { readonly resources: undefined; readonly versions: readonly GroupVersion[] }

export function readDiscovery(body: AggregatedBody, asked: Asked): ApiAnswer<Discovered> {
  const { items, groups } = body
  if (items !== undefined) return { ok: true, value: { resources: items.flatMap(resourcesOfGroup) } }
  if (groups === undefined)
    return { ok: false, failure: noAnswer(NO_ANSWER.unreadable, 'expected an APIGroupDiscoveryList or an APIGroupList', asked) }
  const versions = groups.flatMap(({ name: group = '', versions = [] }) =>
    versions.flatMap(({ version }) => (version === undefined ? [] : [{ group, version }])),
  )
  return { ok: true, value: { resources: undefined, versions } }
}

function resourcesOfGroup({ metadata, versions = [] }: NonNullable<AggregatedBody['items']>[number]): readonly Resource[] {
  return versions.flatMap(({ version, resources = [] }) =>
    resources.map(({ resource, responseKind, scope }) => ({
      group: metadata?.name ?? '',
      version,
      kind: responseKind?.kind ?? '',
      plural: resource,
      namespaced: scope === 'Namespaced',
    })),
  )
}

export interface ResourceListBody {
  readonly resources?: readonly { readonly name: string; readonly kind?: string; readonly namespaced?: boolean }[]
}

/** From `GET /apis/<group>/<version>`, without subresources. */
export function readResourceList({ resources = [] }: ResourceListBody, { group, version }: GroupVersion): readonly Resource[] {
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind = '', namespaced = false }) => ({ group, version, kind, plural: name, namespaced }))
}
