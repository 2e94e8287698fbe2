import { isStackFrame } from '../records/stack-frame.ts'
import type { Evidence } from './incident-fields.ts'

/** Evidence in the order in which people read it: the most frequent first. Lines of a stack trace come last, however many: they say nothing alone (Decisions 6). */
export function inReadingOrder(evidence: readonly Evidence[]): readonly Evidence[] {
  return evidence
    .map(each => ({ each, isFrame: isStackFrame(each.pattern) }))
    .sort((a, b) => Number(a.isFrame) - Number(b.isFrame) || b.each.count - a.each.count || b.each.score - a.each.score)
    .map(({ each }) => each)
}
