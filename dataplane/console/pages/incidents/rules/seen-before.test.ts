import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Incident } from '../../../../domain/incidents/incident-fields.ts'
import { buildIncident } from '../../../../testing/incident-fixture.ts'
import { findSeenBefore, lastNote } from './seen-before.ts'

const evidence = (...patternIds: readonly string[]) =>
  patternIds.map((patternId, place) => ({ patternId, pattern: patternId, count: 10 - place, score: 0.5, logIds: [], traceIds: [] }))
const opened = (id: string, hour: number, overrides: Partial<Incident> = {}) =>
  buildIncident({ id, createdAt: `2026-01-01T${String(hour).padStart(2, '0')}:00:00.000Z`, evidence: evidence('refused'), ...overrides })

describe('incidents seen before', () => {
  const incident = opened('now', 12, { evidence: evidence('refused', 'started') })
  const idsOf = (...others: readonly Incident[]) => findSeenBefore(incident, others).latest.map(({ id }) => id)

  it('are those of the same main pattern, the newest first', () => {
    expect(idsOf(opened('a', 1), opened('b', 2), opened('c', 3, { evidence: evidence('timeout', 'refused') }))).to.deep.equal([
      'c',
      'b',
      'a',
    ])
  })

  it('are none that share only what the service says beside', () => {
    expect(idsOf(opened('a', 1, { evidence: evidence('timeout', 'started') }), opened('b', 2, { evidence: [] }))).to.deep.equal([])
  })

  it('are neither the incident itself, nor later ones, nor those of another tenant', () => {
    expect(idsOf(incident, opened('later', 13), opened('other', 1, { tenantId: 'other' }))).to.deep.equal([])
  })

  it('are counted beyond those that are shown', () => {
    const { count, latest } = findSeenBefore(
      incident,
      [1, 2, 3, 4, 5].map(hour => opened(`at ${hour}`, hour)),
    )
    expect(count).to.equal(5)
    expect(latest.map(({ id }) => id)).to.deep.equal(['at 5', 'at 4', 'at 3'])
  })
})

describe('the note of an incident', () => {
  const entry = (action: 'created' | 'acknowledged' | 'resolved' | 'commented' | 'dispatch_failed', minute: number, details: string) => ({
    ...{ incident_id: 'i', action, details },
    timestamp: `2026-01-01T03:0${minute}:00Z`,
  })
  const resolved = entry('resolved', 3, 'resolved by ada: restarted the pool')

  it('is that of its resolution, else the last one', () => {
    const later = entry('commented', 4, 'commented by bo: thanks')
    expect(lastNote([resolved, later])).to.deep.equal({ actor: 'ada', note: 'restarted the pool' })
    expect(lastNote([later, entry('acknowledged', 2, 'acknowledged: looking')])).to.deep.equal({ actor: 'bo', note: 'thanks' })
  })

  it('is none where nobody wrote one', () => {
    const machine = [entry('created', 1, 'the first 3 anomalies'), entry('dispatch_failed', 5, 'slack: 404')]
    expect(lastNote([...machine, entry('resolved', 3, 'resolved by ada')])).to.equal(undefined)
  })
})
