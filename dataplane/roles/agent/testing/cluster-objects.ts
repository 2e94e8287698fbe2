/** Kinds and objects of other operators, for tests. */
import type { KubernetesObject } from '../../../kube/object.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { FakeApiServer } from '../../../kube/testing/fake-api-server.ts'

const flink = (kind: string, plural: string): Resource => ({
  group: 'flink.apache.org',
  version: 'v1beta1',
  kind,
  plural,
  namespaced: true,
})

export const EXTERNAL_SECRETS: Resource = {
  group: 'external-secrets.io',
  version: 'v1',
  kind: 'ExternalSecret',
  plural: 'externalsecrets',
  namespaced: true,
}
export const FLINK_DEPLOYMENTS = flink('FlinkDeployment', 'flinkdeployments')
export const FLINK_SESSION_JOBS = flink('FlinkSessionJob', 'flinksessionjobs')

/** As the External Secrets operator writes it. */
export function externalSecret(name: string, reason: string, refreshTime?: string): KubernetesObject {
  const status = reason === 'SecretSynced' || reason === 'SecretDeleted' ? 'True' : 'False'
  return {
    ...objectOf(EXTERNAL_SECRETS, name),
    status: { conditions: [{ type: 'Ready', status, reason }], ...(refreshTime !== undefined && { refreshTime }) },
  }
}

/** As the Flink operator writes it. */
export function flinkDeployment(name: string, status: object, spec: object = { job: { state: 'running' } }): KubernetesObject {
  return { ...objectOf(FLINK_DEPLOYMENTS, name), spec, status }
}

export function flinkSessionJob(name: string, deploymentName: string, status: object): KubernetesObject {
  return { ...objectOf(FLINK_SESSION_JOBS, name), spec: { deploymentName, job: { state: 'running' } }, status }
}

function objectOf({ group, version, kind }: Resource, name: string) {
  const metadata = { name, namespace: 'shop', labels: { 'logpipeline.dev/tenant': 'acme' } }
  return { apiVersion: `${group}/${version}`, kind, metadata }
}

/** Creates the object, or changes its spec and status. */
export function store({ storage }: FakeApiServer, { plural, group }: Resource, object: KubernetesObject): void {
  const key = `${object.metadata.namespace}/${object.metadata.name}`
  const collection = `${plural}.${group}`
  const by = { manager: 'test', force: true }
  storage.apply(collection, key, object, by)
  if (object['status'] !== undefined) storage.apply(collection, key, object, { ...by, part: 'status' })
}
