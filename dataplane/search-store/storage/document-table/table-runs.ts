/**
 * The documents of a table in runs, in the order in which they were last written. A run knows the values of its fields as columns: a query over 100,000 documents
 * does not parse them, and a change costs the queries after it one document.
 */
import { parseWritten } from '../../json/exact-numbers.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import type { Segment } from '../index-storage.ts'
import { RunColumns } from './run-columns.ts'
import type { Entry } from './stage.ts'

/** Documents of a run; the columns of one are made within a turn of a query. */
const RUN_DOCS = 512
/** Parsed documents are kept while the table is no larger than this, bytes: they take some four times as much. */
const MAX_PARSED_BYTES = 4 * 1024 * 1024
/** How many numbers of runs that are gone may lie between two that become one. */
const MAX_GAP = 64
/** Memory of a document beside its bytes; of its columns; and of its parsed form, as a multiple of its bytes. */
const ROW_BYTES = 250
const COLUMNS_BYTES = 300
const PARSED_TIMES = 4

const decoder = new TextDecoder()

/** Documents of a table by id. A snapshot's segments do not change with later writes. */
export class TableRuns {
  /** By number, ascending. */
  readonly #runs = new Map<number, Run>()
  /** By id the number of the run, times `RUN_DOCS`, and the document within it. */
  readonly #places = new Map<string, number>()
  #last: Run | undefined
  #numbers = 0
  #sourceBytes = 0
  #segments: readonly Segment[] | undefined
  #mapping: IndexMapping | undefined
  #generation = -1

  get memoryBytes(): number {
    const parsed = this.#sourceBytes <= MAX_PARSED_BYTES ? PARSED_TIMES * this.#sourceBytes : 0
    return this.#places.size * (ROW_BYTES + COLUMNS_BYTES) + this.#sourceBytes + parsed
  }

  get(id: string): Entry | undefined {
    const place = this.#places.get(id)
    return place === undefined ? undefined : this.#runs.get(Math.floor(place / RUN_DOCS))!.entries[place % RUN_DOCS]
  }

  set(entry: Entry): void {
    this.delete(entry.id)
    this.#append(entry)
    this.#sourceBytes += entry.source.length
  }

  delete(id: string): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    const run = this.#runs.get(Math.floor(place / RUN_DOCS))!
    const doc = place % RUN_DOCS
    this.#sourceBytes -= run.entries[doc]!.source.length
    run.kill(doc)
    this.#places.delete(id)
    this.#segments = undefined
    if (run !== this.#last && run.isMostlyDead) this.#shrink(run)
  }

  /** `generation` tells whether the mapping has changed; absent: it never does. */
  segments(mapping: IndexMapping, generation = 0): readonly Segment[] {
    if (mapping !== this.#mapping || generation !== this.#generation) {
      for (const run of this.#runs.values()) run.forgetColumns()
      this.#mapping = mapping
      this.#generation = generation
      this.#segments = undefined
    }
    const keepsParsed = this.#sourceBytes <= MAX_PARSED_BYTES
    this.#segments ??= [...this.#runs.values()].filter(run => run.liveCount > 0).map(run => run.segment(mapping, keepsParsed))
    return this.#segments
  }

  #append(entry: Entry): void {
    if (this.#last === undefined || this.#last.entries.length === RUN_DOCS) {
      const full = this.#last
      this.#last = new Run(this.#numbers++)
      this.#runs.set(this.#last.number, this.#last)
      if (full?.isMostlyDead === true) this.#shrink(full)
    }
    this.#places.set(entry.id, this.#last.number * RUN_DOCS + this.#last.append(entry))
    this.#segments = undefined
  }

  /** Takes the dead out of a run and the one behind it, which become one where they fit: there are never many more runs than the documents fill. */
  #shrink(run: Run): void {
    const entries = run.live()
    const next = this.#next(run)
    const fits = next !== undefined && next !== this.#last && entries.length + next.liveCount <= RUN_DOCS
    if (fits) {
      entries.push(...next.live())
      this.#runs.delete(next.number)
    }
    const shrunk = new Run(run.number)
    // A key that is set again keeps its place.
    if (entries.length === 0) this.#runs.delete(run.number)
    else this.#runs.set(run.number, shrunk)
    for (const entry of entries) this.#places.set(entry.id, run.number * RUN_DOCS + shrunk.append(entry))
  }

  #next({ number }: Run): Run | undefined {
    for (let at = number + 1; at <= number + MAX_GAP; at++) {
      const run = this.#runs.get(at)
      if (run !== undefined) return run
    }
    return undefined
  }
}

class Run {
  readonly number: number
  readonly entries: Entry[] = []
  /** By document 1 where it was deleted or written anew. A segment that has been given out keeps its own. */
  #dead: Uint8Array | undefined
  #deadCount = 0
  #isDeadShared = false
  #columns: RunColumns | undefined
  #segment: Segment | undefined

  constructor(number: number) {
    this.number = number
  }

  get liveCount(): number {
    return this.entries.length - this.#deadCount
  }

  get isMostlyDead(): boolean {
    return this.#deadCount > this.liveCount
  }

  live(): Entry[] {
    return this.entries.filter((_, doc) => this.#dead?.[doc] !== 1)
  }

  append(entry: Entry): number {
    this.#segment = undefined
    return this.entries.push(entry) - 1
  }

  kill(doc: number): void {
    if (this.#dead === undefined || this.#isDeadShared) this.#dead = this.#dead?.slice() ?? new Uint8Array(RUN_DOCS)
    this.#isDeadShared = false
    this.#dead[doc] = 1
    this.#deadCount++
    this.#segment = undefined
  }

  forgetColumns(): void {
    this.#columns = undefined
    this.#segment = undefined
  }

  segment(mapping: IndexMapping, keepsParsed: boolean): Segment {
    if (this.#segment !== undefined && (this.#segment.parsed !== undefined) === keepsParsed) return this.#segment
    this.#columns ??= new RunColumns(this.entries, RUN_DOCS, mapping)
    this.#isDeadShared = true
    this.#segment = runSegment({ entries: this.entries, dead: this.#dead, liveCount: this.liveCount, columns: this.#columns, keepsParsed })
    return this.#segment
  }
}

interface RunContent {
  readonly entries: readonly Entry[]
  readonly dead: Uint8Array | undefined
  readonly liveCount: number
  readonly columns: RunColumns
  readonly keepsParsed: boolean
}

/** The documents that the run has now. */
function runSegment({ entries, dead, liveCount, columns, keepsParsed }: RunContent): Segment {
  const size = entries.length
  let places: ReadonlyMap<string, number> | undefined
  let parsed: unknown[] | undefined
  return {
    ...{ size, liveCount },
    minTimestampMs: Number.NEGATIVE_INFINITY,
    maxTimestampMs: Number.POSITIVE_INFINITY,
    isLive: doc => dead?.[doc] !== 1,
    postings: () => undefined,
    column: field => columns.column(field, size),
    counts: () => undefined,
    id: doc => entries[doc]!.id,
    docsOf(ids) {
      places ??= new Map(entries.slice(0, size).map(({ id }, doc) => [id, doc]))
      return Uint32Array.from([...ids].flatMap(id => places!.get(id) ?? [])).sort()
    },
    seqNo: doc => entries[doc]!.seqNo,
    version: doc => entries[doc]!.version,
    source: doc => entries[doc]!.source,
    ...(keepsParsed && {
      parsed(doc: number) {
        parsed ??= []
        parsed[doc] ??= parseWritten(decoder.decode(entries[doc]!.source))
        return parsed[doc]
      },
    }),
  }
}
