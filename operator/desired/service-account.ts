/** Service accounts, and what the agent may read of the cluster. */
import type { V1PolicyRule, V1Role, V1RoleBinding, V1ServiceAccount } from '@kubernetes/client-node'
import type { KubernetesObject, ObjectMeta } from '../../dataplane/kube/object.ts'
import { componentName } from '../api/components.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import { typed } from './typed-object.ts'

/** The ServiceAccount of all pods that do not speak to the API server: one of our own, beside the `default` that each namespace has. */
export const plainServiceAccount = ({ name }: Pick<PipelineContext, 'name'>) => `${name}-pods`

export function buildPlainServiceAccount(context: PipelineContext): KubernetesObject {
  return serviceAccount(context, metadataOf(context, plainServiceAccount(context)))
}

function serviceAccount({ spec }: PipelineContext, metadata: ObjectMeta): KubernetesObject {
  const { annotations } = spec.podTemplate?.serviceAccount ?? {}
  return typed<V1ServiceAccount>(annotations === undefined ? metadata : { ...metadata, annotations }, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    automountServiceAccountToken: false,
  })
}

const READ = ['get', 'list', 'watch']

/** The agent's rights in its namespace (Decisions 10). The operator must hold them itself to grant them. */
export const AGENT_RULES: readonly V1PolicyRule[] = [
  { apiGroups: ['external-secrets.io'], resources: ['externalsecrets'], verbs: READ },
  { apiGroups: ['flink.apache.org'], resources: ['flinkdeployments', 'flinksessionjobs'], verbs: READ },
  { apiGroups: [''], resources: ['pods'], verbs: READ },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: READ },
]

export function buildAgentAccess(context: PipelineContext): readonly KubernetesObject[] {
  const name = componentName(context, 'agent')
  const metadata = metadataOf(context, name, 'agent')
  return [
    serviceAccount(context, metadata),
    typed<V1Role>(metadata, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', rules: [...AGENT_RULES] }),
    typed<V1RoleBinding>(metadata, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: context.namespace }],
    }),
  ]
}
