/** The runs of one index: finds ids in them, and makes few large ones of many small ones. */

import { Turns } from '../../../turns.ts'
import type { IndexFiles } from '../format/index-files.ts'
import { SegmentFile } from '../format/segment-file.ts'
import { DocumentTimes } from './document-times.ts'
import { IdRun, IdRunWriter, IS_RUN, type RunContent, runPath, type SegmentIdentity, segmentKey } from './id-run.ts'
import { docOf, ordinalOf, placeOf } from './place.ts'

/** Runs of about one size that become one. */
const MERGED_RUNS = 8
const GONE = -1
/** Entries that are written at once. */
const PIECE_ENTRIES = 32_768

/** Entries between two looks at the time, those that are left out among them. */
const ENTRIES_A_LOOK = 512

/** A run, and where the segment of each slot is now; `GONE`: nowhere. */
interface PlacedRun {
  readonly run: IdRun
  readonly ordinals: Int32Array
}

/** A merged run that is on disk and does not count yet. */
export interface MergedRun {
  readonly run: IdRun
  readonly sources: readonly PlacedRun[]
  /** By slot: the source and its slot there. */
  readonly origins: readonly (readonly [source: PlacedRun, slot: number])[]
}

export class IdRuns {
  readonly #files: IndexFiles
  readonly #dir: string
  #runs: PlacedRun[] = []
  /** Ordinals of the segments whose ids are in runs. */
  readonly #covered = new Set<number>()
  #nextNumber = 1

  constructor(files: IndexFiles, dir: string) {
    this.#files = files
    this.#dir = dir
  }

  /** Opens the runs on disk for the segments that are there, by ordinal. Those that are damaged or of no more use are removed. */
  open(segments: ReadonlyMap<number, SegmentIdentity>): void {
    const ordinalOfSegment = new Map([...segments].map(([ordinal, each]) => [segmentKey(each), ordinal]))
    const numbers = this.#files
      .list(this.#dir)
      .filter(name => IS_RUN.test(name))
      .map(name => Number.parseInt(name, 10))
    const opened = new Map<number, PlacedRun>()
    for (const number of numbers) {
      this.#nextNumber = Math.max(this.#nextNumber, number + 1)
      const file = new SegmentFile(this.#files, runPath(this.#dir, number))
      const run = IdRun.open(number, file)
      if (run === undefined) {
        file.close()
        this.#files.remove(runPath(this.#dir, number))
      } else
        opened.set(number, { run, ordinals: Int32Array.from(run.content.segments, each => ordinalOfSegment.get(segmentKey(each)) ?? GONE) })
    }
    const replaced = new Set([...opened.values()].flatMap(({ run }) => run.content.replaces))
    for (const [number, placed] of opened) {
      if (replaced.has(number) || isEmpty(placed)) this.#remove(placed)
      else this.#add(placed)
    }
  }

  get sizeBytes(): number {
    return this.#runs.reduce((sum, { run }) => sum + run.sizeBytes, 0)
  }

  get memoryBytes(): number {
    return this.#runs.reduce((sum, { run }) => sum + run.memoryBytes, 0)
  }

  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  /** Whether the ids of the segment are in runs. */
  covers(ordinal: number): boolean {
    return this.#covered.has(ordinal)
  }

  /** The segment is gone. */
  forget(ordinal: number): void {
    if (!this.#covered.delete(ordinal)) return
    for (const { ordinals } of this.#runs) {
      // Most runs have the segment once or not at all.
      for (let slot = ordinals.indexOf(ordinal); slot >= 0; slot = ordinals.indexOf(ordinal, slot + 1)) ordinals[slot] = GONE
    }
  }

  /** Whether a document with such an id may be there. `timeMs`: its time, where the id tells it; NaN: not known. */
  mayHold(hash: number, timeMs: number): boolean {
    return this.#runs.some(({ run, ordinals }) => isOfTime(run, timeMs) && run.some(hash, slot => ordinals[slot]! >= 0))
  }

  /** The place that `isIt` confirms; −1 without one. */
  find(hash: number, timeMs: number, isIt: (place: number) => boolean): number {
    let found = -1
    // The newest first: ids that are asked for are mostly young.
    for (let k = this.#runs.length - 1; k >= 0 && found < 0; k--) {
      const { run, ordinals } = this.#runs[k]!
      if (!isOfTime(run, timeMs)) continue
      run.some(hash, (slot, doc) => {
        const ordinal = ordinals[slot]!
        if (ordinal < 0 || !isIt(placeOf(ordinal, doc))) return false
        found = placeOf(ordinal, doc)
        return true
      })
    }
    return found
  }

  /**
   * Writes a run of ids: two words each, hash and place, in the order of the hashes, of which nothing is left afterwards. `ordinals`: of the segments
   * that they lie in, whole. The run counts once `take` is called.
   */
  async write(words: Uint32Array, ordinals: readonly number[], content: RunContent): Promise<IdRun> {
    const slots = new Map(ordinals.map((ordinal, slot) => [ordinal, slot]))
    const turns = new Turns()
    const writer = new IdRunWriter(this.#files, this.#dir, this.#nextNumber++)
    try {
      for (let from = 0; from < words.length; from += 2 * PIECE_ENTRIES) {
        const piece = words.subarray(from, from + 2 * PIECE_ENTRIES)
        for (let at = 1; at < piece.length; at += 2) piece[at] = placeOf(slots.get(ordinalOf(piece[at]!))!, docOf(piece[at]!))
        await writer.append(piece)
        if (turns.isDue()) await turns.next()
      }
      return await writer.finish(content)
    } catch (error) {
      writer.abandon()
      throw error
    }
  }

  /** The run counts from now on. `ordinals`: by slot, where the segments are now. */
  take(run: IdRun, ordinals: readonly number[]): void {
    this.#add({ run, ordinals: Int32Array.from(ordinals) })
  }

  #add(placed: PlacedRun): void {
    this.#runs.push(placed)
    this.#runs.sort((a, b) => a.run.number - b.run.number)
    for (const ordinal of placed.ordinals) if (ordinal >= 0) this.#covered.add(ordinal)
  }

  /** Merges runs of about one size beside the running writes; undefined where there are too few. `finishMerge` must follow. */
  async merge(isLive: (place: number) => boolean): Promise<MergedRun | undefined> {
    const sources = mergeCandidates(this.#runs)
    if (sources.length === 0) return undefined
    const origins = originsOf(sources)
    const segments = origins.map(([{ run }, slot]) => run.content.segments[slot]!)
    const times = sources.map(({ run }) => run.content.times)
    const writer = new IdRunWriter(this.#files, this.#dir, this.#nextNumber++)
    try {
      await mergeEntries(sources, origins, isLive, words => writer.append(words))
      const run = await writer.finish({
        segments,
        times: times.every(each => each !== undefined) ? DocumentTimes.union(times) : undefined,
        replaces: sources.map(({ run }) => run.number),
      })
      return { run, sources, origins }
    } catch (error) {
      writer.abandon()
      throw error
    }
  }

  /** Puts a merged run in the place of its sources. To be called between two commits. */
  finishMerge({ run, sources, origins }: MergedRun): void {
    // Segments that have gone meanwhile are gone in their source.
    const placed = { run, ordinals: Int32Array.from(origins, ([source, slot]) => source.ordinals[slot]!) }
    this.#runs = this.#runs.filter(each => !sources.includes(each))
    this.#add(placed)
    for (const source of sources) this.#remove(source)
    this.#dropEmpty()
  }

  /** Removes runs whose segments are gone. */
  #dropEmpty(): void {
    for (const placed of this.#runs.filter(isEmpty)) {
      this.#runs = this.#runs.filter(each => each !== placed)
      this.#remove(placed)
    }
  }

  #remove({ run }: PlacedRun): void {
    run.close()
    this.#files.remove(runPath(this.#dir, run.number))
  }

  close(): void {
    for (const { run } of this.#runs) run.close()
    this.#runs = []
    this.#covered.clear()
  }
}

const isEmpty = ({ ordinals }: PlacedRun): boolean => ordinals.every(ordinal => ordinal < 0)

const isOfTime = ({ content: { times } }: IdRun, timeMs: number): boolean =>
  times === undefined || Number.isNaN(timeMs) || times.mayHold(timeMs)

/** The oldest runs of the smallest size of which there are enough; empty when there are none. */
function mergeCandidates(runs: readonly PlacedRun[]): readonly PlacedRun[] {
  const sizes = new Map<number, PlacedRun[]>()
  for (const placed of runs) {
    const size = Math.floor(Math.log(Math.max(1, placed.run.count)) / Math.log(MERGED_RUNS))
    sizes.set(size, [...(sizes.get(size) ?? []), placed])
  }
  const [, enough] = [...sizes].sort(([a], [b]) => a - b).find(([, same]) => same.length >= MERGED_RUNS) ?? []
  return enough?.slice(0, MERGED_RUNS) ?? []
}

/** Where each segment is in the sources. Several may have a segment that lost its seal in a crash, and was sealed anew as it was. */
function originsOf(sources: readonly PlacedRun[]): MergedRun['origins'] {
  const slots = sources.flatMap(source => [...source.ordinals].map((ordinal, slot) => ({ ordinal, origin: [source, slot] as const })))
  return [...new Map(slots.filter(({ ordinal }) => ordinal >= 0).map(({ ordinal, origin }) => [ordinal, origin])).values()]
}

/** Entries of one source, the next one at hand. */
class EntryReader {
  readonly #pieces: Generator<Uint32Array, void, undefined>
  #words: Uint32Array = new Uint32Array(0)
  #at = 0

  constructor(run: IdRun) {
    this.#pieces = run.pieces()
    this.next()
  }

  /** Infinity behind the last one. */
  hash = 0
  entry = 0

  next(): void {
    if (this.#at === this.#words.length) {
      const piece = this.#pieces.next()
      if (piece.done === true) {
        this.hash = Number.POSITIVE_INFINITY
        return
      }
      this.#words = piece.value
      this.#at = 0
    }
    this.hash = this.#words[this.#at++]!
    this.entry = this.#words[this.#at++]!
  }
}

async function mergeEntries(
  sources: readonly PlacedRun[],
  origins: MergedRun['origins'],
  isLive: (place: number) => boolean,
  write: (words: Uint32Array) => Promise<void>,
): Promise<void> {
  const turns = new Turns()
  const readers = sources.map(({ run }) => new EntryReader(run))
  const slots = sources.map(({ ordinals }) => new Int32Array(ordinals.length).fill(GONE))
  for (const [to, [source, slot]] of origins.entries()) slots[sources.indexOf(source)]![slot] = to
  const words = new Uint32Array(2 * PIECE_ENTRIES)
  let end = 0
  for (let read = 1; ; read++) {
    let least = 0
    for (let k = 1; k < readers.length; k++) if (readers[k]!.hash < readers[least]!.hash) least = k
    const reader = readers[least]!
    if (reader.hash === Number.POSITIVE_INFINITY) break
    const slot = ordinalOf(reader.entry)
    const to = slots[least]![slot]!
    const ordinal = sources[least]!.ordinals[slot]!
    if (to >= 0 && ordinal >= 0 && isLive(placeOf(ordinal, docOf(reader.entry)))) {
      words[end] = reader.hash
      words[end + 1] = placeOf(to, docOf(reader.entry))
      end += 2
    }
    reader.next()
    if (end === words.length) {
      await write(words)
      end = 0
    }
    if (read % ENTRIES_A_LOOK === 0 && turns.isDue()) await turns.next()
  }
  await write(words.subarray(0, end))
}
