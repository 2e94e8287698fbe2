/** Service accounts, and what the agent may read of the cluster. */
import type { ServiceAccount } from 'kubernetes-types/core/v1.js'
import type { PolicyRule, Role, RoleBinding } from 'kubernetes-types/rbac/v1.js'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { componentName, metadataOf, type PipelineContext } from './pipeline-context.ts'
import { typed } from './typed-object.ts'

/** Of all pods that do not speak to the API server. Not the name alone: each namespace has a ServiceAccount `default` already. */
export const plainServiceAccount = ({ name }: Pick<PipelineContext, 'name'>) => `${name}-pods`

export function buildPlainServiceAccount(context: PipelineContext): KubernetesObject {
  return typed<ServiceAccount>(metadataOf(context, plainServiceAccount(context)), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    automountServiceAccountToken: false,
  })
}

const READ = ['get', 'list', 'watch']

/** What the agent reads of its namespace (Decisions 10). The operator must hold these rights itself to grant them. */
export const AGENT_RULES: readonly PolicyRule[] = [
  { apiGroups: ['external-secrets.io'], resources: ['externalsecrets'], verbs: READ },
  { apiGroups: ['flink.apache.org'], resources: ['flinkdeployments', 'flinksessionjobs'], verbs: READ },
  { apiGroups: [''], resources: ['pods'], verbs: READ },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: READ },
]

export function buildAgentAccess(context: PipelineContext): readonly KubernetesObject[] {
  const name = componentName(context, 'agent')
  const metadata = metadataOf(context, name, 'agent')
  return [
    typed<ServiceAccount>(metadata, { apiVersion: 'v1', kind: 'ServiceAccount', automountServiceAccountToken: false }),
    typed<Role>(metadata, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', rules: [...AGENT_RULES] }),
    typed<RoleBinding>(metadata, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: context.namespace }],
    }),
  ]
}
