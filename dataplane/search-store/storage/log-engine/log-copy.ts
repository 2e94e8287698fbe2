/** A log index as another process reads it: the same files, as far as the feed says that they are durable. */

import { DocumentRejected } from '../../mapping/document-rejected.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import { createMapping, type MutableMapping } from '../../mapping/mapping.ts'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import { EMPTY_SEGMENT } from '../empty-segment.ts'
import { type IndexCopy, type IndexSnapshot, SnapshotGone } from '../index-copy.ts'
import type { FeedHead, LogFeedHead, SealedNews, TailExtent } from '../index-feed.ts'
import type { Damage, ReadableIndex, Segment } from '../index-storage.ts'
import { DeadDocuments } from './format/dead-documents.ts'
import { readOnlyFiles } from './format/index-files.ts'
import { SegmentFile } from './format/segment-file.ts'
import { logPath, segmentPath } from './index-directory.ts'
import type { ByteCache } from './sealed/byte-cache.ts'
import { DamagedDirectory, SealedSegment } from './sealed/sealed-segment.ts'
import { createSegmentContext, type SegmentContext } from './segment-context.ts'
import { TailView } from './tail/tail.ts'
import { TailCopy } from './tail/tail-copy.ts'

/** Fields are bounded where documents are written. */
const ANY_NUMBER = Number.POSITIVE_INFINITY

/** Called with a copy of a tail that has been replaced: queries that have begun may still read it, later ones do not. */
export type RetireTail = (tail: TailCopy) => void

/** Without `retire` copies of tails that have been replaced are left to the garbage collector. */
export function createLogCopy(cache: ByteCache, retire: RetireTail = () => undefined): LogCopy {
  return new LogCopy(cache, retire)
}

interface Parts {
  readonly mapping: MutableMapping
  readonly context: SegmentContext
}

/** The last message, and the index that queries read until the next one comes. */
interface Known {
  readonly head: LogFeedHead
  /** Numbers of the sealed segments; the same list as long as they are the same. */
  readonly sealed: readonly number[]
  readonly parts: Parts
  /** By segment; neither the sets nor the map ever change. */
  readonly dead: ReadonlyMap<number, DeadDocuments>
  opened: ReadableIndex | undefined
}

/** The sealed segments that were opened for the last query. */
interface OpenedSealed extends Pick<Known, 'sealed' | 'parts' | 'dead'> {
  readonly segments: readonly Segment[]
  /** Segments that could not be opened: an empty one stands in the place of each. */
  readonly damage: readonly Damage[]
}

const NONE_DEAD = new DeadDocuments(0)

export class LogCopy implements IndexCopy {
  readonly #cache: ByteCache
  readonly #retire: RetireTail
  readonly #opened = new Map<number, SealedSegment>()
  #known: Known | undefined
  #lastSealed: OpenedSealed | undefined
  /** Segments whose file was not there, though the store had told of them. */
  readonly #missing = new Map<number, Known>()
  #tail: TailCopy | undefined
  /** The copy of the tail before, while there is none of the tail: queries that have begun may read it. */
  #before: TailCopy | undefined

  constructor(cache: ByteCache, retire: RetireTail) {
    this.#cache = cache
    this.#retire = retire
  }

  get memoryBytes(): number {
    return this.#tail?.memoryBytes ?? 0
  }

  /** Does before a query asks for it what is to be done once for all queries. An index over the tail that was freed is left to them. */
  async follow(step: () => Promise<unknown>): Promise<void> {
    if (this.#tail === undefined && this.#before === undefined) return
    await this.snapshot().open(step)
    await this.#tail?.followTerms(step)
  }

  /** Frees the index over the tail, which is made again when a query needs it. */
  unload(): void {
    const tail = this.#tail
    this.#tail = undefined
    this.#before = undefined
    if (this.#known !== undefined) this.#known.opened = undefined
    if (tail !== undefined) this.#retire(tail)
  }

  /** Nobody may read the index any more. */
  close(): void {
    for (const { file } of this.#opened.values()) file.close()
    this.#tail?.close()
  }

  apply({ head, bytes }: { readonly head: FeedHead; readonly bytes: Uint8Array }): void {
    if (head.kind !== 'log') throw new Error(`a log index was told of a ${head.kind}`)
    const sealed = sealedAfter(this.#known?.sealed ?? [], head.sealed)
    const isSame = sealed === this.#known?.sealed && head.tail.number === this.#known.head.tail.number
    if (!isSame) this.#forgetOthers(new Set([...sealed, head.tail.number]))
    const dead = isSame && head.dead.length === 0 ? this.#known!.dead : this.#deadAfter(sealed, head, bytes)
    this.#known = { head, sealed, parts: this.#partsFor(head.mappings), dead, opened: undefined }
    if (this.#tail !== undefined && this.#tail.tail.number < head.tail.number) {
      this.#before = this.#tail
      this.#tail = undefined
      this.#retire(this.#before)
    }
  }

  #forgetOthers(numbers: ReadonlySet<number>): void {
    for (const known of [this.#opened, this.#missing]) for (const number of known.keys()) if (!numbers.has(number)) known.delete(number)
    this.#lastSealed = undefined
  }

  #deadAfter(sealed: readonly number[], head: LogFeedHead, bytes: Uint8Array): Known['dead'] {
    const numbers = new Set([...sealed, head.tail.number])
    const dead = new Map([...(this.#known?.dead ?? [])].filter(([number]) => numbers.has(number)))
    let at = 0
    for (const [number, length] of head.dead) {
      dead.set(number, DeadDocuments.of(bytes.subarray(at, at + length)))
      at += length
    }
    return dead
  }

  /** Fields are added and never change their type. Should one have (a write was taken back), everything is read again. */
  #partsFor(mappings: Record<string, unknown> | undefined): Parts {
    const known = this.#known?.parts
    if (known !== undefined && mappings === undefined) return known
    const config = mappingConfigOf(mappings, ANY_NUMBER)
    try {
      if (known !== undefined) {
        known.mapping.put(config.properties ?? {})
        known.context.slots.invalidate()
        return known
      }
    } catch (error) {
      if (!(error instanceof DocumentRejected)) throw error
      this.#opened.clear()
      this.#lastSealed = undefined
      this.#tail = undefined
    }
    const mapping = createMapping(config)
    return { mapping, context: createSegmentContext(mapping, readOnlyFiles, this.#cache) }
  }

  snapshot(): IndexSnapshot {
    const known = this.#known
    if (known === undefined) throw new Error('nothing is known of the index yet')
    const { name, uuid } = known.head
    return { name, uuid, open: async step => known.opened ?? this.#open(known, step) }
  }

  async #open(known: Known, step: () => Promise<unknown>): Promise<ReadableIndex> {
    const { head, parts } = known
    // The tail first: its file may be gone soonest.
    const tail = await this.#tailView(known, step)
    const sealed = await this.#openSealed(known, step)
    const segments = tail === undefined ? sealed.segments : [...sealed.segments, tail]
    const index = {
      ...{ name: head.name, uuid: head.uuid, mapping: parts.mapping satisfies IndexMapping, segments: () => segments },
      ...(sealed.damage.length > 0 && { damage: sealed.damage }),
    }
    if (this.#known === known) known.opened = index
    return index
  }

  /** In steps, but where nothing was sealed, merged or deleted since the last query: there are thousands, and many commits a second. */
  async #openSealed(known: Known, step: () => Promise<unknown>): Promise<OpenedSealed> {
    const { sealed, parts, dead } = known
    const last = this.#lastSealed
    if (last !== undefined && last.sealed === sealed && last.parts === parts && last.dead === dead) return last
    const segments: Segment[] = []
    const damage: Damage[] = []
    for (const number of sealed) {
      try {
        segments.push(this.#sealed(known, number))
      } catch (error) {
        damage.push({ text: this.#damageIn(error, known, number), segment: number })
        segments.push(EMPTY_SEGMENT)
      }
      await step()
    }
    const opened = { sealed, parts, dead, segments, damage }
    if (this.#known?.sealed === sealed && this.#known.parts === parts) this.#lastSealed = opened
    return opened
  }

  /** Throws what is no damage. A file that is not there is damage once the store has told of it anew. */
  #damageIn(error: unknown, known: Known, number: number): string {
    if (error instanceof DamagedDirectory) return error.message
    if (!(error instanceof SnapshotGone)) throw error
    const before = this.#missing.get(number)
    this.#missing.set(number, before ?? known)
    if (before === undefined || before === known) throw error
    return `${segmentPath(known.head.dir, number)} is missing: restore its directory from a backup and start again, or delete the index`
  }

  #sealed({ head: { dir }, parts, dead }: Known, number: number): SealedSegment {
    const isCurrent = this.#known?.parts === parts
    const opened = (isCurrent ? this.#opened.get(number) : undefined) ?? openSealed(dir, number, parts.context)
    const documents = dead.get(number) ?? NONE_DEAD
    const segment = opened.dead === documents ? opened : opened.withDead(documents)
    if (isCurrent) this.#opened.set(number, segment)
    return segment
  }

  async #tailView({ head: { dir, tail: extent }, parts, dead }: Known, step: () => Promise<unknown>): Promise<Segment | undefined> {
    if (extent.count === 0) return undefined
    const copy = this.#tailFor(dir, extent, parts)
    await copy.catchUp(extent, step)
    return new TailView(parts.context, copy.tail, extent.count, dead.get(extent.number) ?? NONE_DEAD)
  }

  #tailFor(dir: string, { number, logEnd }: TailExtent, { mapping, context }: Parts): TailCopy {
    const known = this.#tail ?? this.#before
    if (known?.tail.number === number && known.context === context) return known
    if (known !== undefined && known.tail.number > number) throw new SnapshotGone(`the tail ${number}`)
    // The segment first: where the log is still there, nothing has taken the segment's place.
    const segment = openFile(dir, number)
    const files = { segment, log: logEnd === 0 ? undefined : openLog(dir, number) }
    this.#tail = new TailCopy(context, mapping, number, files, known)
    this.#before = undefined
    return this.#tail
  }
}

/** The same list where nothing is new. */
function sealedAfter(before: readonly number[], { keep, add }: SealedNews): readonly number[] {
  if (keep > before.length) throw new Error(`a log index was told to keep ${keep} of ${before.length} segments`)
  return keep === before.length && add.length === 0 ? before : [...before.slice(0, keep), ...add]
}

function openFile(dir: string, number: number): SegmentFile {
  const path = segmentPath(dir, number)
  const file = openIfThere(path)
  if (file === undefined) throw new SnapshotGone(path)
  return file
}

/** Undefined: the segment is sealed, or was frozen, which leaves the log behind. */
const openLog = (dir: string, number: number): SegmentFile | undefined => openIfThere(logPath(dir, number))

function openIfThere(path: string): SegmentFile | undefined {
  try {
    return new SegmentFile(readOnlyFiles, path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function openSealed(dir: string, number: number, context: SegmentContext): SealedSegment {
  const file = openFile(dir, number)
  const segment = SealedSegment.open(context, number, file, NONE_DEAD)
  if (segment === undefined) throw new DamagedDirectory(`${file.path} is damaged at its end: it has no footer`)
  file.shareDescriptor(file.path)
  return segment
}
