/** Which pipelines use the same topics of the same Kafka. */
import type { LogPipeline } from '../api/log-pipeline.ts'
import { byAge } from './by-age.ts'
import { topicPrefixOf } from './topic-prefix.ts'

/** Another pipeline that takes records of this one, and the other way round. */
export interface Sharer {
  readonly namespace: string
  readonly name: string
  readonly isOlder: boolean
}

/** Whether a namespace has a Service of that name. */
export type HasService = (namespace: string, name: string) => boolean

/** Two pipelines that share topics have a key in common; those that have one may share topics. */
export function topicsKeys(pipeline: LogPipeline, prefix = topicPrefixOf(pipeline)): readonly string[] {
  const brokers = new Set([...brokersOf(pipeline, () => true), ...brokersOf(pipeline, () => false)])
  return [...brokers].map(broker => `${prefix} ${broker}`)
}

/** The oldest first; those that are being deleted do not count, nor does the pipeline itself. */
export function findSharers(pipeline: LogPipeline, others: readonly LogPipeline[], hasService: HasService): readonly Sharer[] {
  const prefix = topicPrefixOf(pipeline)
  const brokers = brokersOf(pipeline, hasService)
  const found = others.filter(
    other =>
      byAge(pipeline, other) !== 0 &&
      other.metadata.deletionTimestamp === undefined &&
      topicPrefixOf(other) === prefix &&
      brokersOf(other, hasService).some(broker => brokers.includes(broker)),
  )
  return found.toSorted(byAge).map(other => ({ ...nameOf(other), isOlder: byAge(other, pipeline) < 0 }))
}

/** One form for all names of a broker; none in mode AllInOne. */
function brokersOf({ spec: { bus, mode }, metadata: { namespace = 'default' } }: LogPipeline, hasService: HasService): readonly string[] {
  if (mode === 'AllInOne' || bus === undefined) return []
  if (bus.strimzi !== undefined) return [`${bus.strimzi.cluster}-kafka-bootstrap.${namespace}`]
  return (bus.bootstrapServers ?? []).map(address => canonicalBroker(address.toLowerCase(), namespace, hasService))
}

/** As DNS within a pod finds it. The ports of a Service (`kafka.shop`) are listeners of one Kafka; those of a machine may be of several. */
function canonicalBroker(address: string, namespace: string, hasService: HasService): string {
  const [, host = '', port = ''] = /^(.*?)\.?:(\d+)$/.exec(address) ?? []
  if (/^\[|^[\d.]+$|^localhost$/.test(host)) return address
  const [, withinCluster] = /^(.+)\.svc(?:\.|$)/.exec(host) ?? []
  const labels = (withinCluster ?? host).split('.')
  const isLocal = labels.length === 1 || (withinCluster === undefined && labels.length === 2 && hasService(namespace, labels[1]!))
  const full = isLocal ? [...labels, namespace] : labels
  return full.length === 2 ? full.join('.') : `${full.join('.')}:${port}`
}

const nameOf = ({ metadata: { namespace = 'default', name } }: LogPipeline) => ({ namespace, name })
