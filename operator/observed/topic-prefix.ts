/** What the names of a pipeline's topics begin with. */
import { COMPONENTS } from '../api/components.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'

/**
 * What the resource says, else what its topics began with before, else `<namespace>.<name>.`, which no other pipeline of the cluster has: neither part
 * holds a dot. So a pipeline that runs keeps its topics, whatever the default is.
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

/** Of a pipeline that ran on Kafka before the status remembered it: none, as that was the default then. Undefined: its topics are new. */
function rememberedPrefix({ status }: LogPipeline): string | undefined {
  const ranOnKafka = (status?.conditions ?? []).some(({ type }) => type === COMPONENTS.collector.condition)
  return status?.topicPrefix ?? (ranOnKafka ? '' : undefined)
}
