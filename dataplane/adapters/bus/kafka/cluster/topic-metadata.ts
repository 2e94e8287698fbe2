/** Leaders of the partitions of a topic, by the latest elections that brokers have told of. */

/** One topic, as brokers tell of it. */
export interface TopicMetadata {
  readonly id: string
  /** Node id of each partition's leader; -1 while there is none. */
  readonly leaders: readonly number[]
  /** Number of the election that made each of them leader, in ascending order of elections; -1 where the broker does not tell. */
  readonly leaderEpochs: readonly number[]
}

/** One partition of an answer; they come in any order. */
export interface ToldPartition {
  readonly partitionIndex: number
  readonly leaderId: number
  readonly leaderEpoch: number
}

export function toMetadata(id: string, partitions: readonly ToldPartition[]): TopicMetadata {
  const leaders: number[] = []
  const leaderEpochs: number[] = []
  for (const { partitionIndex, leaderId, leaderEpoch } of partitions) {
    leaders[partitionIndex] = leaderId
    leaderEpochs[partitionIndex] = leaderEpoch
  }
  return { id, leaders, leaderEpochs }
}

/**
 * The topic by the later election of each partition, `known` or `told`: a broker that hung, or is cut off, says for a while who led before.
 * Partitions that were there stay. A topic that was made anew (another id) is as told.
 */
export function latestOf(known: TopicMetadata | undefined, told: TopicMetadata): TopicMetadata {
  if (known === undefined || known.id !== told.id) return told
  const leaders = [...told.leaders]
  const leaderEpochs = [...told.leaderEpochs]
  for (const [partition, epoch] of known.leaderEpochs.entries()) {
    const toldEpoch = told.leaderEpochs[partition]
    if (toldEpoch !== undefined && (toldEpoch < 0 || toldEpoch >= epoch)) continue
    leaders[partition] = known.leaders[partition]!
    leaderEpochs[partition] = epoch
  }
  return { id: told.id, leaders, leaderEpochs }
}
