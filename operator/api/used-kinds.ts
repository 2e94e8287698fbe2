/** The kinds of the API server that the operator uses, beside its own two and what its runtime needs: what its rights are made from. */

interface UsedKind {
  /** Empty: the core group. */
  readonly group: string
  readonly kind: string
  readonly plural: string
  /** Versions that the operator understands, the best first. */
  readonly versions: readonly string[]
  /** `written`: read, applied and deleted, too. `kept`: never deleted, since what it stands for would go with it. */
  readonly use: 'written' | 'kept' | 'read'
  /** Metadata alone is watched; single objects are asked for (`get`). */
  readonly isAskedFor?: true
  /** Kinds of another operator, used where it is installed. */
  readonly isOptional?: true
}

export const USED_KINDS = [
  { group: '', kind: 'ServiceAccount', plural: 'serviceaccounts', versions: ['v1'], use: 'written' },
  { group: '', kind: 'ConfigMap', plural: 'configmaps', versions: ['v1'], use: 'written' },
  { group: '', kind: 'Service', plural: 'services', versions: ['v1'], use: 'written' },
  { group: 'rbac.authorization.k8s.io', kind: 'Role', plural: 'roles', versions: ['v1'], use: 'written' },
  { group: 'rbac.authorization.k8s.io', kind: 'RoleBinding', plural: 'rolebindings', versions: ['v1'], use: 'written' },
  { group: 'apps', kind: 'Deployment', plural: 'deployments', versions: ['v1'], use: 'written' },
  { group: 'apps', kind: 'StatefulSet', plural: 'statefulsets', versions: ['v1'], use: 'written' },
  { group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', versions: ['v1'], use: 'written' },
  { group: 'autoscaling', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers', versions: ['v2'], use: 'written' },
  { group: 'networking.k8s.io', kind: 'NetworkPolicy', plural: 'networkpolicies', versions: ['v1'], use: 'written' },
  { group: 'networking.k8s.io', kind: 'Ingress', plural: 'ingresses', versions: ['v1'], use: 'written' },
  { group: '', kind: 'Pod', plural: 'pods', versions: ['v1'], use: 'read' },
  { group: '', kind: 'Secret', plural: 'secrets', versions: ['v1'], use: 'written', isAskedFor: true },
  {
    group: 'external-secrets.io',
    kind: 'ExternalSecret',
    plural: 'externalsecrets',
    versions: ['v1', 'v1beta1'],
    use: 'read',
    isOptional: true,
  },
  { group: 'kafka.strimzi.io', kind: 'Kafka', plural: 'kafkas', versions: ['v1', 'v1beta2'], use: 'read', isOptional: true },
  { group: 'kafka.strimzi.io', kind: 'KafkaTopic', plural: 'kafkatopics', versions: ['v1', 'v1beta2'], use: 'kept', isOptional: true },
  { group: 'keda.sh', kind: 'ScaledObject', plural: 'scaledobjects', versions: ['v1alpha1'], use: 'written', isOptional: true },
  {
    group: 'keda.sh',
    kind: 'TriggerAuthentication',
    plural: 'triggerauthentications',
    versions: ['v1alpha1'],
    use: 'written',
    isOptional: true,
  },
  {
    group: 'monitoring.coreos.com',
    kind: 'ServiceMonitor',
    plural: 'servicemonitors',
    versions: ['v1'],
    use: 'written',
    isOptional: true,
  },
  {
    group: 'monitoring.coreos.com',
    kind: 'PrometheusRule',
    plural: 'prometheusrules',
    versions: ['v1'],
    use: 'written',
    isOptional: true,
  },
] as const satisfies readonly UsedKind[]

type Optional = Extract<(typeof USED_KINDS)[number], { readonly isOptional: true }>

/** `Kind.group` of a kind that a cluster may lack. */
export type OptionalKindName = Optional extends infer K extends Optional
  ? K extends Optional
    ? `${K['kind']}.${K['group']}`
    : never
  : never
