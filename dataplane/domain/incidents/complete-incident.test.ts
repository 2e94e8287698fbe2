import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildIncident } from '../../testing/incident-fixture.ts'
import { completeIncident } from './complete-incident.ts'
import type { StoredIncident } from './stored-incident.ts'

const PLACE = { id: 'i', tenant: 'acme' }

/** All fields that the product writes. */
const WHOLE: Required<Omit<StoredIncident, 'dispatches'>> = {
  ...buildIncident({ id: 'i', tenantId: 'acme', platforms: ['slack'], traceId: 'a'.repeat(32), recurring: true, furtherServices: 2 }),
  evidence: [{ patternId: 'p', pattern: 'no <*>', count: 3, score: 0.5, logIds: ['l'], traceIds: ['t'] }],
  acknowledgedAt: '2026-01-01T00:01:00.000Z',
  resolvedAt: '2026-01-01T00:02:00.000Z',
  escalatedAt: '2026-01-01T00:03:00.000Z',
  escalatedTo: ['slack'],
  reopenedAt: '2026-01-01T00:04:00.000Z',
  traceId: '',
  furtherServices: 0,
  recurring: false,
  rootCause: {
    mode: 'llm',
    fallback: true,
    summary: 'The disk is full.',
    candidates: [
      {
        service: 'payment',
        score: 2,
        reasons: [{ kind: 'errors', text: 'Errors.', patternId: 'p', count: 3, expected: 0, logIds: ['l'], traceIds: [] }],
      },
    ],
    model: { provider: 'openai', name: 'm', promptVersion: '1', inputTokens: 1, outputTokens: 2, latencyMs: 3 },
  },
  lastChange: { incident_id: 'i', action: 'created', timestamp: '2026-01-01T00:00:00.000Z', details: '' },
  ticketing: {
    takenAt: '2026-01-01T00:00:02.000Z',
    claimedUntil: '2026-01-01T00:00:32.000Z',
    claimedBy: 'standalone',
    attentionAt: '2026-01-01T00:05:00.000Z',
    dispatchedAt: '2026-01-01T00:00:02.000Z',
    quietBy: 'age',
    seq: 1,
    owed: [
      {
        seq: 1,
        event: 'open',
        at: '2026-01-01T00:00:02.000Z',
        targets: ['slack'],
        except: 'jira',
        severity: 'high',
        change: { at: '2026-01-01T00:00:02.000Z', actor: 'ada' },
        news: ['Severity rose.'],
        quiet: 'too old',
      },
    ],
    told: { severity: 'high', services: ['checkout'] },
    grewAt: '2026-01-01T00:00:02.000Z',
    analysed: { severity: 'high', services: ['checkout'], at: '2026-01-01T00:00:02.000Z', windowMs: 5, hasFailed: true, failures: 1 },
    explainedAt: '2026-01-01T00:00:02.000Z',
  },
}

describe('an incident from a stored document', () => {
  it('is the document as it is where all fields are right', () => {
    expect(completeIncident(WHOLE, PLACE)).to.deep.equal(WHOLE)
    expect(completeIncident(buildIncident({ id: 'i' }), PLACE)).to.deep.equal(buildIncident({ id: 'i' }))
  })

  it('keeps fields of other versions', () =>
    expect(completeIncident({ ...WHOLE, shift: 'night' }, PLACE)).to.deep.equal({ ...WHOLE, shift: 'night' }))

  it('has all that readers rely on where nothing is stored', () => {
    for (const document of [{}, null, 'text', []])
      expect(completeIncident(document, PLACE)).to.deep.equal({
        id: 'i',
        tenantId: 'acme',
        title: 'unknown_service: anomalous log records',
        severity: 'medium',
        status: 'open',
        service: 'unknown_service',
        anomalyScore: 0,
        anomalyCount: 0,
        affectedServices: ['unknown_service'],
        createdAt: '1970-01-01T00:00:00.000Z',
        updatedAt: '1970-01-01T00:00:00.000Z',
        firstSeen: '1970-01-01T00:00:00.000Z',
        lastSeen: '1970-01-01T00:00:00.000Z',
        platforms: [],
        evidence: [],
      })
  })

  it('takes times from each other, and numbers for times', () => {
    const { createdAt, updatedAt, firstSeen, lastSeen } = completeIncident({ createdAt: 1_000, lastSeen: 'noon' }, PLACE)
    expect([createdAt, updatedAt, firstSeen, lastSeen]).to.deep.equal(new Array(4).fill('1970-01-01T00:00:01.000Z'))
  })

  it('copies no part that is sound: a page of 1,000 incidents would be copied piece by piece', () => {
    const stored = structuredClone(WHOLE) as { evidence: unknown; rootCause: unknown; ticketing: unknown; affectedServices: unknown }
    const { evidence, rootCause, ticketing, affectedServices } = completeIncident(stored, PLACE)
    expect(evidence).to.equal(stored.evidence)
    expect(rootCause).to.equal(stored.rootCause)
    expect(ticketing).to.equal(stored.ticketing)
    expect(affectedServices).to.equal(stored.affectedServices)
  })

  const values = [null, 0, 7, '', 'text', true, [], [null], [7], {}, { a: null }]
  const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value)
  /** Where `actual` holds a value of another kind than `expected` does in that place. */
  const misfits = (actual: unknown, expected: unknown, path: string): readonly string[] => {
    if (actual === undefined) return []
    if (kindOf(actual) !== kindOf(expected) || actual === null) return [path]
    if (Array.isArray(actual)) return actual.flatMap((each, i) => misfits(each, (expected as unknown[])[0], `${path}[${i}]`))
    if (typeof actual !== 'object') return []
    return Object.entries(actual as object).flatMap(([key, value]) =>
      key in (expected as object) ? misfits(value, (expected as Record<string, unknown>)[key], `${path}.${key}`) : [],
    )
  }
  /** Each path of an object, lists by their first entry. */
  const paths = (value: unknown): readonly (readonly (string | number)[])[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) => [[key], ...paths(inner).map(rest => [key, ...rest])])
  const withValue = (value: unknown, [key, ...rest]: readonly (string | number)[], put: unknown): unknown => {
    if (key === undefined) return put
    const copy: Record<string | number, unknown> = Array.isArray(value) ? ([...value] as never) : { ...(value as object) }
    copy[key] = withValue(copy[key], rest, put)
    return copy
  }
  /** Read by nobody but people. */
  const free = new Set(['ticketing.owed.0.change.at', 'ticketing.owed.0.change.actor'])
  for (const path of paths(WHOLE).filter(each => !free.has(each.join('.'))))
    it(`holds nothing of another kind where ${path.join('.')} does`, () => {
      for (const put of values) expect(misfits(completeIncident(withValue(WHOLE, path, put), PLACE), WHOLE, '')).to.deep.equal([])
    })
})
