/** Objects that users create, for tests of the whole operator. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'

export const PIPELINE: KubernetesObject = {
  apiVersion: 'logpipeline.dev/v1alpha1',
  kind: 'LogPipeline',
  metadata: { name: 'shop', namespace: 'shop' },
  spec: {
    mode: 'Distributed',
    tenant: 'shop',
    bus: { bootstrapServers: ['kafka:9092'], topics: 'Managed' },
    search: { endpoint: 'https://search:9200', credentials: { secret: { name: 'search' } } },
  },
}
export const SECRET: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'search', namespace: 'shop' },
  data: { username: 'dQ==', password: 'cA==' },
}
export const ROUTE: KubernetesObject = {
  apiVersion: 'logpipeline.dev/v1alpha1',
  kind: 'TicketingRoute',
  metadata: { name: 'oncall', namespace: 'shop' },
  spec: {
    severities: ['critical'],
    platform: 'pagerduty',
    credentials: { secret: { name: 'pagerduty' } },
    escalation: false,
    enabled: true,
  },
}
