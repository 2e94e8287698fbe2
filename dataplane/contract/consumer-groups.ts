/** The consumer groups of the product (Spec: Components, message bus): who reads which topic. */

/** Followed by the name of the bridge's thread. */
export const BRIDGE_GROUP_PREFIX = 'logpipeline-bridge-'
/** Followed by the name of the stream job. */
export const STREAM_GROUP_PREFIX = 'logpipeline-stream-'

export interface TopicReader {
  /** What is read for, once per record. */
  readonly step: string
  /** The groups that do it: the bridge's, and that of the stream job in its place. */
  readonly groups: readonly string[]
}

/** The steps that read each topic, by the topic's key in `TOPICS`. Nothing reads the dead-letter queue but `logpipeline dlq`, which keeps no offsets. */
export const TOPIC_READERS = {
  raw: [{ step: 'etl', groups: [`${BRIDGE_GROUP_PREFIX}etl`, `${STREAM_GROUP_PREFIX}etl`] }],
  enriched: [
    { step: 'anomaly', groups: [`${BRIDGE_GROUP_PREFIX}anomaly`, `${STREAM_GROUP_PREFIX}score`] },
    { step: 'indexer', groups: [`${BRIDGE_GROUP_PREFIX}indexer`] },
  ],
  anomaly: [
    { step: 'indexer', groups: [`${BRIDGE_GROUP_PREFIX}indexer`] },
    { step: 'lifecycle', groups: [`${BRIDGE_GROUP_PREFIX}lifecycle`] },
  ],
  deadLetter: [],
} as const satisfies Readonly<Record<string, readonly TopicReader[]>>
