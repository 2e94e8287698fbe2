/** `spec.podTemplate`: what all pods of a pipeline have in common. */
import { z } from 'zod'
import { SETTINGS, type SettingName } from '../../dataplane/contract/env.ts'
import { annotated, count, dataKey, described, formatted, localReference, objectName, passedThrough, textMap } from './schema.ts'

const TOLERATION = z.object({
  key: described(z.string().max(317), 'Key of the taint; all keys when not given, with the operator Exists.').optional(),
  operator: described(z.enum(['Exists', 'Equal']), 'Whether value has to be that of the taint; Equal when not given.').optional(),
  value: described(z.string().max(63), 'Value of the taint, with the operator Equal.').optional(),
  effect: described(z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']), 'Effect of the taint; all effects when not given.').optional(),
  tolerationSeconds: described(
    z.int(),
    'How long pods stay that run already, with the effect NoExecute; for ever when not given.',
  ).optional(),
})

const MAX_ID = 2_147_483_647
const groupId = (description: string) => count(0, MAX_ID, description)

const SECURITY_CONTEXT = described(
  z.object({
    runAsUser: count(1, MAX_ID, 'User of the processes; that of the image (65532) when not given.').optional(),
    runAsGroup: groupId('Group of the processes.').optional(),
    fsGroup: groupId('Group of the volumes; in mode AllInOne the number of runAsUser when that alone is given.').optional(),
    supplementalGroups: described(z.array(groupId('A group.')).max(32), 'More groups of the processes.').optional(),
  }),
  'Ids of the pods. When not given, the volume of mode AllInOne has the group 65532 (fsGroup); {} leaves that out, as OpenShift asks for, which sets all ids itself.',
)

const TOPOLOGY_SPREAD = z.object({
  topologyKey: described(z.string().min(1).max(317), 'Label of the nodes by whose values pods are spread.'),
  maxSkew: count(1, 1_000, 'Most pods of a component that one value may have more than another.'),
  whenUnsatisfiable: described(
    z.enum(['DoNotSchedule', 'ScheduleAnyway']),
    'DoNotSchedule: a pod that would break the rule waits. ScheduleAnyway: it goes where it breaks it least.',
  ),
  minDomains: count(1, 1_000, 'Least number of values that pods have to be spread over, with DoNotSchedule.').optional(),
  nodeAffinityPolicy: described(z.enum(['Honor', 'Ignore']), 'Whether nodes count that affinity shuts out; not when not given.').optional(),
  nodeTaintsPolicy: described(z.enum(['Honor', 'Ignore']), 'Whether nodes count that taints shut out; they do when not given.').optional(),
})

/** The settings that no field gives and that break nothing of what the operator makes. */
const FREE_SETTINGS: readonly SettingName[] = [
  'MAX_REQUEST_BYTES',
  'MAX_PENDING_BYTES',
  'BUS_CLIENT',
  'BUS_MAX_BYTES',
  'RAW_PARTITIONS',
  'ENRICHED_PARTITIONS',
  'ANOMALY_PARTITIONS',
  'ETL_WORKERS',
  'RETENTION_BYTES',
  'LLM_TOKENS_PER_HOUR',
]
const RESERVED = (Object.keys(SETTINGS) as SettingName[]).filter(name => !FREE_SETTINGS.includes(name))

const LOCAL_KEY = (kind: string) =>
  z.object({ name: objectName(`Name of the ${kind}, in the same namespace.`), key: dataKey(`Key in the ${kind}.`) })

const VALUE_FROM = described(
  z.object({
    secretKeyRef: described(LOCAL_KEY('Secret'), 'A key of a Secret; a change of it rolls the pods.').optional(),
    configMapKeyRef: described(LOCAL_KEY('ConfigMap'), 'A key of a ConfigMap, as it is when a pod starts.').optional(),
    fieldRef: described(
      z.object({ fieldPath: described(z.string().min(1).max(317), 'Such as metadata.name, spec.nodeName, status.hostIP.') }),
      'A field of the pod.',
    ).optional(),
  }),
  'Where the value comes from.',
  {
    rule: '[has(self.secretKeyRef), has(self.configMapKeyRef), has(self.fieldRef)].filter(given, given).size() == 1',
    message: 'expected exactly one of secretKeyRef, configMapKeyRef and fieldRef',
  },
)

const ENV_VAR = described(
  z.object({
    name: formatted('Name of the variable.', {
      maxLength: 128,
      pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
      expected: `letters, digits and _, and no setting that other fields of the resource give; of the program's own settings ${FREE_SETTINGS.join(', ')}`,
      isUsable: name => !RESERVED.includes(name.replace(/_FILE$/, '') as SettingName) && !RESERVED.includes(name as SettingName),
      rule: `!self.matches(r'^(${RESERVED.join('|')})(_FILE)?$')`,
    }),
    value: described(z.string().max(8_192), 'The value; $(NAME) stands for another variable.').optional(),
    valueFrom: VALUE_FROM.optional(),
  }),
  'A variable.',
  { rule: 'has(self.value) != has(self.valueFrom)', message: 'expected exactly one of value and valueFrom' },
)
export type EnvVar = z.output<typeof ENV_VAR>

const ENV_SOURCE = described(
  z.object({
    prefix: formatted('Begins the name of each variable.', {
      maxLength: 64,
      pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
      expected: 'letters, digits and _',
    }).optional(),
    secretRef: described(localReference('Secret'), 'A Secret; a change of it rolls the pods.').optional(),
    configMapRef: described(localReference('ConfigMap'), 'A ConfigMap, as it is when a pod starts.').optional(),
  }),
  'A variable for each key; those that the operator sets, and those of env, win.',
  { rule: 'has(self.secretRef) != has(self.configMapRef)', message: 'expected exactly one of secretRef and configMapRef' },
)

/** Places of the image and of what the operator mounts. */
const TAKEN_PATHS = ['/app', '/data', '/dev', '/etc/logpipeline', '/proc', '/sys', '/tmp', '/usr/local/bin', '/var/run/secrets']
const isFreePath = (path: string) => !/[/][.]{1,2}([/]|$)/.test(path) && !TAKEN_PATHS.some(taken => `${path}/`.startsWith(`${taken}/`))

const VOLUME = described(
  z.object({
    name: described(
      z
        .string()
        .min(1)
        .max(50)
        .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
      'Name of the volume.',
    ),
    mountPath: formatted('Directory in which each key is a file.', {
      maxLength: 512,
      pattern: /^([/][A-Za-z0-9._-]+)+$/,
      expected: `an absolute path without . and .., outside of ${TAKEN_PATHS.join(', ')}`,
      isUsable: isFreePath,
      rule: `!self.matches(r'[/][.]{1,2}([/]|$)') && !self.matches(r'^(${TAKEN_PATHS.join('|')})([/]|$)')`,
    }),
    secret: described(localReference('Secret'), 'A Secret; a change of it rolls the pods.').optional(),
    configMap: described(localReference('ConfigMap'), 'A ConfigMap; the kubelet brings changes, the pods go on.').optional(),
  }),
  'Files of a Secret or a ConfigMap, such as certificates of an authority of your own (NODE_EXTRA_CA_CERTS in env names the file).',
  { rule: 'has(self.secret) != has(self.configMap)', message: 'expected exactly one of secret and configMap' },
)

const DNS_CONFIG = z.object({
  nameservers: described(z.array(z.string().min(1).max(45)).max(3), 'Addresses of name servers, beside those of the cluster.').optional(),
  searches: described(z.array(z.string().min(1).max(253)).max(32), 'Domains in which short names are looked up.').optional(),
  options: described(
    z
      .array(
        z.object({
          name: described(z.string().min(1).max(63), 'Such as ndots.'),
          value: described(z.string().max(63), 'Such as "2".').optional(),
        }),
      )
      .max(16),
    'Options of the resolver.',
  ).optional(),
})

const HOST_ALIAS = z.object({
  ip: described(z.string().min(1).max(45), 'The address.'),
  hostnames: described(z.array(z.string().min(1).max(253)).min(1).max(16), 'Names of it.'),
})

/** Pods drain for 25 s, those that linger for longer: `desired/pod-template.ts`. */
const LEAST_GRACE_SECONDS = 60

export const POD_TEMPLATE = described(
  z.object({
    labels: textMap(32, 63, 'Labels of the pods beside those that the operator sets.').optional(),
    annotations: textMap(32, 4_096, 'Annotations of the pods.').optional(),
    nodeSelector: textMap(32, 63, 'Labels that a node must have.').optional(),
    tolerations: described(z.array(TOLERATION).max(32), 'Taints of nodes that pods put up with.').optional(),
    affinity: passedThrough('Affinity as in a pod; replaces nothing, the topology spread stays.').optional(),
    topologySpreadConstraints: described(
      z.array(TOPOLOGY_SPREAD).max(8),
      'How the pods of each component are spread, in place of what is done when it is not given: over nodes and zones, as far as that goes. [] leaves it to the scheduler. The labels of the component are added.',
    ).optional(),
    securityContext: SECURITY_CONTEXT.optional(),
    priorityClassName: objectName('Priority of the pods.').optional(),
    imagePullSecrets: described(
      z.array(z.object({ name: objectName('Name of the Secret.') })).max(16),
      'Secrets with which the image is pulled.',
    ).optional(),
    runtimeClassName: objectName('Runtime of the containers (RuntimeClass).').optional(),
    schedulerName: objectName('Scheduler of the pods; that of the cluster when not given.').optional(),
    terminationGracePeriodSeconds: count(
      LEAST_GRACE_SECONDS,
      3_600,
      'Time that a pod has to end; when not given, what its component needs to drain and 10 s.',
    ).optional(),
    hostAliases: described(z.array(HOST_ALIAS).max(32), 'Names that the pods know without asking a name server.').optional(),
    dnsConfig: described(DNS_CONFIG, 'Name servers of the pods and how they are asked, beside those of the cluster.').optional(),
    serviceAccount: described(
      z.object({ annotations: textMap(32, 4_096, 'Annotations of the ServiceAccounts, such as those of workload identities.').optional() }),
      'The ServiceAccounts of the pods.',
    ).optional(),
    env: annotated(z.array(ENV_VAR).max(64), {
      description: 'Variables of the containers, such as HTTPS_PROXY or NODE_EXTRA_CA_CERTS.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }).optional(),
    envFrom: described(z.array(ENV_SOURCE).max(16), 'Secrets and ConfigMaps of which each key is a variable.').optional(),
    volumes: annotated(z.array(VOLUME).max(16), {
      description: 'Files beside those of the operator.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-validations': [
        { rule: 'self.all(one, self.exists_one(other, other.mountPath == one.mountPath))', message: 'expected each mountPath once' },
      ],
    }).optional(),
  }),
  'What all pods of the pipeline have in common.',
)
export type PodTemplate = z.output<typeof POD_TEMPLATE>
