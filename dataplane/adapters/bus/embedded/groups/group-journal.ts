/** The file that keeps the offsets of all groups. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { isRecent } from '../../../../limits/is-recent.ts'
import type { TopicPartitionOffset } from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import { makeDurableDirectory } from '../../../../process/durable-directory.ts'
import type { BusLog } from '../../bus-log.ts'
import { toBusError } from '../bus-errors.ts'
import type { LogFile, LogFiles } from '../log/log-files.ts'

/** Offsets of one group, as they are journalled. */
export interface GroupOffsets {
  readonly groupId: string
  readonly offsets: readonly TopicPartitionOffset[]
}

/** One line: `crc32 in hex`, a space, this as JSON. `transactionId` 0 outside a transaction. A group without offsets was seen, no more. */
interface JournalEntry {
  readonly transactionId: number
  readonly atMs: number
  readonly groups: readonly GroupOffsets[]
  readonly removedGroups?: readonly string[]
  readonly ends?: readonly TopicEnd[]
}

/** How far a topic's log was acknowledged at the least. A start that finds less knows that records were lost. */
export interface TopicEnd {
  readonly topic: string
  /** The oldest segment that was kept. */
  readonly oldest: number
  /** The segment that was being written, and how much of its file counted. */
  readonly sequence: number
  readonly position: number
  /** By partition. */
  readonly nextOffsets: readonly number[]
}

interface PendingEntry {
  readonly entry: JournalEntry
  readonly line: Buffer
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export interface GroupJournalDeps {
  readonly path: string
  readonly files: LogFiles
  readonly clock: Clock
  readonly log: BusLog
  /** Where the topics' logs end, durably. */
  readonly ends: () => readonly TopicEnd[]
  /** Makes decisions that `noteDecided` was told of durable in the topics' own logs: the journal is about to forget them. */
  readonly beforeCompaction: () => Promise<void>
  /** Whether topics have segments: these are made after the journal. */
  readonly hasSegments: () => boolean
}

const SYNC_INTERVAL_MS = 1000
const MIN_COMPACTION_BYTES = 1 << 20
const COMPACTION_FACTOR = 8

/**
 * The committed offsets of all groups and the commits of transactions, in one append-only file.
 *
 * An offset commit resolves when it is written, which a `kill -9` cannot undo; the disk has it a second later.
 * A transaction resolves only once it is on the disk: its line is what makes it happen.
 */
export class GroupJournal {
  readonly #deps: GroupJournalDeps
  readonly #groups = new Map<string, Map<string, TopicPartitionOffset>>()
  readonly #lastSeenMs = new Map<string, number>()
  readonly #transactions = new Set<number>()
  /** Transactions that the topics' logs do not know yet. */
  readonly #undecided = new Set<number>()
  #file: LogFile | undefined
  #length = 0
  #isTailSound = true
  #isNameSynced = true
  #compactAt = MIN_COMPACTION_BYTES
  #queue: PendingEntry[] = []
  #running: Promise<void> | undefined
  #lastSyncMs = 0
  readonly #ends = new Map<string, TopicEnd>()
  #lastEndsMs = 0
  /** Lines in the middle of the file could not be read, or all of it is gone. */
  #isDamaged = false

  constructor(deps: GroupJournalDeps) {
    this.#deps = deps
  }

  async open(): Promise<void> {
    const { path, files, clock, log, hasSegments } = this.#deps
    makeDurableDirectory(dirname(path))
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
    this.#length = this.#load(bytes)
    const isNew = this.#length === 0
    if (isNew && hasSegments()) {
      this.#isDamaged = true
      log.error({ file: path }, LOST)
    }
    this.#file = await files.open(path)
    await this.#file.truncate(this.#length)
    if (isNew) {
      // One that is empty has lost its lines.
      const line = encodeLine({ transactionId: 0, atMs: clock.nowMs(), groups: [] })
      await this.#file.write([line], 0)
      this.#length = line.length
    }
    await this.#file.sync()
    await files.syncDirectory(dirname(path))
  }

  /** Where lines were lost, a transaction that no line names counts as committed: its group may have gone on behind it, in a line that is there. */
  isCommitted(transactionId: number): boolean {
    return this.#isDamaged || this.#transactions.has(transactionId)
  }

  /** Where the topic's log ended when it was last noted; undefined: it never was. */
  endOf(topic: string): TopicEnd | undefined {
    return this.#ends.get(topic)
  }

  /** Notes durably where the topics' logs begin and end, unless that is known. Rejects as `append` does. */
  async noteEnds(): Promise<void> {
    const entry = this.#endsEntry()
    const isKnown = entry.ends.every(({ topic, oldest, sequence, position }) => {
      const known = this.#ends.get(topic)
      return known?.oldest === oldest && known.sequence === sequence && known.position === position
    })
    if (!isKnown) await this.#enqueue(entry)
  }

  /** The topics' logs know that this transaction is committed. */
  noteDecided(transactionId: number): void {
    this.#undecided.delete(transactionId)
  }

  groupIds(): readonly string[] {
    return [...this.#groups.keys()]
  }

  /** When the group last committed, or was noted as seen, ms since the epoch; undefined when it never committed. */
  lastSeenMs(groupId: string): number | undefined {
    return this.#lastSeenMs.get(groupId)
  }

  offsetsOf(groupId: string): readonly TopicPartitionOffset[] {
    return [...(this.#groups.get(groupId)?.values() ?? [])]
  }

  offsetOf(groupId: string, topic: string, partition: number): number | undefined {
    return this.#groups.get(groupId)?.get(`${topic}/${partition}`)?.offset
  }

  /** Whether the group has committed offsets of the topic. */
  hasRead(groupId: string, topic: string): boolean {
    return [...(this.#groups.get(groupId)?.values() ?? [])].some(offset => offset.topic === topic)
  }

  /** By partition: the highest offset that any group has committed. */
  reachedOffsets(topic: string): readonly number[] {
    const reached: number[] = []
    for (const offsets of this.#groups.values())
      for (const { topic: name, partition, offset } of offsets.values())
        if (name === topic) reached[partition] = Math.max(reached[partition] ?? 0, offset)
    return reached
  }

  /** Rejects with a `BusError` when nothing was committed. */
  append(groups: readonly GroupOffsets[], transactionId = 0): Promise<void> {
    return this.#enqueue({ transactionId, atMs: this.#deps.clock.nowMs(), groups })
  }

  /** Notes that these groups are there, as far as they ever committed. Rejects as `append` does. */
  async noteSeen(groupIds: readonly string[]): Promise<void> {
    const groups = groupIds.filter(groupId => this.#groups.has(groupId)).map(groupId => ({ groupId, offsets: [] }))
    if (groups.length > 0) await this.append(groups)
  }

  /** Forgets a group with its offsets. Rejects as `append` does. */
  remove(groupId: string): Promise<void> {
    return this.#enqueue({ transactionId: 0, atMs: this.#deps.clock.nowMs(), groups: [], removedGroups: [groupId] })
  }

  #enqueue(entry: JournalEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, line: encodeLine(entry), resolve, reject })
      this.#running ??= this.#drain().finally(() => {
        this.#running = undefined
      })
    })
  }

  async close(): Promise<void> {
    await this.#running
    await this.#file?.sync()
    await this.#file?.close()
    this.#file = undefined
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const pending = this.#queue.splice(0)
      try {
        await this.#write(pending)
      } catch (error) {
        const failure = toBusError(error, 'offsets cannot be committed')
        for (const { reject } of pending) reject(failure)
        continue
      }
      for (const { entry, resolve } of pending) {
        this.#apply(entry)
        if (entry.transactionId !== 0) this.#undecided.add(entry.transactionId)
        resolve()
      }
    }
  }

  async #write(pending: readonly PendingEntry[]): Promise<void> {
    if (!this.#isTailSound) await this.#cutTail()
    if (this.#length >= this.#compactAt) await this.#compact()
    if (!this.#isNameSynced) await this.#syncName()
    const lines = pending.map(({ line }) => line)
    const nowMs = this.#deps.clock.nowMs()
    const ends = isRecent(this.#lastEndsMs, SYNC_INTERVAL_MS, nowMs) ? undefined : this.#endsEntry()
    if (ends !== undefined) lines.push(encodeLine(ends))
    const mustSync =
      pending.some(({ entry }) => entry.transactionId !== 0 || entry.ends !== undefined) ||
      !isRecent(this.#lastSyncMs, SYNC_INTERVAL_MS, nowMs)
    this.#isTailSound = false
    try {
      await this.#file!.write(lines, this.#length)
      if (mustSync) await this.#file!.sync()
    } catch (error) {
      await this.#cutTail().catch(() => undefined)
      throw error
    }
    this.#isTailSound = true
    if (mustSync) this.#lastSyncMs = nowMs
    if (ends !== undefined) {
      this.#apply(ends)
      this.#lastEndsMs = nowMs
    }
    for (const line of lines) this.#length += line.length
  }

  #endsEntry() {
    return { transactionId: 0, atMs: this.#deps.clock.nowMs(), groups: [], ends: this.#deps.ends() }
  }

  /** Cuts off a refused commit, which must not come back at the next start. A cut that fails is tried again before the next write. */
  async #cutTail(): Promise<void> {
    await this.#file!.truncate(this.#length)
    await this.#file!.sync()
    this.#isTailSound = true
  }

  /** Writes the current offsets into a new file that takes the old file's place. When that fails, the old file stays in use. */
  async #compact(): Promise<void> {
    const { path, files, beforeCompaction, log } = this.#deps
    const groups = this.groupIds().map(groupId => ({
      transactionId: 0,
      atMs: this.#lastSeenMs.get(groupId) ?? 0,
      groups: [{ groupId, offsets: this.offsetsOf(groupId) }],
    }))
    const undecided = [...this.#undecided]
    const transactions = undecided.map(transactionId => ({ transactionId, atMs: 0, groups: [] }))
    const lines = [...groups, ...transactions, this.#endsEntry()].map(encodeLine)
    const previous = this.#file!
    try {
      await beforeCompaction()
      this.#file = await this.#writeSuccessor(`${path}.new`, lines)
      await files.rename(`${path}.new`, path)
    } catch (error) {
      this.#file = previous
      this.#compactAt += this.#length
      log.warn({ error }, 'the journal of committed offsets could not be compacted')
      return
    }
    this.#isNameSynced = false
    this.#length = lines.reduce((sum, line) => sum + line.length, 0)
    this.#compactAt = Math.max(MIN_COMPACTION_BYTES, this.#length * COMPACTION_FACTOR)
    this.#transactions.clear()
    for (const transactionId of undecided) this.#transactions.add(transactionId)
    await previous.close()
  }

  async #writeSuccessor(path: string, lines: readonly Buffer[]): Promise<LogFile> {
    const file = await this.#deps.files.open(path)
    try {
      await file.truncate(0)
      await file.write(lines, 0)
      await file.sync()
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #syncName(): Promise<void> {
    await this.#deps.files.syncDirectory(dirname(this.#deps.path))
    this.#isNameSynced = true
  }

  #apply(entry: JournalEntry): void {
    if (entry.transactionId !== 0) this.#transactions.add(entry.transactionId)
    for (const { groupId, offsets } of entry.groups) {
      const known = this.#groups.get(groupId) ?? new Map<string, TopicPartitionOffset>()
      this.#groups.set(groupId, known)
      for (const offset of offsets) known.set(`${offset.topic}/${offset.partition}`, offset)
      this.#lastSeenMs.set(groupId, entry.atMs)
    }
    for (const end of entry.ends ?? []) this.#ends.set(end.topic, end)
    for (const groupId of entry.removedGroups ?? []) {
      this.#groups.delete(groupId)
      this.#lastSeenMs.delete(groupId)
    }
  }

  /** Takes all sound lines, those behind damage as well; returns where the last of them ends. */
  #load(bytes: Buffer): number {
    const { path, log } = this.#deps
    let soundEnd = 0
    for (let at = 0, end = bytes.indexOf(10); end >= 0; at = end + 1, end = bytes.indexOf(10, at)) {
      const entry = decodeLine(bytes.subarray(at, end))
      if (entry === undefined) continue
      if (at > soundEnd) {
        this.#isDamaged = true
        log.error({ file: path, position: soundEnd, length: at - soundEnd }, DAMAGED_LINES)
      }
      this.#apply(entry)
      soundEnd = end + 1
    }
    if (soundEnd < bytes.length)
      log.warn(
        { file: path, position: soundEnd, length: bytes.length - soundEnd },
        'a torn write was cut off the journal of committed offsets',
      )
    return soundEnd
  }
}

const LOST =
  'the journal of committed offsets is missing or empty beside records: all groups read from the oldest record on. What is stored already is stored under the same ids; with a backup of the whole directory, stop, put it back and start again'
const DAMAGED_LINES =
  'the journal of committed offsets is damaged: its lines before and behind count. A group that committed last in the damaged ones reads some records again; nothing needs to be done'

function encodeLine(entry: JournalEntry): Buffer {
  const json = JSON.stringify(entry)
  return Buffer.from(`${crc32(json).toString(16).padStart(8, '0')} ${json}\n`)
}

function decodeLine(line: Buffer): JournalEntry | undefined {
  const json = line.subarray(9)
  if (json.length === 0) return undefined
  if (line.toString('latin1', 0, 8) !== crc32(json).toString(16).padStart(8, '0')) return undefined
  return JSON.parse(json.toString()) as JournalEntry
}
