/** Checks candidates of a plan on their documents. */
import type { Segment } from '../../storage/index-storage.ts'
import type { MemberPick } from '../../storage/member-pick.ts'
import type { Condition } from '../bind/condition.ts'
import { matches } from '../run/matches.ts'
import { readDocument, readExactDocument } from '../run/segment-unit.ts'
import { memberPick } from '../show/member-pick.ts'
import { holds, quickToAsk } from './doc-set.ts'
import { planSegment } from './plan.ts'
import { type RawDocument, rawTest } from './raw-verdict.ts'

type DocTest = (doc: number) => boolean

/** Checks on a candidate what its plan left open; looks at the bytes first, parses only where these do not settle it. */
export function verifier(residual: Condition, segment: Segment): DocTest {
  const document = new SegmentDocument(segment)
  const test = testOf(residual, segment, document)
  return doc => {
    document.moveTo(doc)
    return test(doc)
  }
}

function testOf(condition: Condition, segment: Segment, document: SegmentDocument): DocTest {
  const planned = (each: Condition) => plannedTest(each, segment, document)
  switch (condition.op) {
    case 'scored':
      return testOf(condition.of, segment, document)
    case 'not': {
      const inner = planned(condition.of)
      return doc => !inner(doc)
    }
    case 'and': {
      const tests = condition.of.map(each => testOf(each, segment, document))
      return doc => tests.every(test => test(doc))
    }
    case 'or':
      return someOf(condition.of.map(planned), condition.atLeast)
    default:
      return leafTest(condition, segment, document)
  }
}

/** The test of a part that was not planned on its own: postings and columns may rule the document out or in. */
function plannedTest(condition: Condition, segment: Segment, document: SegmentDocument): DocTest {
  const { candidates, residual } = planSegment(condition, segment)
  const held = quickToAsk(candidates, segment.size)
  if (residual === undefined) return doc => holds(held, doc)
  const test = testOf(residual, segment, document)
  return doc => holds(held, doc) && test(doc)
}

function someOf(tests: readonly DocTest[], atLeast: number): DocTest {
  return doc => {
    let left = atLeast
    for (const test of tests) {
      if (left <= 0) return true
      if (test(doc)) left--
    }
    return left <= 0
  }
}

function leafTest(condition: Condition, segment: Segment, document: SegmentDocument): DocTest {
  const raw = segment.parsed === undefined ? rawTest(condition) : undefined
  return doc => {
    const verdict = raw === undefined ? 'unsure' : raw(document)
    return verdict === 'unsure'
      ? matches(condition, { id: segment.id(doc), source: document.parsed(), exact: () => document.exact() })
      : verdict === 'yes'
  }
}

/** One document of a segment after the other. */
class SegmentDocument implements RawDocument {
  readonly #segment: Segment
  #doc = 0
  #parsed: unknown
  #bare: Uint8Array | undefined
  /** By member. */
  readonly #picks = new Map<string, MemberPick>()
  /** The member alone, until the segment is asked for something else. */
  #picked: { readonly member: string; readonly source: Uint8Array } | undefined

  constructor(segment: Segment) {
    this.#segment = segment
  }

  moveTo(doc: number): void {
    this.#doc = doc
    this.#parsed = undefined
    this.#bare = undefined
    this.#picked = undefined
  }

  source(): Uint8Array {
    this.#picked = undefined
    return this.#segment.source(this.#doc)
  }

  sourceOf(member: string): Uint8Array {
    if (this.#picked?.member === member) return this.#picked.source
    const picked = this.#segment.pick?.(this.#doc, this.#pickOf(member))
    this.#picked = picked && { member, source: picked }
    if (picked !== undefined) return picked
    const { bareMember } = this.#segment
    if (bareMember === undefined || bareMember === member) return this.source()
    this.#bare ??= this.#segment.bareSource!(this.#doc)
    return this.#bare
  }

  #pickOf(member: string): MemberPick {
    let pick = this.#picks.get(member)
    if (pick === undefined) {
      pick = memberPick([member])
      this.#picks.set(member, pick)
    }
    return pick
  }

  text(member: string): Uint8Array | undefined {
    return this.#segment.text?.(member, this.#doc)
  }

  exact(): unknown {
    this.#picked = undefined
    return readExactDocument(this.#segment, this.#doc)
  }

  parsed(): unknown {
    this.#picked = undefined
    this.#parsed ??= readDocument(this.#segment, this.#doc)
    return this.#parsed
  }
}
