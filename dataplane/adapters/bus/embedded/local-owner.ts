/** The owner of the log: it alone writes topics, groups and transactions. */
import { randomInt } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TopicConfig } from '../../../contract/topics.ts'
import { unknownTopic } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { BusLog } from '../bus-log.ts'
import { toBusError } from './bus-errors.ts'
import { GroupCoordinator } from './groups/group-coordinator.ts'
import { GroupJournal, type GroupOffsets } from './groups/group-journal.ts'
import type { LogFiles } from './log/log-files.ts'
import { parseSegmentName } from './log/segment.ts'
import { TopicLog, type TopicLogDeps } from './log/topic-log.ts'
import { recoverTopic } from './log/topic-recovery.ts'
import type { LogOwner, TopicLayout, TransactionOutput } from './log-owner.ts'
import { DiskReserve } from './retention/disk-reserve.ts'
import { EarlyDeletion } from './retention/early-deletion.ts'
import { keepRetention } from './retention/keep-retention.ts'
import { unreadBytes } from './retention/retention.ts'
import { SharedEnds } from './shared-ends.ts'

export interface LocalOwnerDeps {
  readonly directory: string
  readonly topics: readonly TopicConfig[]
  readonly clock: Clock
  readonly log: BusLog
  readonly files: LogFiles
  readonly maxBytes: number
  readonly segmentBytes: number
  readonly minFreeBytes: number
  readonly keptReadBytes: number
  readonly rebalanceTimeoutMs: number
}

export interface LocalOwner extends LogOwner {
  readonly layouts: readonly TopicLayout[]
  readonly ends: SharedEnds
  /** Bytes on disk by topic. */
  sizes(): ReadonlyMap<string, number>
  groups(): readonly GroupState[]
  /** Forgets a group and its offsets. Rejects when it has members. */
  removeGroup(groupId: string): Promise<void>
}

/** A consumer group that has committed offsets. */
export interface GroupState {
  readonly groupId: string
  /** When it last committed, or was there, give or take an hour; ms since the epoch. */
  readonly lastSeenMs: number
  /** By topic that it reads: bytes on disk that it has still to read, in whole segments. */
  readonly unread: ReadonlyMap<string, number>
}

const ENDS_NOT_NOTED = 'the ends of the bus could not be noted: the next start knows less well whether records were lost'
/**
 * Share of the cap that is kept free of the first topic's records, and step by step less of the later ones': what is made of records finds
 * room while these fill the bus, or nobody could get on with reading them.
 */
const LATER_TOPICS_SHARE = 0.6
/** Each topic keeps so much of the reserve on the disk as the one before it: for the same reason. */
const NEXT_RESERVE_SHARE = 0.5

/** Opens the logs of all topics for this thread, which from then on is the only one that writes to them. */
export async function openLocalOwner(deps: LocalOwnerDeps): Promise<LocalOwner> {
  const { directory, clock, log, files } = deps
  const ends = SharedEnds.create(deps.topics.length)
  const logs = new Map<string, TopicLog>()
  const logOf = (topic: string): TopicLog => {
    const found = logs.get(topic)
    if (found === undefined) throw unknownTopic(topic, logs.keys())
    return found
  }
  const journal = new GroupJournal({
    path: join(directory, 'groups.journal'),
    files,
    clock,
    log,
    ends: () => [...logs.values()].map(topicLog => topicLog.end),
    hasSegments: () => deps.topics.some(({ name }) => holdsSegments(join(directory, name))),
    beforeCompaction: async () => void (await Promise.all([...logs.values()].map(topicLog => topicLog.syncDecisions()))),
  })
  await journal.open()
  const noteEnds = () => journal.noteEnds().catch((error: unknown) => log.warn({ error }, ENDS_NOT_NOTED))
  const offsetsOf = (topic: string) => {
    const { segments, nextOffsets } = logOf(topic)
    return { startOffsets: segments.startOffsets, nextOffsets }
  }
  const coordinator = new GroupCoordinator({
    journal,
    clock,
    log,
    offsetsOf,
    topics: new Map(deps.topics.map(topic => [topic.name, topic])),
    rebalanceTimeoutMs: deps.rebalanceTimeoutMs,
  })
  const early = new EarlyDeletion({ ...deps, logs, readersOf: topic => coordinator.readersOf(topic) })
  const reserve = new DiskReserve({ ...deps, freeDisk: bytes => early.freeDisk(bytes) })
  for (const [index, topic] of deps.topics.entries()) {
    const maxBytes = deps.maxBytes * shareOfCap(index, deps.topics.length)
    const reserveShare = NEXT_RESERVE_SHARE ** index
    const topicLog = await openTopic(deps, topic, journal, {
      publish: (sequence, position) => ends.publish(index, sequence, position),
      makeRoom: bytes => early.shrink(topic.name, maxBytes - bytes),
      ensureReserve: () => reserve.ensure(reserveShare),
      noteEnds,
    })
    logs.set(topic.name, topicLog)
  }
  // Where a log has none that is whole, its start makes a segment of today.
  const newestMs = Math.max(0, ...[...logs.values()].map(({ segments }) => segments.all.at(-1)?.createdMs ?? 0))
  for (const topicLog of logs.values()) await topicLog.start()
  const stopped = new AbortController()
  void keepRetention({ logs: [...logs.values()], newestMs, coordinator, noteEnds, clock, log, signal: stopped.signal })
  return ownerOf({ directory, ends, logs, logOf, journal, coordinator, early, noteEnds, stopped })
}

function holdsSegments(directory: string): boolean {
  return existsSync(directory) && readdirSync(directory).some(name => parseSegmentName(name) !== undefined)
}

/** The topic's share of the cap, by its place among all topics. */
function shareOfCap(index: number, topics: number): number {
  return 1 - (LATER_TOPICS_SHARE * (topics - 1 - index)) / topics
}

interface OwnerParts {
  readonly directory: string
  readonly ends: SharedEnds
  readonly logs: ReadonlyMap<string, TopicLog>
  /** Throws for a topic that the bus does not have. */
  readonly logOf: (topic: string) => TopicLog
  readonly journal: GroupJournal
  readonly coordinator: GroupCoordinator
  readonly early: EarlyDeletion
  readonly noteEnds: () => Promise<void>
  /** Ends what runs beside the calls. */
  readonly stopped: AbortController
}

function ownerOf({ directory, ends, logs, logOf, journal, coordinator, early, noteEnds, stopped }: OwnerParts): LocalOwner {
  const unreadOf = (groupId: string) =>
    new Map(
      [...logs]
        .filter(([topic]) => journal.hasRead(groupId, topic))
        .map(([topic, { segments, nextOffsets }]) => {
          return [topic, unreadBytes(segments.all, coordinator.positionsOf(groupId, topic), nextOffsets)]
        }),
    )
  return {
    layouts: [...logs].map(([name, { nextOffsets }]) => ({ name, partitions: nextOffsets.length, directory: join(directory, name) })),
    ends,
    sizes: () => new Map([...logs].map(([topic, { segments }]) => [topic, segments.totalBytes])),
    groups: () =>
      journal.groupIds().map(groupId => ({
        groupId,
        lastSeenMs: journal.lastSeenMs(groupId)!,
        unread: unreadOf(groupId),
      })),
    removeGroup: groupId => coordinator.remove(groupId),
    append: async (topic, frame) => logOf(topic).append(frame),
    commitTransaction: (outputs, groups) => commitTransaction(logOf, journal, outputs, groups),
    join: async (request, notify) => coordinator.join(request, notify),
    leave: async memberId => coordinator.leave(memberId),
    release: async (memberId, partitions) => coordinator.release(memberId, partitions),
    commitOffsets: (memberId, offsets) => coordinator.commit(memberId, offsets),
    locate: async (topic, wanted) => {
      const { segments, nextOffsets } = logOf(topic)
      return { ...segments.locate(wanted), startOffsets: segments.startOffsets, endOffsets: nextOffsets }
    },
    committedOffsets: async groupId => journal.offsetsOf(groupId),
    partitions: async () =>
      [...logs].flatMap(([topic, { segments, nextOffsets }]) =>
        Array.from(nextOffsets, (endOffset, partition) => ({
          topic,
          partition,
          startOffset: segments.startOffsets[partition] ?? 0,
          endOffset,
        })),
      ),
    async problem() {
      for (const topicLog of logs.values()) {
        const problem = await topicLog.problem()
        if (problem !== undefined) return problem
      }
      return undefined
    },
    deletedEarlyBytes: async () => early.deletedBytes,
    purge: async topic => logOf(topic).purge(),
    async close() {
      stopped.abort()
      coordinator.stop()
      for (const topicLog of logs.values()) await topicLog.close()
      await noteEnds()
      await journal.close()
    },
  }
}

async function openTopic(
  deps: LocalOwnerDeps,
  topic: TopicConfig,
  journal: GroupJournal,
  calls: Pick<TopicLogDeps, 'publish' | 'makeRoom' | 'ensureReserve' | 'noteEnds'>,
): Promise<TopicLog> {
  const { clock, log, files } = deps
  const directory = join(deps.directory, topic.name)
  const state = await recoverTopic({
    topic: topic.name,
    directory,
    partitions: topic.partitions,
    files,
    log,
    isCommitted: transactionId => journal.isCommitted(transactionId),
    reachedOffsets: journal.reachedOffsets(topic.name),
    acknowledged: journal.endOf(topic.name),
  })
  const limits = { retentionMs: topic.retentionMs, segmentBytes: deps.segmentBytes }
  return new TopicLog({ topic: topic.name, directory, files, clock, log, limits, ...calls }, state)
}

/**
 * Writes the outputs where readers do not see them yet, then one line in the journal, which decides.
 * A crash before that line aborts the transaction at the next start, a crash after it does not.
 */
async function commitTransaction(
  logOf: (topic: string) => TopicLog,
  journal: GroupJournal,
  outputs: readonly TransactionOutput[],
  groups: readonly GroupOffsets[],
): Promise<void> {
  const transactionId = randomInt(1, 2 ** 47)
  const logs = outputs.map(({ topic }) => logOf(topic))
  const decideAll = (outcome: 'committed' | 'aborted') => Promise.all(logs.map(topicLog => topicLog.decide(transactionId, outcome)))
  const writes = outputs.flatMap(({ frames }, index) => frames.map(frame => logs[index]!.append(frame, transactionId)))
  const failed = (await Promise.allSettled(writes)).find(result => result.status === 'rejected')
  try {
    if (failed !== undefined) throw failed.reason
    await journal.append(groups, transactionId)
  } catch (error) {
    await decideAll('aborted')
    throw toBusError(error, 'the transaction cannot be committed')
  }
  const deciding = decideAll('committed')
  journal.noteDecided(transactionId)
  await deciding
}
