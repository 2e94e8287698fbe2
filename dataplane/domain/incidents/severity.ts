import type { Severity } from '../../contract/platforms.ts'
import { EMIT_THRESHOLD } from '../anomalies/scoring.ts'

/** The facts on which the severity of a group of anomalies depends. */
export interface ClassifiedGroup {
  /** Services affected, at least 1. */
  readonly services: number
  readonly hasFatal: boolean
  /** The group's highest rule score. */
  readonly score: number
}

/** Severity classification, first match wins (Spec: Severity classification by the ticketing agent; Decisions 6). */
const RULES: readonly { readonly severity: Severity; readonly applies: (group: ClassifiedGroup) => boolean }[] = [
  { severity: 'critical', applies: ({ services, hasFatal }) => services >= 3 || hasFatal },
  { severity: 'high', applies: ({ services, score }) => services >= 2 || score > 0.7 },
  { severity: 'low', applies: ({ score }) => score < EMIT_THRESHOLD },
]

export function classify(group: ClassifiedGroup): Severity {
  return RULES.find(({ applies }) => applies(group))?.severity ?? 'medium'
}

const RANK: Readonly<Record<Severity, number>> = { low: 0, medium: 1, high: 2, critical: 3 }

/** Negative when `a` is less severe than `b`, 0 when they are equal. */
export function compareSeverity(a: Severity, b: Severity): number {
  return RANK[a] - RANK[b]
}

export function moreSevere(a: Severity, b: Severity): Severity {
  return compareSeverity(a, b) >= 0 ? a : b
}
