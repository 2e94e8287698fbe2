import type { Segment } from '../../storage/index-storage.ts'
import type { Condition } from '../bind/condition.ts'
import { holds, quickToAsk } from './doc-set.ts'
import { planSegment } from './plan.ts'
import { verifier } from './verifier.ts'

type Scorer = (doc: number) => number

/** Scores documents that match, without parsing them where postings, columns and bytes suffice. */
export function planScore(condition: Condition, segment: Segment): Scorer {
  switch (condition.op) {
    case 'none':
    case 'not':
      return () => 0
    case 'and':
      return sumOf(condition.of.map(each => planScore(each, segment)))
    case 'or':
      return planOr(condition, segment)
    case 'scored': {
      const { factor } = condition
      if (condition.constant) return () => factor
      const inner = planScore(condition.of, segment)
      return doc => factor * inner(doc)
    }
    default:
      return () => 1
  }
}

const sumOf =
  (parts: readonly Scorer[]): Scorer =>
  doc =>
    parts.reduce((sum, part) => sum + part(doc), 0)

function planOr(condition: Extract<Condition, { op: 'or' }>, segment: Segment): Scorer {
  const parts = condition.of.map((each): Scorer => {
    const { candidates, residual } = planSegment(each, segment)
    const score = planScore(each, segment)
    const held = quickToAsk(candidates, segment.size)
    if (residual === undefined) return doc => (holds(held, doc) ? score(doc) : 0)
    const verify = verifier(residual, segment)
    return doc => (holds(held, doc) && verify(doc) ? score(doc) : 0)
  })
  if (condition.score === 'sum') return sumOf(parts)
  return doc => parts.reduce((best, part) => Math.max(best, part(doc)), 0)
}
