/** The pods of every component: restricted, with probes, settings and their files. */
import type {
  V1Container,
  V1EnvVar,
  V1LabelSelector,
  V1PodSecurityContext,
  V1PodSpec,
  V1PodTemplateSpec,
  V1Probe,
  V1ResourceRequirements,
  V1TopologySpreadConstraint,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import { SETTINGS, type SettingName, settingsOfRole } from '../../dataplane/contract/env.ts'
import { COMPONENTS, type Component } from '../api/components.ts'
import { INPUTS_HASH_ANNOTATION } from '../api/names.ts'
import type { PodTemplate } from '../api/pod-template.ts'
import type { Resources } from '../api/workload.ts'
import { inputsHash } from './inputs-hash.ts'
import { labelsOf, type PipelineContext, selectorLabels } from './pipeline-context.ts'
import { type FileMount, mountFiles } from './projected-files.ts'
import { smallerAmount } from './quantity.ts'
import { DATA_DIR, type FileSource, type RoleSettings } from './role-settings.ts'
import type { Json } from './typed-object.ts'

export interface Endpoint {
  readonly path: string
  /** Name of the port. */
  readonly port: string
}

export interface PodDescription {
  readonly component: Component
  readonly settings: RoleSettings
  /** Name → number of each listener. */
  readonly ports: Readonly<Record<string, number>>
  readonly ready: Endpoint
  /** Must not depend on other servers: a pod is not helped by a restart when Kafka is away. */
  readonly alive: Endpoint
  /** Requests that are made when the resource makes none. */
  readonly requests: { readonly cpu: string; readonly memory: string }
  readonly resources: Resources | undefined
  readonly serviceAccount: string
  /** Whether the pod speaks to the API server. */
  readonly hasClusterAccess?: true
  /** The volume at `DATA_DIR`: `scratch` goes with the pod; a claim stays. */
  readonly data?: 'scratch' | { readonly claim: string }
  /** Files that the role reads again while it runs: their content is none of the pod's inputs. */
  readonly reread?: readonly FileMount[]
  /** Takes requests until Services have noticed that it stops, seconds. */
  readonly lingerSeconds?: number
}

const SETTINGS_DIR = '/etc/logpipeline/settings'
/** A role drains within 25 s (Decisions 2). */
const DRAIN_SECONDS = 25
const SPARE_SECONDS = 10
/** The user of the image. */
const USER_ID = 65_532

export function buildPodTemplate(context: PipelineContext, pod: PodDescription): Json<V1PodTemplateSpec> {
  const { spec } = context
  const { labels = {}, annotations = {} } = spec.podTemplate ?? {}
  return {
    metadata: {
      labels: { ...labels, ...labelsOf(context, pod.component) },
      annotations: { ...annotations, [INPUTS_HASH_ANNOTATION]: podInputsHash(context, pod) },
    },
    spec: podSpec(context, pod),
  }
}

/** Over everything that the pod is made from, with the content of its files. The empty list keeps the hash what it has always been: another rolls every pod. */
function podInputsHash(context: PipelineContext, { settings }: PodDescription): string {
  const given = podTemplateInputs(context)
  return inputsHash({ image: imageOf(context), settings, files: [], ...(given.length > 0 && { podTemplate: given }) })
}

/** The variables that the resource gives, and the content of Secrets that it names in `podTemplate`. */
function podTemplateInputs({ spec, references }: PipelineContext): readonly unknown[] {
  const { env = [], envFrom = [] } = spec.podTemplate ?? {}
  const contents = references.flatMap(({ reference: { path }, values = [] }) =>
    path.startsWith('spec.podTemplate.') ? values.map(({ key, base64 }) => [path, key, base64]) : [],
  )
  return [...env, ...envFrom, ...contents]
}

const imageOf = ({ spec, settings }: PipelineContext) => spec.image ?? settings.image

function podSpec(context: PipelineContext, pod: PodDescription): Json<V1PodSpec> {
  const { nodeSelector, tolerations, affinity, priorityClassName, imagePullSecrets, ...others } = context.spec.podTemplate ?? {}
  const { runtimeClassName, schedulerName, hostAliases, dnsConfig } = others
  const mounted = mountFiles([{ volume: 'settings', directory: SETTINGS_DIR, files: settingFiles(pod.settings) }, ...(pod.reread ?? [])])
  const writable = writableVolumes(pod.data)
  const extra = extraVolumes(others)
  const volumes = [...mounted.volumes, ...writable.volumes, ...extra.volumes]
  return {
    serviceAccountName: pod.serviceAccount,
    automountServiceAccountToken: pod.hasClusterAccess ?? false,
    // Variables made from the names of Services (BRIDGE_PORT) would be read as settings.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: others.terminationGracePeriodSeconds ?? DRAIN_SECONDS + (pod.lingerSeconds ?? 0) + SPARE_SECONDS,
    securityContext: {
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
      ...ids(context, pod),
    },
    topologySpreadConstraints: spread(context, pod.component),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations: tolerations as NonNullable<V1PodSpec['tolerations']> }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    ...(imagePullSecrets === undefined ? {} : { imagePullSecrets }),
    ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
    ...(schedulerName === undefined ? {} : { schedulerName }),
    ...(hostAliases === undefined ? {} : { hostAliases: hostAliases as NonNullable<V1PodSpec['hostAliases']> }),
    ...(dnsConfig === undefined ? {} : { dnsConfig: dnsConfig as NonNullable<V1PodSpec['dnsConfig']> }),
    containers: [container(context, pod, [...mounted.mounts, ...writable.mounts, ...extra.mounts])],
    volumes,
  }
}

/** The ids that the resource gives. A volume that it names no group for belongs to the user: that of the image, unless the ids are left to the cluster (`{}`). */
function ids({ spec }: PipelineContext, { data }: PodDescription): V1PodSecurityContext {
  const asked = spec.podTemplate?.securityContext
  const given = (asked ?? {}) as V1PodSecurityContext
  const user = asked === undefined ? USER_ID : asked.runAsUser
  const fsGroup = given.fsGroup ?? (typeof data === 'object' ? user : undefined)
  return fsGroup === undefined ? given : { ...given, fsGroup, fsGroupChangePolicy: 'OnRootMismatch' }
}

function container(context: PipelineContext, pod: PodDescription, volumeMounts: V1VolumeMount[]): V1Container {
  const { imagePullPolicy, podTemplate } = context.spec
  return {
    name: pod.component,
    image: imageOf(context),
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    args: COMPONENTS[pod.component].role.split(' '),
    env: [...environment(pod), ...((podTemplate?.env ?? []) as V1EnvVar[])],
    ...(podTemplate?.envFrom === undefined ? {} : { envFrom: podTemplate.envFrom as NonNullable<V1Container['envFrom']> }),
    ports: Object.entries(pod.ports).map(([name, containerPort]) => ({ name, containerPort, protocol: 'TCP' })),
    resources: resources(pod),
    startupProbe: { ...probe(pod.alive), periodSeconds: 2, failureThreshold: 150 },
    livenessProbe: { ...probe(pod.alive), periodSeconds: 10, failureThreshold: 6 },
    readinessProbe: { ...probe(pod.ready), periodSeconds: 5, failureThreshold: 2 },
    // The end of the log is then the reason that conditions tell: a role says there why it ends.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...(pod.lingerSeconds === undefined ? {} : { lifecycle: { preStop: { sleep: { seconds: pod.lingerSeconds } } } }),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts,
  }
}

function probe({ path, port }: Endpoint): V1Probe {
  return { httpGet: { path, port }, timeoutSeconds: 5 }
}

function resources({ requests, resources: asked }: PodDescription): V1ResourceRequirements {
  const limits = texts(asked?.limits)
  // A request above the limit would be refused.
  const fitting = Object.entries(requests).map(([name, amount]) => [name, smallerAmount(amount, limits[name] ?? amount)])
  return {
    requests: { ...Object.fromEntries(fitting), ...texts(asked?.requests) },
    ...(asked?.limits === undefined ? {} : { limits }),
  }
}

/** As the API server gives them back. */
function texts(amounts: Readonly<Record<string, number | string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
}

/** In the order of the table of settings. */
function environment({ component, settings, data }: PodDescription): V1EnvVar[] {
  const all: RoleSettings = data === undefined ? settings : { ...settings, DATA_DIR }
  return settingsOfRole(COMPONENTS[component].role).flatMap(([name]) => {
    const value = all[name]
    if (value === undefined) return []
    if (typeof value === 'string') return [{ name, value }]
    return [{ name: isPath(name) ? name : `${name}_FILE`, value: `${SETTINGS_DIR}/${name}` }]
  })
}

const isPath = (name: SettingName) => 'pem' in SETTINGS[name]

function settingFiles(settings: RoleSettings): Readonly<Record<string, FileSource>> {
  return Object.fromEntries(Object.entries(settings).filter((entry): entry is [string, FileSource] => typeof entry[1] === 'object'))
}

/** Writable directories, since the root file system is read-only. A claim is made from the StatefulSet's template. */
function writableVolumes(data: PodDescription['data']): { readonly volumes: Json<V1Volume>[]; readonly mounts: V1VolumeMount[] } {
  const volumes: Json<V1Volume>[] = [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }]
  const mounts = [{ name: 'tmp', mountPath: '/tmp' }]
  if (data === 'scratch') volumes.push({ name: 'data', emptyDir: {} })
  if (data !== undefined) mounts.push({ name: data === 'scratch' ? 'data' : data.claim, mountPath: DATA_DIR })
  return { volumes, mounts }
}

/** Files that the resource asks for; their volumes are called apart from the operator's own. */
function extraVolumes({ volumes = [] }: PodTemplate): { readonly volumes: Json<V1Volume>[]; readonly mounts: V1VolumeMount[] } {
  return {
    volumes: volumes.map(({ name, secret, configMap }) => ({
      name: `extra-${name}`,
      ...(secret !== undefined && { secret: { secretName: secret.name } }),
      ...(configMap !== undefined && { configMap: { name: configMap.name } }),
    })),
    mounts: volumes.map(({ name, mountPath }) => ({ name: `extra-${name}`, mountPath, readOnly: true })),
  }
}

/** As the resource has it, else over nodes and zones, as far as that goes. */
function spread(context: PipelineContext, component: Component): NonNullable<V1PodSpec['topologySpreadConstraints']> {
  const labelSelector: V1LabelSelector = { matchLabels: { ...selectorLabels(context, component) } }
  const given = context.spec.podTemplate?.topologySpreadConstraints
  if (given !== undefined) return given.map(constraint => ({ ...constraint, labelSelector })) as V1TopologySpreadConstraint[]
  return ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map(topologyKey => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector,
  }))
}
