/** Finds the segment and document of an id. */
import { Turns } from '../../../turns.ts'
import { type BlockRef, forEachId } from '../format/block/block.ts'
import type { StoredId } from '../format/document-id.ts'
import { type IdKey, idHash, isSameId } from '../format/document-id.ts'
import { StagedDocuments } from '../ingest/staged-documents.ts'
import { DocumentTimes } from './document-times.ts'
import { type IdRun, type SegmentIdentity, segmentKey } from './id-run.ts'
import type { IdRuns, MergedRun } from './id-runs.ts'
import { IdTable } from './id-table.ts'
import { docOf, MAX_ORDINALS, ordinalOf, placeOf } from './place.ts'

/** A segment as ids see it. */
export interface IdHolder {
  /** Undefined while documents are added. */
  readonly identity: SegmentIdentity | undefined
  /** The time of each document, ms, where its id tells the time: no other document ever has the same id at another time. Undefined where some do not. */
  toldTimes(): Float64Array | undefined
  storedId(doc: number): StoredId
  isLive(doc: number): boolean
  /** Documents whose id has this hash: candidates, dead ones too. */
  docsOfIdHash(hash: number): readonly number[]
  /** The ids of all its documents, block by block; of dead ones too. */
  idBlocks(): Iterable<readonly [ref: BlockRef, ids: Buffer]>
  readonly liveCount: number
}

/** Ids in memory beyond which the older half of them goes into a run on disk. */
export const MAX_IDS_IN_MEMORY = 1 << 20

/** A document of a segment that is there for as long as it is held. */
export interface FoundDocument<H extends IdHolder> {
  readonly holder: H
  readonly doc: number
}

const NONE_STAGED = new StagedDocuments()

/** A run on disk that the table still has. */
interface WrittenRun {
  readonly run: IdRun
  readonly ordinals: readonly number[]
}

/**
 * Where each document id of an index lives: segments by ordinal, a table in memory from id to place for the young segments, and runs on disk for the
 * others. The table is made when first needed. A batch stages changes that `commit` keeps and `rollback` takes back; until then `findCommitted` sees
 * none of them.
 */
export class IdPlaces<H extends IdHolder = IdHolder> {
  readonly #holders: (H | undefined)[] = []
  readonly #runs: IdRuns
  readonly #maxInMemory: number
  #table: IdTable | undefined
  /** Resolves once the run that is being written is on disk, or has failed. */
  #writing: Promise<void> | undefined
  #written: WrittenRun | undefined
  /** Why a run could not be written: `prepareMerge` tells of it. */
  #failure: { readonly error: unknown } | undefined
  /** Ids in memory at which the next run is written. */
  #nextRunAt: number
  #staged = NONE_STAGED
  #stagedFrom = -1
  readonly #replaced = new Map<number, number>()
  readonly #buried = new Set<number>()
  /** Grows whenever a document may be elsewhere than before. */
  #changes = 0

  constructor(runs: IdRuns, maxInMemory = MAX_IDS_IN_MEMORY) {
    this.#runs = runs
    this.#maxInMemory = maxInMemory
    this.#nextRunAt = maxInMemory
  }

  /** To be called once all segments that were there at the start have been added. */
  open(): void {
    const segments = [...this.#holders.entries()].flatMap(([ordinal, holder]) => {
      const identity = holder?.identity
      return identity === undefined ? [] : [[ordinal, identity] as const]
    })
    this.#runs.open(new Map(segments))
  }

  get memoryBytes(): number {
    return (this.#table?.sizeBytes ?? 0) + this.#runs.memoryBytes
  }

  get bytesOnDisk(): number {
    return this.#runs.sizeBytes
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
    if (holder === undefined) this.#runs.forget(ordinal)
  }

  holder(place: number): H | undefined {
    return this.#holders[ordinalOf(place)]
  }

  /** Closes the runs. */
  close(): void {
    this.#written?.run.close()
    this.#runs.close()
  }

  clear(): void {
    this.#holders.length = 0
    this.#table = undefined
    this.close()
  }

  /** Frees the table's memory; it is made again when a write comes. Not within a batch. */
  async unload(): Promise<void> {
    await this.settle()
    if (this.#table !== undefined) await this.#takeRun(this.#table)
    this.#table = undefined
  }

  /** Resolves once no run is being written. */
  async settle(): Promise<void> {
    await this.#writing
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
    for (const [ordinal, holder] of this.#holders.entries()) {
      if (holder === undefined || this.#runs.covers(ordinal)) continue
      table.begin(holder.liveCount, () => true)
      for (const [ref, ids] of holder.idBlocks()) {
        loadBlock(table, holder, ref, ids, placeOf(ordinal, ref.firstDoc))
        if (turns.isDue()) await turns.next()
      }
      await this.#writeRun(table, ordinal + 1)
      await this.#writing
      await this.#takeRun(table)
    }
    this.#table = table
  }

  /** Lets the older ids go to disk when there are many in memory. To be called between two batches; waits where the disk is far behind. */
  async makeRoom(): Promise<void> {
    const table = this.#table
    if (table === undefined) return
    await this.#takeRun(table)
    await this.#writeRun(table, this.#holders.length)
    if (table.size > 2 * this.#maxInMemory) await this.#writing
  }

  /** Begins to write a run of the oldest segments, where the table, which has the ids of those below the ordinal `end`, has too many. */
  async #writeRun(table: IdTable, end: number): Promise<void> {
    if (table.size < this.#nextRunAt || this.#writing !== undefined || this.#written !== undefined) return
    const ordinals = this.#oldest(table.size - this.#maxInMemory / 2, end)
    if (ordinals.length === 0) return
    const isChosen = new Set(ordinals)
    const words = await table.inOrder(place => isChosen.has(ordinalOf(place)), new Turns())
    const holders = ordinals.map(ordinal => this.#holders[ordinal]!)
    this.#writing = this.#writeWords(words, ordinals, holders).then(
      run => {
        this.#written = { run, ordinals }
        this.#writing = undefined
      },
      (error: unknown) => {
        this.#writing = undefined
        // The table goes on with all of them: it is tried again when there are more.
        this.#nextRunAt = table.size + Math.ceil(this.#maxInMemory / 8)
        this.#failure = { error }
      },
    )
  }

  async #writeWords(words: Uint32Array, ordinals: readonly number[], holders: readonly H[]): Promise<IdRun> {
    const segments = holders.map(({ identity }) => identity!)
    const times = await timesOf(holders)
    return this.#runs.write(words, ordinals, { segments, times, replaces: [] })
  }

  /** Sealed segments below the ordinal `end` that are in no run, in the order of arrival, until they have so many documents. */
  #oldest(documents: number, end: number): number[] {
    const ordinals: number[] = []
    let count = 0
    for (const [ordinal, holder] of this.#holders.slice(0, end).entries()) {
      if (holder?.identity === undefined || this.#runs.covers(ordinal)) continue
      if (count >= documents) break
      ordinals.push(ordinal)
      count += holder.liveCount
    }
    return ordinals
  }

  /** Leaves the ids of a run that is on disk to the run. Segments that have gone meanwhile are in it for nothing. */
  async #takeRun(table: IdTable): Promise<void> {
    if (this.#written === undefined) return
    const { run, ordinals } = this.#written
    this.#written = undefined
    this.#nextRunAt = this.#maxInMemory
    this.#changes++
    this.#runs.take(
      run,
      ordinals.map((ordinal, slot) => (isSameSegment(this.#holders[ordinal]?.identity, run.content.segments[slot]!) ? ordinal : -1)),
    )
    await table.keep(place => this.#isWanted(place) && !this.#runs.covers(ordinalOf(place)), new Turns())
  }

  /**
   * Merges runs on disk beside the running writes; undefined where there is nothing to merge. `finishMerge` must follow. Throws once where a run could
   * not be written since the last call: ids stay in memory until it is tried again.
   */
  async prepareMerge(): Promise<MergedRun | undefined> {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.error
    return this.#runs.merge(place => this.#isWanted(place))
  }

  /** To be called between two batches. */
  finishMerge(merged: MergedRun): void {
    this.#changes++
    this.#runs.finishMerge(merged)
  }

  #isStaged(place: number): boolean {
    return this.#stagedFrom >= 0 && place >= this.#stagedFrom && ordinalOf(place) === ordinalOf(this.#stagedFrom)
  }

  stagedSource(place: number): Uint8Array | undefined {
    return this.#isStaged(place) ? this.#staged.rows.source(place - this.#stagedFrom) : undefined
  }

  /** The place of an id as the running batch sees it; −1 without one. `timeMs`: of its document, where the id tells the time; NaN where it does not. */
  find(key: IdKey, timeMs: number): number {
    const young = this.#table!.find(key.hash, place => {
      if (this.#buried.has(place)) return false
      if (!this.#isStaged(place)) return this.#isAt(place, key)
      return this.#staged.rows.hasId(place - this.#stagedFrom, key)
    })
    if (young >= 0 || this.#runs.isEmpty) return young
    return this.#runs.find(key.hash, timeMs, place => !this.#buried.has(place) && this.#isAt(place, key))
  }

  /** Whether `find` may give a place for an id with this hash. */
  mayHold(hash: number, timeMs: number): boolean {
    return this.#table!.has(hash) || (!this.#runs.isEmpty && this.#runs.mayHold(hash, timeMs))
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
    return found >= 0 ? found : this.#findInRuns(key)
  }

  #findInRuns(key: IdKey): number {
    return this.#runs.find(key.hash, Number.NaN, place => this.#isAt(place, key))
  }

  /** Without the table: asks the segments that are in no run, the newest first, and the runs. */
  #search(key: IdKey): number {
    for (let ordinal = this.#holders.length - 1; ordinal >= 0; ordinal--) {
      const holder = this.#holders[ordinal]
      const doc = holder === undefined || this.#runs.covers(ordinal) ? undefined : docIn(holder, key)
      if (doc !== undefined) return placeOf(ordinal, doc)
    }
    return this.#findInRuns(key)
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
    for (const [ordinal, holder] of [...this.#holders.entries()].reverse()) {
      if (holder === undefined || this.#runs.covers(ordinal)) continue
      for (const at of wanted) {
        const doc = found[at] === undefined ? docIn(holder, keys[at]!) : undefined
        if (doc !== undefined) found[at] = { holder, doc }
        if (turns.isDue()) await turns.next()
      }
    }
    for (const at of wanted) {
      const place = found[at] === undefined ? this.#findInRuns(keys[at]!) : -1
      if (place >= 0) found[at] = { holder: this.holder(place)!, doc: docOf(place) }
      if (turns.isDue()) await turns.next()
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

const isSameSegment = (a: SegmentIdentity | undefined, b: SegmentIdentity): boolean => a !== undefined && segmentKey(a) === segmentKey(b)

/** Undefined where the ids of some segment do not tell the times. */
async function timesOf(holders: readonly IdHolder[]): Promise<DocumentTimes | undefined> {
  const turns = new Turns()
  const all: DocumentTimes[] = []
  for (const holder of holders) {
    const told = holder.toldTimes()
    if (told === undefined) return undefined
    all.push(DocumentTimes.ofAll(told))
    if (turns.isDue()) await turns.next()
  }
  return DocumentTimes.union(all)
}
