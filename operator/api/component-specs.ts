/** The part of a `LogPipeline` that each component has. */
import { z } from 'zod'
import { LLM_PROVIDERS } from '../../dataplane/contract/llm-providers.ts'
import { REDIS_URL, TENANT_ID } from '../../dataplane/contract/setting.ts'
import { TENANT_ID_PATTERN } from '../../dataplane/contract/tenant-id.ts'
import { LOOKBACK_RULE, parseLookback } from '../../dataplane/domain/incidents/anomaly-config.ts'
import { credentials } from './credentials.ts'
import { annotated, count, described, formatted, httpUrl, isValueOf, objectName, textMap } from './schema.ts'
import { AUTOSCALING, aboveZero, LAG_AUTOSCALING, positiveQuantity, REPLICAS, RESOURCES } from './workload.ts'

function service(description: string) {
  return described(
    z.object({
      type: described(z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']), 'Type of the Service; ClusterIP when not given.').optional(),
      annotations: textMap(32, 4_096, 'Annotations of the Service, which load balancers are configured by.').optional(),
    }),
    description,
  )
}

const tlsSecret = (description: string) =>
  described(
    z.object({ secretName: objectName('Name of a Secret of type kubernetes.io/tls (tls.crt, tls.key), in the same namespace.') }),
    description,
  )

function ingress(description: string, tls: string) {
  return described(
    z.object({
      host: formatted('Name under which it is reached.', {
        maxLength: 253,
        pattern: /^([*][.])?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
        expected: 'a host name such as logs.example.com',
      }),
      className: objectName('Ingress class; that of the cluster when not given.').optional(),
      tls: tlsSecret(tls).optional(),
      annotations: textMap(
        32,
        4_096,
        'Annotations of the Ingress, which controllers are configured by; they win over those that the operator sets.',
      ).optional(),
    }),
    description,
  )
}

export const COLLECTOR = described(
  z.object({
    replicas: REPLICAS.optional(),
    autoscaling: AUTOSCALING.optional(),
    resources: RESOURCES.optional(),
    service: service('The Service on which OTLP is taken in.').optional(),
  }),
  'Takes OTLP logs in. Two pods when not said otherwise.',
)

const TENANT = formatted('A tenant.', { maxLength: 63, pattern: TENANT_ID_PATTERN, expected: TENANT_ID.expected })

export const GATEWAY = described(
  z.object({
    enabled: described(
      z.boolean(),
      'Whether there is a gateway: in mode Distributed not when not given; in mode AllInOne it is part of the pod, and false takes its Service away.',
    ).optional(),
    replicas: REPLICAS.optional(),
    autoscaling: AUTOSCALING.optional(),
    resources: RESOURCES.optional(),
    tls: tlsSecret(
      'Its certificate; one that changes is served without a restart. Without it each pod makes a self-signed one, which clients do not trust.',
    ).optional(),
    bootstrapKey: credentials(
      'A first API key, of the tenant of the pipeline: BOOTSTRAP_KEY (or apiKey), svc_proj_ and 64 hexadecimal digits. One that is put in its place later is added; revoke the one before when nobody uses it any more.',
    ).optional(),
    requestsPerSecond: count(
      1,
      1_000_000,
      'Requests a second for which one API key is good, at each pod; no limit when not given.',
    ).optional(),
    adminTenants: described(
      z.array(TENANT).max(32),
      'Tenants whose keys may ask what speaks for all tenants: metrics of processes, configuration of the bridge.',
    ).optional(),
    service: service('The Service of port 8443: TLS with HTTP/1.1, HTTP/2 and OTLP over gRPC.').optional(),
    ingress: ingress(
      'An Ingress for HTTP, and one for OTLP over gRPC. Both reach the gateway over TLS.',
      'Certificate of the Ingress; that of the gateway when not given.',
    ).optional(),
  }),
  'Asks for an API key, and passes requests on for the tenant of the key. Two pods when not said otherwise.',
)

export const DASHBOARD = described(
  z.object({
    enabled: described(
      z.boolean(),
      'Whether there is a dashboard: in mode Distributed not when not given; in mode AllInOne it is part of the pod, and false takes its Service away.',
    ).optional(),
    replicas: REPLICAS.optional(),
    resources: RESOURCES.optional(),
    credentials: credentials(
      'The one user that it asks for, else nobody: DASHBOARD_PASSWORD (or password), and DASHBOARD_USERNAME (or username; admin when not there).',
    ).optional(),
    ingress: ingress(
      'An Ingress. Everybody who reaches it sees all logs, unless credentials are asked for.',
      'Certificate of the Ingress; plain HTTP when not given.',
    ).optional(),
    allowFrom: described(
      z.array(textMap(16, 63, 'Labels of a namespace.')).max(16),
      'Namespaces, each by its labels, whose pods may reach the dashboard and nothing else, such as that of the Ingress controller.',
    ).optional(),
  }),
  'The console, the keyless way to all services, and uploads. One pod when not said otherwise.',
)

export const BRIDGE = described(
  z.object({
    replicas: REPLICAS.optional(),
    autoscaling: LAG_AUTOSCALING.optional(),
    // By a rule: the API server compares a whole number with the whole part of a minimum.
    anomalyThreshold: described(z.number().max(100), 'Z-score from which a record is an anomaly; 2.5 when not given.', {
      rule: 'self >= 0.000001',
      message: 'expected a number above 0, at least 0.000001',
    }).optional(),
    windowSize: count(10, 100_000, 'Values in the sliding window of the Z-score; 50 when not given.').optional(),
    resources: RESOURCES.optional(),
  }),
  'Flattens, enriches, scores and indexes records, and opens incidents. One pod when not said otherwise.',
)

export const STREAM = described(
  z.object({
    enabled: described(z.boolean(), 'Whether the jobs run; the bridge stands by for what they do.').optional(),
    replicas: REPLICAS.optional(),
    autoscaling: annotated(LAG_AUTOSCALING, {
      description:
        'Scales each job by CPU use, or by what waits for it on the bus (KEDA); as the bridge is where KEDA scales that and neither this nor replicas is given.',
    }).optional(),
    resources: RESOURCES.optional(),
  }),
  'The exactly-once jobs (ETL and scoring), of mode Distributed. One pod each when not said otherwise.',
)

const ONLINE_STORE = described(
  z.object({
    url: formatted('URL of a Redis or Valkey, without a password.', {
      maxLength: 2_048,
      pattern: /^rediss?:[/][/][^ ]+$/,
      expected: 'a URL such as redis://valkey:6379 (rediss: over TLS)',
      isUsable: isValueOf(REDIS_URL),
    }).optional(),
    credentials: credentials(
      'Beside url: ONLINE_STORE_PASSWORD (or password), and ONLINE_STORE_USERNAME (or username) where there is one. Without it the whole URL: ONLINE_STORE_URL (or url).',
    ).optional(),
  }),
  'Where the features are kept.',
  { rule: 'has(self.url) || has(self.credentials)', message: 'expected url, credentials, or both' },
  {
    rule: "!has(self.url) || !self.url.contains('@')",
    message: 'expected no password in url: put it into a Secret and name that in credentials',
    fieldPath: '.url',
  },
)

export const FEATURES = described(
  z.object({
    enabled: described(z.boolean(), 'Whether features are computed and served.').optional(),
    schedule: described(z.enum(['@hourly', '0 * * * *']), 'When features are computed: each hour, as the specification has it.').optional(),
    onlineStore: ONLINE_STORE.optional(),
    resources: RESOURCES.optional(),
  }),
  'The ML features: their server and the scheduler that computes them.',
)

const LABEL_VALUE = z.string().max(63)
const ROUTE_SELECTOR = described(
  z.object({
    matchLabels: textMap(32, 63, 'Labels that a route must have.').optional(),
    matchExpressions: described(
      z
        .array(
          described(
            z.object({
              key: described(z.string().min(1).max(317), 'Key of the label.'),
              operator: described(z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']), 'What is asked of the label.'),
              values: described(z.array(LABEL_VALUE).max(32), 'Values that the label must, or must not, have one of.').optional(),
            }),
            'A rule for one label.',
            {
              rule: "(has(self.values) && self.values.size() > 0) == (self.operator in ['In', 'NotIn'])",
              message: 'expected values with In and NotIn, and none with Exists and DoesNotExist',
              fieldPath: '.values',
            },
          ),
        )
        .max(32),
      'Rules for labels of a route, all of which must hold.',
    ).optional(),
  }),
  'Which TicketingRoutes of the namespace count; all when not given.',
)
export type LabelSelector = z.output<typeof ROUTE_SELECTOR>

const LLM = described(
  z.object({
    provider: described(z.enum(LLM_PROVIDERS), 'Whose model it is; none: rules alone.'),
    model: described(z.string().min(1).max(256), 'Name of the model.').optional(),
    baseUrl: formatted('Where it is reached, if not at the usual address of the provider.', {
      maxLength: 2_048,
      pattern: /^https?:[/][/][^ ]+$/,
      expected: 'a URL such as https://models.example/v1, without user name and fragment',
      // No part of the pattern: resources that were stored before it have to be read.
      rule: "self.matches(r'^https?[:][/][/][^/?#@]+([/?][^#]*)?$')",
    }).optional(),
    credentials: credentials('The API key: apiKey.').optional(),
  }),
  'The language model that root causes are put to.',
  { rule: "self.provider == 'none' || has(self.model)", message: 'expected a model, since provider is not none' },
)

/** As `parseLookback` has it: parts add up, and milliseconds are rounded. */
const LOOKBACK_BOUNDS =
  "[self.findAll('[0-9.]+(ms|[smhd])').map(part, part.endsWith('ms') ? double(part.substring(0, part.size() - 2)) : double(part.substring(0, part.size() - 1)) * (part.endsWith('s') ? 1000.0 : (part.endsWith('m') ? 60000.0 : (part.endsWith('h') ? 3600000.0 : 86400000.0)))).sum()].all(ms, ms >= 999.5 && ms < 604800000.5)"

const ANOMALY = described(
  z.object({
    minimumScore: described(
      z.number().min(0).max(1),
      'Rule score from which a single anomaly makes an incident; 0.85 when not given.',
    ).optional(),
    lookbackWindow: formatted('How long after its last anomaly an incident takes in more; 15m when not given.', {
      maxLength: 32,
      pattern: /^([0-9]+([.][0-9]+)?(ms|[smhd]))+$/,
      expected: LOOKBACK_RULE,
      isUsable: text => parseLookback(text) !== undefined,
      rule: LOOKBACK_BOUNDS,
    }).optional(),
  }),
  'When anomalies make an incident.',
)

export const TICKETING = described(
  z.object({
    anomaly: ANOMALY.optional(),
    llm: LLM.optional(),
    routeSelector: ROUTE_SELECTOR.optional(),
    replicas: REPLICAS.optional(),
    allowPrivateTargets: described(
      z.boolean(),
      'Whether platforms and models may have plain http and private addresses, such as a mail relay within the cluster; not when not given.',
    ).optional(),
    publicUrl: httpUrl(
      'URL of the console as users open it, for links in tickets; without it tickets have none.',
      'https://logs.example',
    ).optional(),
    encryptionKey: credentials(
      'Key under which secrets that callers configure are kept: ENCRYPTION_KEY, as from `openssl rand -base64 32`. When not given, mode Distributed has one in the Secret <name>-encryption-key, made once; mode AllInOne on its volume.',
    ).optional(),
    resources: RESOURCES.optional(),
  }),
  'Lists incidents, takes them through their states and dispatches them.',
)

export const AGENT = described(
  z.object({
    enabled: described(
      z.boolean().default(true),
      'Whether the infrastructure agent runs; in mode AllInOne it is part of the pod, and false takes its Service away.',
    ),
    resources: RESOURCES.optional(),
  }),
  'Tells the health of the bus, the stream jobs, the search store and the synchronised secrets.',
)

const STORAGE = described(
  z.object({
    size: positiveQuantity('Size of the volume; 20Gi when not given.').optional(),
    storageClassName: described(z.string().min(1).max(253), 'Storage class; that of the cluster when not given.').optional(),
  }),
  'The volume.',
  {
    // A volume of nothing, stored before that was refused, never came to a claim.
    rule: `self == oldSelf || has(oldSelf.size) && !${aboveZero('oldSelf.size')}`,
    message: 'storage cannot be changed: expected as it was; resize the PersistentVolumeClaim itself',
  },
)

export const ALL_IN_ONE = described(
  z.object({
    storage: STORAGE.optional(),
    resources: annotated(RESOURCES, {
      description: 'Resources of its container; requests that are not given have defaults, at most the limits.',
    }).optional(),
  }),
  'The one pod of mode AllInOne.',
)
