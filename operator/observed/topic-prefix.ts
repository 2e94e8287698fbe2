/** First part of the names of a pipeline's topics. */
import { COMPONENTS } from '../api/components.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'

/**
 * The prefix of the resource, else the prefix that its topics had before, else `<namespace>.<name>.`. No other pipeline of the cluster has the last one,
 * since neither part holds a dot. A pipeline that runs keeps its topics when the default changes.
 */
export function topicPrefixOf(pipeline: LogPipeline): string {
  const { namespace = 'default', name } = pipeline.metadata
  return pipeline.spec.bus?.topicPrefix ?? rememberedPrefix(pipeline) ?? `${namespace}.${name}.`
}

/** As the status keeps it: also through a time without Kafka. */
export function keptTopicPrefix(pipeline: LogPipeline): string | undefined {
  return pipeline.spec.mode === 'AllInOne' ? rememberedPrefix(pipeline) : topicPrefixOf(pipeline)
}

/** Whether a name by default is not in the status yet: once topics have it, it must not be forgotten. */
export function isPrefixNew(pipeline: LogPipeline): boolean {
  return pipeline.status?.topicPrefix === undefined && (keptTopicPrefix(pipeline) ?? '') !== ''
}

/** The prefix of a pipeline that ran on Kafka before: none where the status does not remember one, as that was the default then. Undefined: its topics are new. */
function rememberedPrefix({ status }: LogPipeline): string | undefined {
  const ranOnKafka = (status?.conditions ?? []).some(({ type }) => type === COMPONENTS.collector.condition)
  return status?.topicPrefix ?? (ranOnKafka ? '' : undefined)
}
