/** The consumer groups of the product (Spec: Components, message bus): who reads which topic. */

/** Followed by the name of the bridge's thread. */
export const BRIDGE_GROUP_PREFIX = 'logpipeline-bridge-'
/** The bridge's `etl` thread, and `stream etl` in its place. */
export const ETL_GROUP = `${BRIDGE_GROUP_PREFIX}etl`
/** The bridge's `anomaly` thread, and `stream score` in its place. */
export const ANOMALY_GROUP = `${BRIDGE_GROUP_PREFIX}anomaly`

export interface TopicReader {
  /** What is read for, once per record. */
  readonly step: string
  readonly groupId: string
}

/** The steps that read each topic, by the topic's key in `TOPICS`. Nothing reads the dead-letter queue but `logpipeline dlq`, which keeps no offsets. */
export const TOPIC_READERS = {
  raw: [{ step: 'etl', groupId: ETL_GROUP }],
  enriched: [
    { step: 'anomaly', groupId: ANOMALY_GROUP },
    { step: 'indexer', groupId: `${BRIDGE_GROUP_PREFIX}indexer` },
  ],
  anomaly: [
    { step: 'indexer', groupId: `${BRIDGE_GROUP_PREFIX}indexer` },
    { step: 'lifecycle', groupId: `${BRIDGE_GROUP_PREFIX}lifecycle` },
  ],
  deadLetter: [],
} as const satisfies Readonly<Record<string, readonly TopicReader[]>>
