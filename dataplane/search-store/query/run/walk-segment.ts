/** Finds the matches of one segment and reads from their documents what columns do not hold. */
import type { KeywordReader, MatchView, NumberReader } from '../../aggregate/match-view.ts'
import type { Column, Segment } from '../../storage/index-storage.ts'
import { bindQuery } from '../bind/bind.ts'
import type { Condition } from '../bind/condition.ts'
import { classOf, eachKeyword, eachNumber, type Field, findField } from '../bind/field.ts'
import type { Pace } from '../budget/pace.ts'
import type { QueryMemory } from '../budget/query-memory.ts'
import type { Query } from '../parse/query.ts'
import { holds, listDocs, newBits, setBit } from '../plan/doc-set.ts'
import { type Plan, planInTurns, planSegment } from '../plan/plan.ts'
import { planScore } from '../plan/plan-score.ts'
import { verifier } from '../plan/verifier.ts'
import { keptMatches } from './kept-matches.ts'
import { constantScore } from './matches.ts'
import { readDocument, type SegmentUnit } from './segment-unit.ts'

/** The fields that the aggregations of a search read. */
export interface ViewNeeds {
  readonly fields: readonly string[]
  readonly filters: readonly Query[]
  readonly nowMs: number
  /** Charged for values that are read from documents. */
  readonly memory?: QueryMemory
}

/** Candidates that are not deleted. */
export function liveDocs(plan: Plan, segment: Segment, room?: Uint32Array): Uint32Array {
  const docs = listDocs(plan.candidates, segment.size, room)
  return segment.liveCount === segment.size ? docs : docs.filter(doc => segment.isLive(doc))
}

/** Memory of a list and of a text beside their content, bytes, about. */
const LIST_BYTES = 48
const STRING_BYTES = 24

/** Takes the values of one field, or one filter's verdicts, from documents as they are read. */
type Extractor = (place: number, doc: number, source: () => unknown) => void

/** All matches of a segment, with everything that `needs` names; undefined when the query's time is over. The view's documents may be written into `room`. */
export async function walkSegment(unit: SegmentUnit, needs: ViewNeeds, pace: Pace, room?: Uint32Array): Promise<SegmentView | undefined> {
  const { segment, bound } = unit
  const plan = await planMatches(unit, pace)
  if (plan === undefined) return undefined
  const docs = liveDocs(plan, segment, room)
  const view = new SegmentView(unit, docs.length)
  if (docs.length === 0) return view
  const filters = new Map<Query, Condition>()
  for (const query of needs.filters) {
    const condition = bindQuery(query, { index: bound.index, mapping: bound.mapping, nowMs: needs.nowMs })
    if ((await planInTurns(condition, segment, pace)) === undefined) return undefined
    filters.set(query, condition)
  }
  const extractors = view.prepare(needs, filters)
  if (plan.residual === undefined && extractors.length === 0) {
    view.docs = docs
    return view
  }
  const verify = plan.residual === undefined ? undefined : verifier(plan.residual, segment)
  const matched = new Uint32Array(docs.length)
  let count = 0
  const take = (doc: number): boolean => {
    if (verify !== undefined && !verify(doc)) return true
    if (extractors.length > 0) {
      let parsed: unknown
      const source = (): unknown => {
        parsed ??= readDocument(segment, doc)
        return parsed
      }
      for (const extract of extractors) extract(count, doc, source)
    }
    matched[count++] = doc
    return true
  }
  for (let at = 0; at < docs.length; at++) {
    if (pace.isDueSoon() && !(await pace.step())) return undefined
    if (pace.run(() => take(docs[at]!)) === undefined) return undefined
  }
  view.docs = matched.subarray(0, count)
  if (verify !== undefined) keptMatches(unit)?.put(view.docs)
  return view
}

/** The unit's matches, where they were found before; else a plan to find them. Undefined when the query's time is over. */
export async function planMatches(unit: SegmentUnit, pace: Pace): Promise<Plan | undefined> {
  const candidates = keptMatches(unit)?.find()
  return candidates === undefined ? planInTurns(unit.bound.condition, unit.segment, pace) : { candidates, residual: undefined }
}

export class SegmentView implements MatchView {
  readonly weights = undefined
  docs: Uint32Array = new Uint32Array(0)
  readonly #unit: SegmentUnit
  readonly #capacity: number
  readonly #fields = new Map<string, Field | undefined>()
  readonly #values = new Map<string, readonly unknown[][]>()
  readonly #filters = new Map<Query, (place: number) => boolean>()
  #score: ((doc: number) => number) | undefined

  constructor(unit: SegmentUnit, capacity: number) {
    this.#unit = unit
    this.#capacity = capacity
  }

  get size(): number {
    return this.docs.length
  }

  get documents(): NonNullable<MatchView['documents']> {
    return { unit: this.#unit, docs: this.docs, score: doc => this.scoreOf(doc) }
  }

  /** Extractors for the needs that columns and postings do not answer: they read documents. */
  prepare({ fields, memory }: ViewNeeds, filters: ReadonlyMap<Query, Condition>): readonly Extractor[] {
    const fromFields = fields.flatMap(path => this.#prepareField(path, memory))
    const fromFilters = [...filters].flatMap(([query, condition]) => this.#prepareFilter(query, condition))
    return [...fromFields, ...fromFilters]
  }

  field(path: string): Field | undefined {
    if (!this.#fields.has(path)) this.#fields.set(path, findField(this.#unit.bound.mapping, path))
    return this.#fields.get(path)
  }

  numbers(field: Field): NumberReader {
    const column = this.#unit.segment.column(field.path)
    if (column?.kind === 'number') return numberColumnReader(column, () => this.docs)
    const values = this.#values.get(field.path) as readonly number[][]
    return { single: undefined, each: (place, visit) => values[place]!.forEach(visit) }
  }

  keywords(field: Field): KeywordReader {
    const column = this.#unit.segment.column(field.path)
    if (column?.kind === 'keyword') return keywordColumnReader(column, () => this.docs)
    const values = this.#values.get(field.path) as readonly string[][]
    return { coded: undefined, each: (place, visit) => values[place]!.forEach(visit) }
  }

  filter(query: Query): (place: number) => boolean {
    const test = this.#filters.get(query)
    if (test === undefined) throw new Error('a filter was asked for that the search did not prepare')
    return test
  }

  scoreOf(doc: number): number {
    this.#score ??= scorerOf(this.#unit)
    return this.#score(doc)
  }

  #prepareField(path: string, memory: QueryMemory | undefined): readonly Extractor[] {
    const field = this.field(path)
    if (field === undefined || this.#values.has(field.path)) return []
    const fieldClass = classOf(field)
    if (fieldClass === 'text' || fieldClass === 'object') return []
    const isKeyword = fieldClass === 'keyword' || fieldClass === 'flat'
    if (this.#unit.segment.column(field.path)?.kind === (isKeyword ? 'keyword' : 'number')) return []
    const values: unknown[][] = []
    this.#values.set(field.path, values)
    return [
      (place, _doc, source) => {
        const own: unknown[] = []
        let bytes = LIST_BYTES
        if (isKeyword)
          eachKeyword(field, source(), value => {
            bytes += STRING_BYTES + value.length
            own.push(value)
          })
        else eachNumber(field, source(), value => own.push(value))
        memory?.charge(bytes + 8 * own.length, `fewer aggregations, or documents with fewer values of [${path}]`)
        values[place] = own
      },
    ]
  }

  #prepareFilter(query: Query, condition: Condition): readonly Extractor[] {
    if (this.#filters.has(query)) return []
    const { segment } = this.#unit
    const { candidates, residual } = planSegment(condition, segment)
    if (residual === undefined) {
      this.#filters.set(query, place => holds(candidates, this.docs[place]!))
      return []
    }
    const verdicts = newBits(this.#capacity)
    this.#filters.set(query, place => (verdicts[place >>> 5]! & (1 << (place & 31))) !== 0)
    const verify = verifier(residual, segment)
    return [
      (place, doc) => {
        if (holds(candidates, doc) && verify(doc)) setBit(verdicts, place)
      },
    ]
  }
}

/** Scores of documents that match. */
export function scorerOf({ segment, bound }: SegmentUnit): (doc: number) => number {
  const constant = constantScore(bound.condition)
  return constant === undefined ? planScore(bound.condition, segment) : () => constant
}

function numberColumnReader(column: Extract<Column, { kind: 'number' }>, docsOf: () => Uint32Array): NumberReader {
  const { values } = column
  const docs = docsOf()
  return {
    single: place => values[docs[place]!]!,
    each: (place, visit) => {
      const value = values[docs[place]!]!
      if (!Number.isNaN(value)) visit(value)
    },
  }
}

function keywordColumnReader(column: Extract<Column, { kind: 'keyword' }>, docsOf: () => Uint32Array): KeywordReader {
  const { codes, dictionary } = column
  const docs = docsOf()
  return {
    coded: { dictionary, code: place => codes[docs[place]!]! },
    each: (place, visit) => {
      const code = codes[docs[place]!]!
      if (code !== 0) visit(dictionary[code]!)
    },
  }
}
