/** Scales bridge and stream jobs by what waits for them on the bus: ScaledObject and TriggerAuthentication of KEDA. */
import { BRIDGE_THREADS } from '../../dataplane/contract/bridge-threads.ts'
import { readersOf } from '../../dataplane/contract/consumer-groups.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { saslMechanism } from '../api/bus.ts'
import { type Component, componentName, leastAutoscaled, workerOf } from '../api/components.ts'
import type { Autoscaling } from '../api/workload.ts'
import { servedApiVersion } from '../observed/gathered.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import { BUS_CA_KEY, BUS_USERNAME_KEY, busConfigMapName, busSettings, type RoleSettings, topicNames } from './role-settings.ts'

const DEFAULT_LAG_THRESHOLD = 1_000

interface Lag {
  readonly topic: string
  readonly group: string
}

/** Topics whose records are many, each with the groups that read it, of the threads whose work the component does. */
function lags(context: PipelineContext, component: Component): readonly Lag[] {
  const names = topicNames(context)
  const threads = BRIDGE_THREADS.filter(thread => workerOf(context.spec, thread) === component)
  return (['raw', 'enriched'] as const).flatMap(key => readersOf(key, names, threads).map(group => ({ topic: names[key], group })))
}

/** KEDA's names for what `BUS_SASL_MECHANISM` names. */
const SASL = { plain: 'plaintext', 'scram-sha-256': 'scram_sha256', 'scram-sha-512': 'scram_sha512' } as const

export function buildLagAutoscaler(context: PipelineContext, component: Component, autoscaling: Autoscaling): readonly KubernetesObject[] {
  const { maxReplicas, lagThreshold = DEFAULT_LAG_THRESHOLD } = autoscaling
  const name = componentName(context, component)
  const metadata = metadataOf(context, name, component)
  const authentication = authenticationSpec(context)
  const sasl = context.spec.bus?.sasl
  const trigger = ({ topic, group }: Lag) => ({
    type: 'kafka',
    metadata: {
      bootstrapServers: context.bus?.brokers ?? '',
      consumerGroup: group,
      topic,
      lagThreshold: String(lagThreshold),
      offsetResetPolicy: 'earliest',
      ...(context.bus?.isTls ? { tls: 'enable' } : {}),
      ...(sasl === undefined ? {} : { sasl: SASL[saslMechanism(sasl)] }),
    },
    ...(authentication === undefined ? {} : { authenticationRef: { name } }),
  })
  const scaledObject: KubernetesObject = {
    apiVersion: servedApiVersion(context.gathered, 'ScaledObject.keda.sh')!,
    kind: 'ScaledObject',
    metadata,
    spec: {
      scaleTargetRef: { name },
      minReplicaCount: leastAutoscaled(context.spec, component)!,
      maxReplicaCount: maxReplicas,
      triggers: lags(context, component).map(trigger),
    },
  }
  if (authentication === undefined) return [scaledObject]
  const apiVersion = servedApiVersion(context.gathered, 'TriggerAuthentication.keda.sh') ?? scaledObject.apiVersion
  return [{ apiVersion, kind: 'TriggerAuthentication', metadata, spec: authentication }, scaledObject]
}

/** KEDA's parameter → setting with the same value. */
const PARAMETERS: Readonly<Record<string, keyof RoleSettings>> = {
  ca: 'BUS_CA_FILE',
  cert: 'BUS_CERT_FILE',
  key: 'BUS_KEY_FILE',
  username: 'BUS_USERNAME',
  password: 'BUS_PASSWORD',
}

/** Undefined when the brokers ask for nothing. */
function authenticationSpec(context: PipelineContext): object | undefined {
  const settings = busSettings(context)
  const targets = { secret: [] as object[], configMap: [] as object[] }
  for (const [parameter, setting] of Object.entries(PARAMETERS)) {
    const value = settings[setting]
    if (typeof value === 'object') targets[value.kind].push({ parameter, name: value.name, key: value.key })
    else if (setting === 'BUS_USERNAME' && value !== undefined)
      targets.configMap.push({ parameter, name: busConfigMapName(context), key: BUS_USERNAME_KEY })
  }
  if (targets.secret.length + targets.configMap.length === 0) return undefined
  return {
    ...(targets.secret.length === 0 ? {} : { secretTargetRef: targets.secret }),
    ...(targets.configMap.length === 0 ? {} : { configMapTargetRef: targets.configMap }),
  }
}

/** Connection data of the bus that is not secret, for files of the pods and for KEDA. */
export function busConfigData(context: PipelineContext): Readonly<Record<string, string>> {
  const username = context.spec.bus?.sasl?.username
  const certificates = context.bus?.caCertificates
  return {
    ...(certificates === undefined ? {} : { [BUS_CA_KEY]: certificates }),
    ...(username === undefined ? {} : { [BUS_USERNAME_KEY]: username }),
  }
}
