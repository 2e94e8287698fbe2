/** Deletes segments that every group has read before their topic's retention ends: over the size cap, and where the disk is low. */
import type { TopicConfig } from '../../../../contract/topics.ts'
import { onceEvery } from '../../../../limits/once-every.ts'
import { BusError } from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { BusLog } from '../../bus-log.ts'
import type { GroupPosition } from '../groups/group-coordinator.ts'
import type { SegmentInfo } from '../log/segment-list.ts'
import type { TopicLog } from '../log/topic-log.ts'
import { countReadSegments, countSpareSegments, unreadBytes } from './retention.ts'

export interface EarlyDeletionDeps {
  readonly topics: readonly TopicConfig[]
  readonly logs: ReadonlyMap<string, TopicLog>
  readonly readersOf: (topic: string) => readonly GroupPosition[]
  /** Read records of each topic that stay where the disk is low, and at the cap while other records may go. */
  readonly keptReadBytes: number
  readonly clock: Clock
  readonly log: BusLog
}

const SAY_EVERY_MS = 3_600_000

/** A message that segments go, which comes rarely, with the bytes that it has still to tell. */
interface Notice {
  bytes: number
  readonly mayCome: () => boolean
}

export class EarlyDeletion {
  readonly #deps: EarlyDeletionDeps
  readonly #overCap: Notice
  readonly #diskLow: Notice
  #deletedBytes = 0

  constructor(deps: EarlyDeletionDeps) {
    this.#deps = deps
    const notice = (): Notice => ({ bytes: 0, mayCome: onceEvery(SAY_EVERY_MS, () => deps.clock.nowMs()) })
    this.#overCap = notice()
    this.#diskLow = notice()
  }

  /** Since the start. */
  get deletedBytes(): number {
    return this.#deletedBytes
  }

  /**
   * Deletes the oldest segments over all topics until the bus is down to `maxBytes`; throws when `topic` may not grow. The last records that were read
   * go last.
   */
  async shrink(topic: string, maxBytes: number): Promise<void> {
    const { logs, log, keptReadBytes } = this.#deps
    for (;;) {
      let totalBytes = 0
      for (const { segments } of logs.values()) totalBytes += segments.totalBytes
      if (totalBytes <= maxBytes) return
      const oldest = this.#oldestSpare(keptReadBytes) ?? this.#oldestSpare(0)
      if (oldest === undefined)
        throw new BusError('full', `${topic}: the bus holds ${totalBytes} bytes, of which none may go yet; ${this.#describeUnread()}`)
      const { length } = oldest.segments.all[0]!
      await oldest.deleteOldest(1)
      this.#note(this.#overCap, length, bytes =>
        log.info({ bytes }, 'the bus is at its cap: records that every group has read go before their time'),
      )
    }
  }

  /** The log of the oldest segment that may go when `keptBytes` of the read records of each topic stay. */
  #oldestSpare(keptBytes: number): TopicLog | undefined {
    let oldest: TopicLog | undefined
    for (const [name, topicLog] of this.#deps.logs) {
      const { all } = topicLog.segments
      if (countSpareSegments(all, this.#countRead(name, topicLog), keptBytes) === 0) continue
      if (oldest === undefined || all[0]!.createdMs < oldest.segments.all[0]!.createdMs) oldest = topicLog
    }
    return oldest
  }

  /**
   * Deletes the oldest segments of the topics that have readers until that many bytes are freed, or none may go, and returns how many it freed. Dead
   * letters stay, and the last records that were read: readers go back in them.
   */
  async freeDisk(bytes: number): Promise<number> {
    const { log } = this.#deps
    const spare = this.#spareSegments()
    const counts = new Map<TopicLog, number>()
    let freed = 0
    for (const { topicLog, segment } of spare) {
      if (freed >= bytes) break
      freed += segment.length
      counts.set(topicLog, (counts.get(topicLog) ?? 0) + 1)
    }
    if (freed === 0) return 0
    // All leave their logs at once: while a file is deleted, the counts may change.
    await Promise.all([...counts].map(([topicLog, count]) => topicLog.deleteOldest(count)))
    this.#note(this.#diskLow, freed, sum =>
      log.warn({ bytes: sum }, 'the disk is low: records of the bus that every group has read go before their time'),
    )
    return freed
  }

  /** The oldest first. */
  #spareSegments(): readonly { readonly topicLog: TopicLog; readonly segment: SegmentInfo }[] {
    const { topics, logs, keptReadBytes } = this.#deps
    return topics
      .filter(({ readers = [] }) => readers.length > 0)
      .flatMap(({ name }) => {
        const topicLog = logs.get(name)!
        const { all } = topicLog.segments
        const count = countSpareSegments(all, this.#countRead(name, topicLog), keptReadBytes)
        return all.slice(0, count).map(segment => ({ topicLog, segment }))
      })
      .sort((a, b) => a.segment.createdMs - b.segment.createdMs)
  }

  /** How many of the topic's oldest segments every group has read to their ends. */
  #countRead(topic: string, { segments: { all } }: TopicLog): number {
    return Math.min(all.length - 1, ...this.#deps.readersOf(topic).map(({ offsets }) => countReadSegments(all, offsets)))
  }

  #note(notice: Notice, bytes: number, say: (bytes: number) => void): void {
    this.#deletedBytes += bytes
    notice.bytes += bytes
    if (!notice.mayCome()) return
    say(notice.bytes)
    notice.bytes = 0
  }

  /** Which group holds what, the most first. */
  #describeUnread(): string {
    const { logs, readersOf } = this.#deps
    const held = [...logs].flatMap(([topic, { segments, nextOffsets }]) =>
      readersOf(topic).map(({ groupId, offsets }) => ({ topic, groupId, bytes: unreadBytes(segments.all, offsets, nextOffsets) })),
    )
    const described = held
      .filter(({ bytes }) => bytes > 0)
      .sort((a, b) => b.bytes - a.bytes)
      .map(({ topic, groupId, bytes }) => `group ${groupId} has not read ${bytes} bytes of ${topic}`)
    return described.length === 0 ? 'all of it is read, and in use' : described.join(', ')
  }
}
