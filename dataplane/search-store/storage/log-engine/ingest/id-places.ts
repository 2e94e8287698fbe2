/** Finds the segment and document of an id. */
import { Turns } from '../../../turns.ts'
import { type BlockRef, forEachId } from '../format/block.ts'
import type { StoredId } from '../format/document-id.ts'
import { type IdKey, idHash, isSameId } from '../format/document-id.ts'
import { IdTable } from './id-table.ts'
import { StagedDocuments } from './staged-documents.ts'

/** A segment as the id table sees it. */
export interface IdHolder {
  storedId(doc: number): StoredId
  isLive(doc: number): boolean
  /** Documents whose id has this hash: candidates, dead ones too. */
  docsOfIdHash(hash: number): readonly number[]
  /** The ids of all its documents, block by block; of dead ones too. */
  idBlocks(): Iterable<readonly [ref: BlockRef, ids: Buffer]>
  readonly liveCount: number
}

const DOC_BITS = 16
const DOC_MASK = (1 << DOC_BITS) - 1
/** A place must stay below 2³² − 1. */
const MAX_ORDINALS = 65_535

/** A document of a segment that is there for as long as it is held. */
export interface FoundDocument<H extends IdHolder> {
  readonly holder: H
  readonly doc: number
}

const NONE_STAGED = new StagedDocuments()

export const placeOf = (ordinal: number, doc: number) => ordinal * (1 << DOC_BITS) + doc
export const docOf = (place: number) => place & DOC_MASK
export const ordinalOf = (place: number) => place >>> DOC_BITS

/**
 * Where each document id of an index lives: segments by ordinal, and a table from id to place that is made when first needed.
 * A batch stages changes that `commit` keeps and `rollback` takes back; until then `findCommitted` sees none of them.
 */
export class IdPlaces<H extends IdHolder = IdHolder> {
  readonly #holders: (H | undefined)[] = []
  #table: IdTable | undefined
  #staged = NONE_STAGED
  #stagedFrom = -1
  readonly #replaced = new Map<number, number>()
  readonly #buried = new Set<number>()
  /** Grows whenever a document may be elsewhere than before. */
  #changes = 0

  get sizeBytes(): number {
    return this.#table?.sizeBytes ?? 0
  }

  add(holder: H): number {
    this.#changes++
    const free = this.#table === undefined ? this.#holders.indexOf(undefined) : -1
    const ordinal = free >= 0 ? free : this.#holders.length
    if (ordinal >= MAX_ORDINALS) throw new Error(`an index holds at most ${MAX_ORDINALS} segments`)
    this.#holders[ordinal] = holder
    return ordinal
  }

  replace(ordinal: number, holder: H | undefined): void {
    this.#changes++
    this.#holders[ordinal] = holder
  }

  holder(place: number): H | undefined {
    return this.#holders[ordinalOf(place)]
  }

  clear(): void {
    this.#holders.length = 0
    this.#table = undefined
  }

  /** Frees the table's memory; it is made again when a write comes. */
  unload(): void {
    this.#table = undefined
  }

  /** Starts a batch of at most `count` documents, which get the places from `from` on as they come into `staged`. */
  begin(count: number, from: number, staged: StagedDocuments): void {
    const table = this.#table
    if (table === undefined) throw new Error('a batch began without the table of ids')
    table.begin(count, place => this.#isWanted(place))
    this.#staged = staged
    this.#stagedFrom = from
  }

  #isWanted(place: number): boolean {
    return this.holder(place)?.isLive(docOf(place)) === true
  }

  /** Makes the table, which a batch needs, letting others run meanwhile. Not within a batch. */
  async load(): Promise<void> {
    if (this.#table !== undefined) return
    const table = new IdTable()
    const turns = new Turns()
    table.begin(
      this.#holders.reduce((sum, holder) => sum + (holder?.liveCount ?? 0), 0),
      () => true,
    )
    for (const [ordinal, holder] of this.#holders.entries()) {
      if (holder === undefined) continue
      for (const [ref, ids] of holder.idBlocks()) {
        loadBlock(table, holder, ref, ids, placeOf(ordinal, ref.firstDoc))
        if (turns.isDue()) await turns.next()
      }
    }
    this.#table = table
  }

  #isStaged(place: number): boolean {
    return this.#stagedFrom >= 0 && place >= this.#stagedFrom && ordinalOf(place) === ordinalOf(this.#stagedFrom)
  }

  stagedSource(place: number): Uint8Array | undefined {
    return this.#isStaged(place) ? this.#staged.rows.source(place - this.#stagedFrom) : undefined
  }

  /** The place of an id as the running batch sees it; −1 without one. */
  find(key: IdKey): number {
    return this.#table!.find(key.hash, place => {
      if (this.#buried.has(place)) return false
      if (!this.#isStaged(place)) return this.#isAt(place, key)
      return this.#staged.rows.hasId(place - this.#stagedFrom, key)
    })
  }

  /** Whether the running batch may see an id with this hash. */
  mayHold(hash: number): boolean {
    return this.#table!.has(hash)
  }

  /** The place of an id without the running batch; −1 without one. */
  findCommitted(key: IdKey): number {
    if (this.#table === undefined) return this.#search(key)
    let found = -1
    this.#table.find(key.hash, place => {
      let committed = place
      while (this.#isStaged(committed)) committed = this.#replaced.get(committed) ?? -1
      if (committed < 0 || !this.#isAt(committed, key)) return false
      found = committed
      return true
    })
    return found
  }

  /** Without the table: asks the segments, the newest first. */
  #search(key: IdKey): number {
    for (let ordinal = this.#holders.length - 1; ordinal >= 0; ordinal--) {
      const holder = this.#holders[ordinal]
      const doc = holder === undefined ? undefined : docIn(holder, key)
      if (doc !== undefined) return placeOf(ordinal, doc)
    }
    return -1
  }

  /** Where the documents with these ids are, without the running batch; others run meanwhile. */
  async findMany(keys: readonly IdKey[]): Promise<readonly (FoundDocument<H> | undefined)[]> {
    const found = new Array<FoundDocument<H> | undefined>(keys.length)
    for (;;) {
      const missing = [...keys.keys()].filter(at => found[at] === undefined)
      if (this.#table !== undefined) {
        await this.#lookUpMany(keys, missing, found)
        return found
      }
      const changes = this.#changes
      await this.#searchMany(keys, missing, found)
      // A document that was written anew meanwhile may have been in a segment not yet looked at, and be in one that was.
      if (changes === this.#changes) return found
    }
  }

  async #searchMany(keys: readonly IdKey[], wanted: readonly number[], found: (FoundDocument<H> | undefined)[]): Promise<void> {
    const turns = new Turns()
    for (const holder of this.#holders.toReversed()) {
      if (holder === undefined) continue
      for (const at of wanted) {
        const doc = found[at] === undefined ? docIn(holder, keys[at]!) : undefined
        if (doc !== undefined) found[at] = { holder, doc }
        if (turns.isDue()) await turns.next()
      }
    }
  }

  async #lookUpMany(keys: readonly IdKey[], wanted: readonly number[], found: (FoundDocument<H> | undefined)[]): Promise<void> {
    const turns = new Turns()
    for (const at of wanted) {
      const place = this.findCommitted(keys[at]!)
      if (place >= 0) found[at] = { holder: this.holder(place)!, doc: docOf(place) }
      if (turns.isDue()) await turns.next()
    }
  }

  #isAt(place: number, key: IdKey): boolean {
    const holder = this.holder(place)
    const doc = docOf(place)
    if (holder === undefined || !holder.isLive(doc)) return false
    const { bytes, isUuid } = holder.storedId(doc)
    return isSameId(key, bytes, isUuid)
  }

  stage(hash: number, place: number, old: number): void {
    this.#table!.set(hash, place, old)
    if (old >= 0) this.#replaced.set(place, old)
  }

  bury(place: number): void {
    this.#buried.add(place)
  }

  commit(): void {
    this.#changes++
    this.#endBatch()
  }

  rollback(): void {
    this.#table?.rollback()
    this.#endBatch()
  }

  #endBatch(): void {
    this.#staged = NONE_STAGED
    this.#stagedFrom = -1
    this.#replaced.clear()
    this.#buried.clear()
  }

  /** Points ids from documents of merged segments to where they are now. Not within a batch. */
  move(moves: Iterable<readonly [hash: number, to: number, from: number]>, count: number): void {
    if (this.#table === undefined) return
    this.#table.begin(count, place => this.#isWanted(place))
    for (const [hash, to, from] of moves) this.#table.set(hash, to, from)
  }
}

/** The living document of the segment with this id. */
function docIn(holder: IdHolder, key: IdKey): number | undefined {
  return holder.docsOfIdHash(key.hash).findLast(doc => {
    if (!holder.isLive(doc)) return false
    const { bytes, isUuid } = holder.storedId(doc)
    return isSameId(key, bytes, isUuid)
  })
}

function loadBlock(table: IdTable, holder: IdHolder, ref: BlockRef, ids: Buffer, firstPlace: number): void {
  const hashes = new Int32Array(ref.docs)
  forEachId(ref, ids, (k, start, end) => {
    hashes[k] = idHash(ids, start, end)
  })
  table.touch(hashes)
  for (let k = 0; k < ref.docs; k++) if (holder.isLive(ref.firstDoc + k)) table.load(hashes[k]!, firstPlace + k)
}
