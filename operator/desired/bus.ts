/** Objects of the bus: its topics, and a ConfigMap with connection data. */
import type { V1ConfigMap } from '@kubernetes/client-node'
import { TIMESTAMP_TYPE, TOPICS } from '../../dataplane/contract/topics.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { servedApiVersion } from '../observed/gathered.ts'
import { inputsHash } from './inputs-hash.ts'
import { busConfigData } from './lag-autoscaler.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import { busConfigMapName, topicNames } from './role-settings.ts'
import { typed } from './typed-object.ts'

const TOPIC_KIND = 'KafkaTopic'
const HASH_DIGITS = 8
const TOPIC_KEYS = Object.keys(TOPICS) as (keyof typeof TOPICS)[]

export function buildBus(context: PipelineContext): readonly KubernetesObject[] {
  return [...buildBusConfigMap(context), ...buildTopics(context)]
}

function buildBusConfigMap(context: PipelineContext): readonly KubernetesObject[] {
  const data = busConfigData(context)
  if (Object.keys(data).length === 0) return []
  return [typed<V1ConfigMap>(metadataOf(context, busConfigMapName(context)), { apiVersion: 'v1', kind: 'ConfigMap', data: { ...data } })]
}

/** KafkaTopics of Strimzi, at the specification's partitions and retention. Brokers without Strimzi are asked by the roles themselves. */
function buildTopics(context: PipelineContext): readonly KubernetesObject[] {
  const { bus } = context.spec
  const apiVersion = servedApiVersion(context.gathered, 'KafkaTopic.kafka.strimzi.io')
  if (bus?.strimzi === undefined || bus.topics !== 'Managed' || apiVersion === undefined) return []
  const { strimzi, replicationFactor } = bus
  const names = topicNames(context)
  return TOPIC_KEYS.map(key => {
    const { name, partitions, retentionMs } = TOPICS[key]
    const metadata = metadataOf(context, objectNameOf(context, `${context.name}-${name}`, names[key]))
    return {
      apiVersion,
      kind: TOPIC_KIND,
      metadata: { ...metadata, labels: { ...metadata.labels, 'strimzi.io/cluster': strimzi.cluster } },
      spec: {
        topicName: names[key],
        partitions,
        ...(replicationFactor === undefined ? {} : { replicas: replicationFactor }),
        config: { 'retention.ms': retentionMs, 'message.timestamp.type': TIMESTAMP_TYPE },
      },
    }
  })
}

/** Strimzi never takes another `topicName` for a KafkaTopic: topics of another prefix get objects of their own, beside those that are there. */
function objectNameOf({ gathered: { topics } }: PipelineContext, plain: string, topicName: string): string {
  const own = topics.find(({ spec }) => spec?.topicName === topicName)
  if (own !== undefined) return own.metadata.name
  const isTaken = topics.some(({ metadata }) => metadata.name === plain)
  return isTaken ? `${plain}-${inputsHash(topicName).slice(0, HASH_DIGITS)}` : plain
}

/** KafkaTopics of the pipeline that are not wanted any more. They stay: Strimzi deletes a topic, with the records in it, together with its KafkaTopic. */
export function leftoverTopics(
  { gathered: { topics } }: PipelineContext,
  wanted: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  const names = new Set(wanted.filter(({ kind }) => kind === TOPIC_KIND).map(({ metadata }) => metadata.name))
  return topics.filter(({ metadata }) => !names.has(metadata.name))
}
