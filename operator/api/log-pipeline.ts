/** The custom resource `LogPipeline`, once: types, schema and rules of the CRD are made from it. */
import { z } from 'zod'
import { LOG_LEVELS } from '../../dataplane/contract/env.ts'
import { TENANT_ID } from '../../dataplane/contract/setting.ts'
import { DEFAULT_TENANT, TENANT_ID_PATTERN } from '../../dataplane/contract/tenant-id.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { BUS } from './bus.ts'
import { AGENT, ALL_IN_ONE, BRIDGE, COLLECTOR, DASHBOARD, FEATURES, GATEWAY, STREAM, TICKETING } from './component-specs.ts'
import { credentials, secretKey } from './credentials.ts'
import { POD_TEMPLATE } from './pod-template.ts'
import { annotated, count, described, httpUrl, textMap } from './schema.ts'
import type { LogPipelineStatus } from './status.ts'

export const MODES = ['Distributed', 'AllInOne'] as const

const SEARCH = described(
  z.object({
    endpoint: httpUrl('URL of the OpenSearch; mode AllInOne without it has a store of its own.', 'https://search:9200').optional(),
    credentials: credentials('User name and password: SEARCH_USERNAME (or username) and SEARCH_PASSWORD (or password).').optional(),
    caSecret: secretKey('Authority that signed the certificate of the search store.', 'ca.crt').optional(),
    retentionDays: count(1, 3_650, 'Days that logs are kept; 30 when not given.').optional(),
    incidentRetentionDays: count(1, 36_500, 'Days that resolved incidents are kept; 365 when not given.').optional(),
    shards: count(1, 1_024, 'Primary shards of new indices; the default of the search store when not given.').optional(),
    replicas: count(0, 32, 'Copies of each shard of new indices; the default of the search store when not given.').optional(),
  }),
  'The search store.',
  { rule: '!has(self.credentials) || has(self.endpoint)', message: 'expected together with endpoint', fieldPath: '.credentials' },
  {
    rule: "!has(self.caSecret) || (has(self.endpoint) && self.endpoint.startsWith('https://'))",
    message: 'expected together with an endpoint that begins with https://',
    fieldPath: '.caSecret',
  },
)

const NETWORK_POLICY = described(
  z.object({
    enabled: described(z.boolean().default(true), 'Whether NetworkPolicies are made.'),
    allowFrom: described(
      z.array(textMap(16, 63, 'Labels of a namespace.')).max(16),
      'Namespaces, each by its labels, whose pods may reach the control APIs (of bridge, ticketing, agent, features, scheduler), the dashboard and metrics, beside those of the pipeline itself. OTLP and the gateway are open to all.',
    ).optional(),
  }),
  'Who may reach the pods.',
)

const MONITORING = described(
  z.object({
    serviceMonitor: described(z.boolean(), 'A ServiceMonitor for all components.').optional(),
    rules: described(z.boolean(), 'A PrometheusRule with alerts.').optional(),
    labels: textMap(16, 63, 'Labels of both, by which Prometheus selects them.').optional(),
  }),
  'Objects of the Prometheus operator, made where its CRDs are installed.',
)

const TENANT_MESSAGE = `expected ${TENANT_ID.expected}`
const isTenantId = (tenant: string) => TENANT_ID_PATTERN.test(tenant)

export const LOG_PIPELINE_SPEC = described(
  z.object({
    mode: described(
      z.enum(MODES).default('Distributed'),
      'Distributed: a Deployment for each component. AllInOne: one StatefulSet on a volume that needs nothing else.',
    ),
    tenant: annotated(z.string().max(63).refine(isTenantId, TENANT_MESSAGE).default(DEFAULT_TENANT), {
      description: 'Tenant of records that name none, and of the cluster resources that the agent shows.',
      'x-kubernetes-validations': [
        { rule: `self.matches(r'${TENANT_ID_PATTERN.source}')`, message: TENANT_MESSAGE },
        { rule: 'self == oldSelf', message: 'tenant cannot be changed: expected as it was; make another LogPipeline for another tenant' },
      ],
    }),
    paused: described(z.boolean(), 'Stops all changes to the objects of the pipeline; its status is kept up to date.').optional(),
    image: described(
      z.string().min(1).max(512).regex(/^\S+$/),
      "Image of all components; that of the operator's own release when not given.",
    ).optional(),
    imagePullPolicy: described(z.enum(['Always', 'IfNotPresent', 'Never']), 'When the image is pulled.').optional(),
    logLevel: described(z.enum(LOG_LEVELS), 'Least severe log line that the components write; info when not given.').optional(),
    bus: BUS.optional(),
    search: SEARCH.optional(),
    collector: COLLECTOR.optional(),
    gateway: GATEWAY.optional(),
    bridge: BRIDGE.optional(),
    stream: STREAM.optional(),
    features: FEATURES.optional(),
    ticketing: TICKETING.optional(),
    agent: AGENT.optional(),
    dashboard: DASHBOARD.optional(),
    allInOne: ALL_IN_ONE.optional(),
    networkPolicy: NETWORK_POLICY.optional(),
    monitoring: MONITORING.optional(),
    podTemplate: POD_TEMPLATE.optional(),
  }),
  'What is wanted.',
  { rule: "self.mode != 'Distributed' || has(self.bus)", message: 'mode Distributed: expected bus' },
  {
    rule: "self.mode != 'Distributed' || (has(self.search) && has(self.search.endpoint))",
    message: 'mode Distributed: expected search.endpoint',
  },
  {
    rule: "self.mode != 'AllInOne' || !has(self.bus)",
    message: 'mode AllInOne has a bus of its own: expected no bus',
    fieldPath: '.bus',
  },
  {
    rule: "self.mode != 'AllInOne' || !has(self.stream) || !has(self.stream.enabled) || !self.stream.enabled",
    message: 'stream jobs need Kafka: expected mode Distributed',
    fieldPath: '.stream',
  },
  {
    rule: "self.mode == 'AllInOne' || !has(self.allInOne)",
    message: 'expected together with mode AllInOne only',
    fieldPath: '.allInOne',
  },
  {
    rule: "self.mode != 'AllInOne' || ((!has(self.collector) || (!has(self.collector.replicas) && !has(self.collector.autoscaling))) && (!has(self.bridge) || (!has(self.bridge.replicas) && !has(self.bridge.autoscaling))) && (!has(self.ticketing) || !has(self.ticketing.replicas)) && (!has(self.gateway) || (!has(self.gateway.replicas) && !has(self.gateway.autoscaling))) && (!has(self.dashboard) || !has(self.dashboard.replicas)))",
    message: 'mode AllInOne is one pod: expected no replicas and no autoscaling of collector, gateway, bridge, ticketing or dashboard',
  },
  {
    rule: "self.mode == 'AllInOne' || !has(self.features) || !has(self.features.enabled) || !self.features.enabled || has(self.features.onlineStore)",
    message: 'features in mode Distributed: expected onlineStore, since the pods share it',
    fieldPath: '.features',
  },
  {
    rule: "self.mode != 'AllInOne' || oldSelf.mode != 'AllInOne' || (has(self.allInOne) && has(self.allInOne.storage)) == (has(oldSelf.allInOne) && has(oldSelf.allInOne.storage))",
    message: 'allInOne.storage cannot be added or taken away: a StatefulSet keeps its claim',
  },
)
export type LogPipelineSpec = z.output<typeof LOG_PIPELINE_SPEC>

export const LOG_PIPELINE_KIND = 'LogPipeline'

export interface LogPipeline extends KubernetesObject {
  readonly spec: LogPipelineSpec
  readonly status?: LogPipelineStatus
  /** Why `spec` cannot be used, field by field; it then asks for nothing. */
  readonly problems?: readonly string[]
}
