/** An incident whose cause the rules have found, for suites of language models. */
import type { Incident } from '../domain/incidents/incident-fields.ts'
import type { Reason, RootCause } from '../domain/root-cause/root-cause.ts'
import { buildIncident } from './incident-fixture.ts'

export function buildReason(overrides: Partial<Reason> = {}): Reason {
  return {
    kind: 'errors',
    text: '40 of 60 requests end with “Connection refused to <*>” (0 expected); first at 23:59:02 UTC',
    patternId: 'p1',
    count: 40,
    expected: 0,
    logIds: ['l1'],
    traceIds: ['t1'],
    ...overrides,
  }
}

/** `score` is that of the first candidate: from 1 on the rules are clear. */
export function buildRules({ score = 3, reasons = [buildReason()] }: { score?: number; reasons?: readonly Reason[] } = {}): RootCause {
  return {
    mode: 'rules',
    fallback: false,
    summary: 'Most likely checkout: 40 of 60 requests fail. Next: payments.',
    candidates: [
      { service: 'checkout', score, reasons },
      {
        service: 'payments',
        score: score / 2,
        reasons: [buildReason({ kind: 'delay', text: 'answers take 480 ms instead of 12', patternId: 'p2' })],
      },
    ],
  }
}

export function buildExplainedIncident(overrides: Partial<Incident> = {}): Incident {
  return buildIncident({
    evidence: [{ patternId: 'p1', pattern: 'Connection refused to <*>', count: 40, score: 0.8, logIds: ['l2'], traceIds: [] }],
    rootCause: buildRules(),
    ...overrides,
  })
}
