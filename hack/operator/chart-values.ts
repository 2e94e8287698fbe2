/** Values that the chart is tried with. */

export const EVERYTHING = {
  image: { repository: 'registry.example.com:5000/team/logpipeline', digest: `sha256:${'a'.repeat(64)}`, pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'registry' }],
  pipelineImage: 'registry.example.com/logpipeline:2',
  replicas: 3,
  watchNamespaces: ['shop', 'billing'],
  logLevel: 'debug',
  env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
  resources: { requests: { cpu: 1, memory: '1Gi' }, limits: { memory: '2Gi' } },
  crds: { keep: false, annotations: { 'example.com/note': 'here' } },
  serviceAccount: { name: 'somebody', annotations: { 'example.com/role': 'x' } },
  podDisruptionBudget: { maxUnavailable: '50%' },
  networkPolicy: {
    metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    egress: [{ ports: [{ port: 443, protocol: 'TCP' }] }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, interval: '15s' },
  service: { annotations: { 'example.com/a': 'b' } },
  podLabels: { team: 'platform' },
  podAnnotations: { 'example.com/c': '1' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }],
  priorityClassName: 'system-cluster-critical',
  fullnameOverride: 'lp',
  commonLabels: { 'example.com/cost-centre': '42' },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'as-a-map' }, data: { release: '{{ .Release.Name }}' } },
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: as-text\n  labels:\n    {{- include "logpipeline.labels" . | nindent 4 }}\n',
  ],
}
export const NOTHING = {
  replicas: 1,
  resources: {},
  crds: { enabled: false },
  rbac: { create: false, aggregatedRoles: false },
  serviceAccount: { create: false },
  podDisruptionBudget: { enabled: false },
  networkPolicy: { enabled: false },
  serviceMonitor: { enabled: false },
}
