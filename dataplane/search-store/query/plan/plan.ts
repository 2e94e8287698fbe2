/** Answers a condition for one segment from its postings and columns. The rest is left to be checked on the documents. */
import type { Column, Segment, TextShapes } from '../../storage/index-storage.ts'
import { ALL, allOf, anyOf, type Condition, inRange, NONE, type NumberRange, TIMESTAMP } from '../bind/condition.ts'
import { classOf, type Field } from '../bind/field.ts'
import type { Pace } from '../budget/pace.ts'
import { conditionKey } from '../run/condition-key.ts'
import { ALL_DOCS, compact, complement, type DocSet, intersect, isEmpty, NO_DOCS, newBits, setBit, unite, uniteAtLeast } from './doc-set.ts'

import { markDocs } from './mark-docs.ts'
import { scanRange } from './scan-range.ts'
import { type ShapeTest, shapeTest } from './shape-test.ts'

export interface Plan {
  /** Holds every document that fulfils the condition. */
  readonly candidates: DocSet
  /** The condition that a candidate must still fulfil; undefined: all of them match. */
  readonly residual: Condition | undefined
}

const exact = (candidates: DocSet): Plan => ({ candidates, residual: undefined })
const unknown = (condition: Condition): Plan => ({ candidates: ALL_DOCS, residual: condition })

/** Plans at once; `planInTurns` lets other queries run meanwhile. */
export function planSegment(condition: Condition, segment: Segment): Plan {
  const known = lastPlans.get(condition)
  if (known?.segment === segment) return known.plan
  const steps = planSteps(condition, segment)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Plans for the segment that is being searched. Parts of a condition have plans, too, which checking and scoring ask for again. */
const lastPlans = new WeakMap<Condition, { readonly segment: Segment; readonly plan: Plan }>()

/** Undefined when the query's time is over. */
export async function planInTurns(condition: Condition, segment: Segment, pace: Pace): Promise<Plan | undefined> {
  if (pace.isDue() && !(await pace.step())) return undefined
  const steps = planSteps(condition, segment)
  for (;;) {
    const step = pace.run(() => steps.next())
    if (step === undefined) return undefined
    if (step.done === true) return step.value
    if (pace.isDue() && !(await pace.step())) return undefined
  }
}

type Steps = Generator<void, Plan, undefined>

/** Yields after each small piece of work. */
function* planSteps(condition: Condition, segment: Segment): Steps {
  const plan = keptPlan(condition, segment) ?? (yield* stepsOf(condition, segment))
  lastPlans.set(condition, { segment, plan })
  keepPlan(condition, segment, plan)
  return plan
}

/** A page asks several questions about the same matches. Conditions on texts and numbers go over all documents, so that their matches are kept. */
const nameOfKept = (condition: Condition): string | undefined => {
  const { op } = condition
  if (op !== 'phrase' && op !== 'pattern' && (op !== 'range' || condition.field.path === TIMESTAMP)) return undefined
  const key = conditionKey(condition)
  return key && `plan ${key}`
}

function keptPlan(condition: Condition, { kept }: Segment): Plan | undefined {
  const name = kept && nameOfKept(condition)
  return name === undefined ? undefined : kept!.get<Plan>(name)
}

function keepPlan(condition: Condition, { kept, size }: Segment, plan: Plan): void {
  if (kept === undefined || plan.residual !== undefined || plan.candidates.kind === 'all') return
  const name = nameOfKept(condition)
  if (name !== undefined && kept.get(name) === undefined)
    kept.put(name, plan, plan.candidates.kind === 'list' ? 4 * plan.candidates.docs.length : size >>> 3)
}

function* stepsOf(condition: Condition, segment: Segment): Steps {
  switch (condition.op) {
    case 'all':
      return exact(ALL_DOCS)
    case 'none':
      return exact(NO_DOCS)
    case 'scored':
      return yield* planSteps(condition.of, segment)
    case 'and':
      return yield* planAnd(condition.of, segment)
    case 'or':
      return yield* planOr(condition, segment)
    case 'not': {
      const inner = yield* planSteps(condition.of, segment)
      return inner.residual === undefined ? exact(complement(inner.candidates, segment.size)) : unknown(condition)
    }
    case 'terms':
      return yield* planTerms(condition, segment)
    case 'phrase':
      return yield* planPhrase(condition, segment)
    case 'pattern':
      return yield* planPattern(condition, segment)
    case 'range':
      return planRange(condition, segment)
    case 'exists':
      return planExists(condition, segment)
    case 'ids':
      return yield* planIds(condition, segment)
  }
}

function* planAnd(conditions: readonly Condition[], segment: Segment): Steps {
  let candidates: DocSet = ALL_DOCS
  const residuals: Condition[] = []
  for (const condition of conditions.toSorted((a, b) => priority(a) - priority(b))) {
    const plan = yield* planSteps(condition, segment)
    yield
    candidates = intersect(candidates, plan.candidates)
    if (isEmpty(candidates)) return exact(NO_DOCS)
    if (plan.residual !== undefined) residuals.push(plan.residual)
  }
  return { candidates, residual: residuals.length === 0 ? undefined : allOf(residuals) }
}

/** Conditions that can rule out a whole segment come first, the most expensive last. */
function priority(condition: Condition): number {
  switch (condition.op) {
    case 'scored':
      return priority(condition.of)
    case 'range':
      return condition.field.path === TIMESTAMP ? 0 : 2
    case 'terms':
    case 'ids':
      return 1
    default:
      return 3
  }
}

/** Ids that are looked up between two yields. */
const IDS_PER_STEP = 512

function* planIds(condition: Extract<Condition, { op: 'ids' }>, segment: Segment): Steps {
  if (segment.docsOf === undefined) return unknown(condition)
  const ids = [...condition.ids]
  const sets: DocSet[] = []
  for (let at = 0; at < ids.length; at += IDS_PER_STEP) {
    const docs = segment.docsOf(ids.slice(at, at + IDS_PER_STEP))
    if (ids.length <= IDS_PER_STEP) return exact({ kind: 'list', docs })
    sets.push({ kind: 'list', docs })
    yield
  }
  return exact(unite(sets, segment.size))
}

/** From so many clauses on, each keeps its documents in little memory. */
const MANY_CLAUSES = 32

function* planOr(condition: Extract<Condition, { op: 'or' }>, segment: Segment): Steps {
  if (condition.atLeast <= 0) return exact(ALL_DOCS)
  const sets: DocSet[] = []
  let isExact = true
  for (const each of condition.of) {
    const { candidates, residual } = yield* planSteps(each, segment)
    yield
    const kept = condition.of.length > MANY_CLAUSES ? compact(candidates, segment.size) : candidates
    lastPlans.set(each, { segment, plan: { candidates: kept, residual } })
    sets.push(kept)
    isExact &&= residual === undefined
  }
  const candidates = uniteAtLeast(sets, condition.atLeast, segment.size)
  return { candidates, residual: isEmpty(candidates) || isExact ? undefined : condition }
}

/** A flat_object as a whole has no terms of its own. */
function* postingsOf(segment: Segment, field: Field, term: string): Generator<void, DocSet | undefined, undefined> {
  if (classOf(field) === 'flat') return undefined
  if (segment.preparePostings !== undefined) yield* segment.preparePostings(field.path)
  if (segment.postingSet !== undefined) {
    const set = segment.postingSet(field.path, term)
    return set && ('bits' in set ? { kind: 'bits', words: set.bits } : { kind: 'list', docs: set.list })
  }
  const docs = segment.postings(field.path, term)
  return docs && { kind: 'list', docs }
}

function columnOf<K extends Column['kind']>(segment: Segment, field: Field, kind: K): Extract<Column, { kind: K }> | undefined {
  const column = segment.column(field.path)
  return column?.kind === kind ? (column as Extract<Column, { kind: K }>) : undefined
}

/** Terms whose documents are looked up one by one, where the field has a column to be read instead: a look-up reads as much of it. */
const MAX_LOOKED_UP = 2

/** Terms that are looked up between two yields, and whose documents are put together. */
const TERMS_PER_STEP = 64
/** Characters of terms that are tested between two yields, about. */
const LENGTH_PER_STEP = 4_096

function* planTerms(condition: Extract<Condition, { op: 'terms' }>, segment: Segment): Steps {
  const { field, terms } = condition
  if (condition.isExact === true) return planExactTerms(condition, segment)
  if (terms.size > MAX_LOOKED_UP && segment.column(field.path) !== undefined) {
    const plan = yield* planTermsByColumn(condition, segment)
    if (plan.residual === undefined) return plan
  }
  let found: DocSet = NO_DOCS
  let sets: DocSet[] = []
  for (const term of terms) {
    const docs = yield* postingsOf(segment, field, term)
    if (docs === undefined) return yield* planTermsByColumn(condition, segment)
    sets.push(docs)
    if (sets.length < TERMS_PER_STEP) continue
    found = unite([found, ...sets], segment.size)
    sets = []
    yield
  }
  return exact(unite([found, ...sets], segment.size))
}

/** Documents whose values a double cannot tell apart from the terms. */
function planExactTerms(condition: Extract<Condition, { op: 'terms' }>, segment: Segment): Plan {
  const numbers = columnOf(segment, condition.field, 'number')
  if (numbers === undefined) return unknown(condition)
  const wanted = new Set([...condition.terms].map(Number))
  return { candidates: scanNumbers(numbers.values, segment.size, value => wanted.has(value)), residual: condition }
}

function* planTermsByColumn(condition: Extract<Condition, { op: 'terms' }>, segment: Segment): Steps {
  const { field, terms } = condition
  const keywords = columnOf(segment, field, 'keyword')
  if (keywords !== undefined && classOf(field) === 'keyword' && !terms.has(''))
    return exact(yield* scanCodes(keywords, text => terms.has(text)))
  const numbers = columnOf(segment, field, 'number')
  if (numbers === undefined) return unknown(condition)
  const wanted = new Set([...terms].map(term => (term === 'true' ? 1 : term === 'false' ? 0 : Number(term))))
  return exact(scanNumbers(numbers.values, segment.size, value => wanted.has(value)))
}

/** Code 0 is "no value", or an empty one: left to the documents where the test would take it. */
function* scanCodes(column: Extract<Column, { kind: 'keyword' }>, test: (text: string) => boolean): Generator<void, DocSet, undefined> {
  const { codes, dictionary } = column
  const wanted = new Uint8Array(dictionary.length)
  let length = 0
  for (let code = 1; code < dictionary.length; code++) {
    length += dictionary[code]!.length
    if (code % TERMS_PER_STEP === 0 || length > LENGTH_PER_STEP) {
      yield
      length = 0
    }
    if (test(dictionary[code]!)) wanted[code] = 1
  }
  if (!wanted.includes(1)) return NO_DOCS
  const words = newBits(codes.length)
  markDocs(codes, wanted, words)
  return { kind: 'bits', words }
}

function scanNumbers(values: Float64Array, size: number, test: (value: number) => boolean): DocSet {
  const words = newBits(size)
  for (let doc = 0; doc < size; doc++) if (test(values[doc]!)) setBit(words, doc)
  return { kind: 'bits', words }
}

/** Documents with all the words; their order is checked on the text. */
function* planPhrase(condition: Extract<Condition, { op: 'phrase' }>, segment: Segment): Steps {
  const { field, words, slop, lastIsPrefix } = condition
  const whole = lastIsPrefix ? words.length - 1 : words.length
  if (slop === 0)
    for (let at = 1; at < whole; at++) if (segment.mayHoldPair?.(field.path, words[at - 1]!, words[at]!) === false) return exact(NO_DOCS)
  const shaped = planByShapes(condition, segment)
  if (shaped !== undefined && shaped.residual === undefined) return shaped
  let candidates = shaped?.candidates ?? ALL_DOCS
  for (const word of new Set(lastIsPrefix ? words.slice(0, -1) : words)) {
    const docs = yield* postingsOf(segment, field, word)
    if (docs === undefined) continue
    candidates = intersect(candidates, docs)
    if (isEmpty(candidates)) return exact(NO_DOCS)
  }
  return { candidates, residual: condition }
}

function* planPattern(condition: Extract<Condition, { op: 'pattern' }>, segment: Segment): Steps {
  const { field, pattern } = condition
  const column = classOf(field) === 'keyword' ? columnOf(segment, field, 'keyword') : undefined
  if (column === undefined) return planByShapes(condition, segment) ?? unknown(condition)
  if (pattern.test('')) return unknown(condition)
  return exact(yield* scanCodes(column, text => pattern.test(text)))
}

/** From the shapes of the field's texts; undefined where the segment knows none. */
function planByShapes(condition: Extract<Condition, { op: 'phrase' | 'pattern' }>, segment: Segment): Plan | undefined {
  const shapes = segment.textShapes?.(condition.field.path)
  const ask = shapes && shapeTest(condition)
  if (ask === undefined) return undefined
  const { codes } = shapes!
  const verdicts = verdictsOf(shapes!, ask)
  const words = newBits(codes.length)
  const seen = markDocs(codes, verdicts, words)
  if (seen === NO) return exact(NO_DOCS)
  return { candidates: { kind: 'bits', words }, residual: seen > YES ? condition : undefined }
}

function verdictsOf(shapes: TextShapes, ask: ShapeTest): Uint8Array {
  const { texts } = shapes
  const verdicts = new Uint8Array(texts.length).fill(UNSURE, 0, 1)
  for (let code = 1; code < texts.length; code++) {
    const verdict = ask(texts[code]!, shapes)
    if (verdict !== 'no') verdicts[code] = verdict === 'yes' ? YES : UNSURE
  }
  return verdicts
}

const NO = 0
const YES = 1
// Odd, so that its documents are marked, too.
const UNSURE = 3

function planRange(condition: Extract<Condition, { op: 'range' }>, segment: Segment): Plan {
  const { field, range } = condition
  if (condition.exact !== undefined) {
    const values = columnOf(segment, field, 'number')?.values
    return values === undefined ? unknown(condition) : { candidates: scanRange({ values }, segment.size, range), residual: condition }
  }
  if (field.path === TIMESTAMP) {
    if (!overlaps(range, segment)) return exact(NO_DOCS)
    if (covers(range, segment) && isTimed(segment)) return exact(ALL_DOCS)
  }
  const passing = segment.passingNumbers?.(field.path)
  if (passing !== undefined) return exact(scanRange({ values: passing }, segment.size, range))
  const column = columnOf(segment, field, 'number')
  return column === undefined ? unknown(condition) : exact(scanRange(column, segment.size, range))
}

/** NaN bounds: no document has a timestamp. */
function overlaps(range: NumberRange, segment: Segment): boolean {
  return segment.maxTimestampMs >= range.min && segment.minTimestampMs <= range.max
}

/** Whether every document has a timestamp: counts are kept only then. */
export const isTimed = (segment: Segment): boolean => segment.isTimed ?? segment.counts() !== undefined

function covers(range: NumberRange, segment: Segment): boolean {
  return inRange(segment.minTimestampMs, range) && inRange(segment.maxTimestampMs, range)
}

function planExists(condition: Extract<Condition, { op: 'exists' }>, segment: Segment): Plan {
  const { field } = condition
  const numbers = columnOf(segment, field, 'number')
  if (numbers !== undefined) return exact(scanNumbers(numbers.values, segment.size, value => !Number.isNaN(value)))
  return unknown(condition)
}

/**
 * The condition without ranges of time that cover the whole segment, so that counts kept at insert can answer it, and without those that the segment lies
 * outside of. A number that is looked for in all fields is a range of time, too.
 */
export function reduceForSegment(condition: Condition, segment: Segment): Condition {
  if (condition.op === 'or' && condition.atLeast > 0) {
    const possible = condition.of.filter(each => reduceForSegment(each, segment).op !== 'none')
    return possible.length === condition.of.length ? condition : anyOf(possible, condition.score, condition.atLeast)
  }
  if (condition.op === 'and') return allOf(condition.of.map(each => reduceForSegment(each, segment)).filter(each => each.op !== 'all'))
  if (condition.op === 'scored') return reduceForSegment(condition.of, segment)
  if (condition.op !== 'range' || condition.field.path !== TIMESTAMP || condition.exact !== undefined) return condition
  if (!overlaps(condition.range, segment)) return NONE
  return covers(condition.range, segment) && isTimed(segment) ? ALL : condition
}
