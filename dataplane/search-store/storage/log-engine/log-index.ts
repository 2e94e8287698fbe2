/** A log index: large, mostly appended to, in files of its own. Opens it, writes to it, reads it by id, maintains it. */
import type { IndexMapping } from '../../mapping/field-types.ts'
import { type MutableMapping, openMapping } from '../../mapping/mapping.ts'
import { type MappingConfig, mappingConfigOf } from '../../mapping/mapping-config.ts'
import { NO_WRITE_HEALTH, type WriteHealth } from '../../write-health.ts'
import type { FrozenIndex } from '../frozen-index.ts'
import type { IndexFeed } from '../index-feed.ts'
import type { Creations, IndexStorage, Segment, StoredDocument, WriteError, WriteOp, WriteOutcome } from '../index-storage.ts'
import type { PinnedFile } from '../pinned-file.ts'
import type { WalkerKnowledge, WalkerNews } from '../walked-documents.ts'
import { idKeyOf } from './format/document-id.ts'
import { type IndexFiles, nodeFiles } from './format/index-files.ts'
import { freezeLog } from './freeze-log.ts'
import { type IndexIdentity, openIdentity, openSegments, saveState, segmentPath } from './index-directory.ts'
import { commitBatch } from './ingest/commit-batch.ts'
import { type CommitFailure, type CommitQueue, createCommitQueue, type Share } from './ingest/commit-queue.ts'
import { DAMAGED_STATUS } from './ingest/write-batch.ts'
import { createLogFeed } from './log-feed.ts'
import { pinLog } from './pin-log.ts'
import type { ByteCache } from './sealed/byte-cache.ts'
import { createSegmentContext, type SegmentContext } from './segment-context.ts'
import { openSegmentSet, type SegmentSet } from './segment-set.ts'

export interface LogIndexConfig {
  /** Holds this index alone; made where missing. */
  readonly dir: string
  readonly name: string
  /** For a new index; one that exists keeps its own. */
  readonly mapping: MappingConfig
  /** The index was made before: where its files are not there, they are lost. Default: it is made where they are not there. */
  readonly isThere?: boolean
}

export interface LogIndexDeps {
  readonly clock: { nowMs(): number }
  /** Shared by all indices. */
  readonly cache: ByteCache
  readonly newUuid: () => string
  readonly files?: IndexFiles
  readonly writes?: WriteHealth
  /** Ids in memory beyond which older ones go to disk. Default: `MAX_IDS_IN_MEMORY`. */
  readonly maxIdsInMemory?: number | undefined
}

/** A log index: more than the storage of any index. */
export interface LogIndex extends IndexStorage {
  /** `PUT _mapping`: durable when it resolves; throws DocumentRejected when a field would change its type. */
  putMapping(properties: Readonly<Record<string, unknown>>): Promise<void>
  /** To be called now and then. Seals an index without writes and frees its memory, and merges small segments. */
  maintain(): Promise<void>
  /** Seals what was written so far. */
  seal(): Promise<void>
  /** Bytes in memory beside the cache. */
  readonly memoryBytes: number
}

/** A long tail without writes for so long is sealed. */
const REST_MS = 3_000
/** An index without writes for so long gives its memory back. */
const IDLE_MS = 5 * 60_000

/** Opens or creates the log index in `dir`, replaying what was not sealed. */
export async function openLogIndex(config: LogIndexConfig, deps: LogIndexDeps): Promise<LogIndex> {
  const files = deps.files ?? nodeFiles
  const fresh = () => ({ uuid: deps.newUuid(), createdAtMs: deps.clock.nowMs() })
  const { identity, mapping, totalFieldsLimit, listed } = openIdentity(files, config.dir, config.mapping, fresh, config.isThere)
  const context = createSegmentContext(mapping, files, deps.cache)
  const found = openSegments(context, config.dir, listed)
  const segments = await openSegmentSet(context, {
    ...{ mapping, found, listed, dir: config.dir, maxIdsInMemory: deps.maxIdsInMemory },
    saveState: list => saveState(files, config.dir, { identity, mapping, totalFieldsLimit, segments: list }),
  })
  return new StoredLogIndex(config, deps, identity, mapping, context, segments)
}

class StoredLogIndex implements LogIndex {
  readonly name: string
  readonly uuid: string
  readonly createdAtMs: number
  readonly #dir: string
  readonly #clock: { nowMs(): number }
  readonly #mapping: MutableMapping
  readonly #context: SegmentContext
  readonly #segments: SegmentSet
  readonly #queue: CommitQueue
  readonly #writes: WriteHealth
  #lastWriteMs: number
  #view: readonly Segment[] | undefined
  #maintenance: Promise<void> | undefined

  constructor(
    config: LogIndexConfig,
    deps: LogIndexDeps,
    identity: IndexIdentity,
    mapping: MutableMapping,
    context: SegmentContext,
    segments: SegmentSet,
  ) {
    this.name = config.name
    this.uuid = identity.uuid
    this.createdAtMs = identity.createdAtMs
    this.#dir = config.dir
    this.#clock = deps.clock
    this.#mapping = mapping
    this.#context = context
    this.#segments = segments
    this.#writes = deps.writes ?? NO_WRITE_HEALTH
    this.#lastWriteMs = deps.clock.nowMs()
    this.#queue = createCommitQueue(config.name, shares => this.#commit(shares))
  }

  get mapping(): IndexMapping {
    return this.#mapping
  }

  get docCount(): number {
    return this.#segments.held.docCount
  }

  get deletedCount(): number {
    return this.#segments.held.deletedCount
  }

  get sizeBytes(): number {
    return this.#segments.held.sizeBytes
  }

  get memoryBytes(): number {
    return this.#segments.held.memoryBytes
  }

  apply(ops: readonly WriteOp[]): Promise<readonly WriteOutcome[]> {
    return this.#queue.apply(ops)
  }

  async create(creations: Creations): Promise<ReadonlyMap<number, WriteError>> {
    const errors = new Map<number, WriteError>()
    const outcomes = await this.#queue.apply(creations)
    for (let at = 0; at < outcomes.length; at++) {
      const outcome = outcomes[at]!
      if ('error' in outcome) errors.set(at, outcome.error)
    }
    return errors
  }

  async #commit(shares: readonly Share[]): Promise<readonly WriteOutcome[] | CommitFailure> {
    this.#lastWriteMs = this.#clock.nowMs()
    this.#view = undefined
    const outcomes = await commitBatch(this.#segments, this.#mapping, shares)
    this.#view = undefined
    if ('failure' in outcomes) this.#writes.failed(this.name, outcomes.failure.reason)
    else {
      this.#writes.wrote(this.name)
      for (const outcome of outcomes)
        if ('error' in outcome && outcome.error.status === DAMAGED_STATUS) this.#writes.damaged(outcome.error.reason)
    }
    return outcomes
  }

  newsFor(known: WalkerKnowledge | undefined): WalkerNews | undefined {
    return this.#segments.batch.newsFor(known)
  }

  get(id: string): StoredDocument | undefined {
    return this.#segments.held.get(idKeyOf(id), id)
  }

  noteDamage(segment: number): void {
    this.#segments.merges.noteDamage(segment)
  }

  getMany<T>(ids: readonly string[], show: (document: StoredDocument, at: number) => T | Promise<T>): Promise<readonly (T | undefined)[]> {
    return this.#segments.held.getMany(ids.map(idKeyOf), ids, show)
  }

  segments(): readonly Segment[] {
    this.#view ??= this.#segments.held.view()
    return this.#view
  }

  feed(): IndexFeed {
    return createLogFeed({ name: this.name, uuid: this.uuid, dir: this.#dir }, this.#mapping, this.#segments.held)
  }

  freeze(dir: string): FrozenIndex {
    const { name, uuid } = this
    return freezeLog({ name, uuid }, { from: this.#dir, to: dir }, this.#mapping, this.#segments.held, this.#context.files)
  }

  pin(dir: string): readonly PinnedFile[] {
    const { number, end } = this.#segments.held.tail
    return pinLog(this.#context.files, this.#dir, dir, { path: segmentPath(this.#dir, number), end })
  }

  putMapping(properties: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#queue.exclusive(async () => {
      if (!isChange(this.#mapping, properties)) return
      // Documents are indexed anew when the tail is replayed: none may meet a mapping that it was not taken under.
      this.#view = undefined
      await this.#segments.sealing.seal()
      this.#mapping.put(properties)
      this.#context.slots.invalidate()
      this.#segments.list.save()
    })
  }

  seal(): Promise<void> {
    return this.#queue.exclusive(async () => {
      this.#view = undefined
      await this.#segments.sealing.seal()
      await this.#segments.merges.dropEmpty()
    })
  }

  maintain(): Promise<void> {
    this.#maintenance ??= this.#maintainOnce().finally(() => {
      this.#maintenance = undefined
    })
    return this.#maintenance
  }

  async #maintainOnce(): Promise<void> {
    const restMs = this.#clock.nowMs() - this.#lastWriteMs
    if (restMs >= IDLE_MS) {
      await this.seal()
      await this.#queue.exclusive(() => this.#segments.held.places.unload())
    } else if (restMs >= REST_MS) await this.#sealAtRest()
    await this.#mergeSegments()
    await this.#mergeIdRuns()
  }

  async #mergeSegments(): Promise<void> {
    const merged = await this.#segments.merges.prepare()
    if (merged === undefined) return
    await this.#queue.exclusive(async () => {
      this.#view = undefined
      this.#segments.merges.finish(merged)
      await this.#segments.merges.dropEmpty()
    })
    if (merged.isMended) this.#writes.mended(segmentPath(this.#dir, merged.sources[0]!.number))
  }

  async #mergeIdRuns(): Promise<void> {
    const { places } = this.#segments.held
    const merged = await places.prepareMerge()
    if (merged !== undefined) await this.#queue.exclusive(async () => places.finishMerge(merged))
  }

  #sealAtRest(): Promise<void> {
    return this.#queue.exclusive(async () => {
      this.#view = undefined
      await this.#segments.sealing.sealAtRest()
    })
  }

  /** Waits for what runs. A merge that fails is for the caller of `maintain` to hear of. */
  async #settle(): Promise<void> {
    await this.#queue.close()
    await this.#maintenance?.catch(() => undefined)
    await this.#segments.held.places.settle()
  }

  async close(): Promise<void> {
    await this.#settle()
    await this.#segments.sealing.sealForClose()
    this.#segments.held.closeFiles()
  }

  async destroy(): Promise<void> {
    await this.#settle()
    this.#view = undefined
    this.#segments.held.abandon()
    this.#writes.forget(this.name)
    this.#mapping.release()
    this.#context.files.removeDirectory(this.#dir)
  }
}

/** Whether a mapping lacks any of it. Throws as `put` does, but for the limit of fields. */
function isChange(mapping: MutableMapping, properties: Readonly<Record<string, unknown>>): boolean {
  const copy = openMapping(mappingConfigOf(mapping.toJson(), Number.POSITIVE_INFINITY))
  const before = JSON.stringify(copy.toJson())
  try {
    copy.put(properties)
    return JSON.stringify(copy.toJson()) !== before
  } finally {
    copy.release()
  }
}
