/** Kinds and objects for tests. */
import type { KubernetesObject } from '../object.ts'
import type { Resource } from '../resource.ts'

export const CONFIG_MAPS: Resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }
export const SERVICES: Resource = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true }
export const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true }
export const LEASES: Resource = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true }
export const EVENTS: Resource = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }
export const WIDGETS: Resource = { group: 'example.dev', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true }

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  labels?: Readonly<Record<string, string>>,
): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop', ...(labels !== undefined && { labels }) }, data }
}

export function deployment(name: string, spec: object): KubernetesObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'shop' }, spec }
}
