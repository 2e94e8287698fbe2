import type { Segment } from '../storage/index-storage.ts'
import type { Condition } from './condition.ts'
import { holds, quickToAsk } from './doc-set.ts'
import { planSegment } from './plan.ts'
import { rawTest } from './raw-verdict.ts'
import { verifier } from './verifier.ts'

/** Scores documents that match, without parsing them; undefined where that cannot be told from postings, columns and bytes. */
export function planScore(condition: Condition, segment: Segment): ((doc: number) => number) | undefined {
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
      return inner === undefined ? undefined : doc => factor * inner(doc)
    }
    default:
      return () => 1
  }
}

type Scorer = (doc: number) => number

function sumOf(parts: readonly (Scorer | undefined)[]): Scorer | undefined {
  if (!parts.every(part => part !== undefined)) return undefined
  return doc => parts.reduce((sum, part) => sum + part(doc), 0)
}

function planOr(condition: Extract<Condition, { op: 'or' }>, segment: Segment): Scorer | undefined {
  const parts: Scorer[] = []
  for (const each of condition.of) {
    const plan = planSegment(each, segment)
    const score = planScore(each, segment)
    const verify = plan.residual === undefined ? () => true : quickVerifier(plan.residual, segment)
    if (verify === undefined || score === undefined) return undefined
    const held = quickToAsk(plan.candidates, segment.size)
    parts.push(doc => (holds(held, doc) && verify(doc) ? score(doc) : 0))
  }
  if (condition.score === 'sum') return sumOf(parts)
  return doc => parts.reduce((best, part) => Math.max(best, part(doc)), 0)
}

/** Undefined where each document would have to be parsed anyway. */
const quickVerifier = (residual: Condition, segment: Segment) =>
  segment.parsed === undefined && rawTest(residual) !== undefined ? verifier(residual, segment) : undefined
