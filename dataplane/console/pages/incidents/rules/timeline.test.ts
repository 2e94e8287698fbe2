import { expect } from 'chai'
import { describe, it } from 'mocha'
import { auditDetails } from '../../../../domain/incidents/audit-entry.ts'
import type { ShownRow } from '../../../../domain/tickets/ticket-thread.ts'
import { actorOfState, buildTimeline, readDetails } from './timeline.ts'

const INCIDENT = {
  firstSeen: '2026-01-01T03:00:00Z',
  lastSeen: '2026-01-01T03:30:00Z',
  anomalyCount: 12,
  severity: 'high',
  affectedServices: ['checkout', 'payments'],
} as const
const entry = (
  action: 'created' | 'escalated' | 'acknowledged' | 'reopened' | 'commented' | 'dispatch_failed',
  minute: number,
  details: string,
) => ({
  incident_id: 'i',
  action,
  timestamp: `2026-01-01T03:${String(minute).padStart(2, '0')}:00Z`,
  details,
})
const row = (platform: 'slack' | 'jira', event: ShownRow['event'], status: ShownRow['status'] = 'sent'): ShownRow => ({
  ...{ incidentId: 'i', platform, event, status },
  ...{ attempts: 1, nextAttemptAt: null, lastError: null, externalId: null, url: null },
})

describe('the timeline of an incident', () => {
  it('holds anomalies and state changes, the newest first, each with who was told', () => {
    const audit = [
      entry('created', 1, 'the first 3 anomalies of checkout, within 5 minutes'),
      entry('acknowledged', 5, 'acknowledged by ada: looking'),
      entry('reopened', 10, 'reopened'),
      entry('acknowledged', 12, 'acknowledged by bob'),
    ]
    const rows = [
      row('slack', 'open'),
      row('slack', 'acknowledge'),
      row('slack', 'update'),
      row('slack', 'acknowledge', 'pending'),
      row('jira', 'open', 'failed'),
      row('jira', 'acknowledge'),
    ]
    const shown = buildTimeline(INCIDENT, audit, rows).map(({ kind, actor, note, told }) => [
      kind,
      actor,
      note,
      told.map(({ platform, status }) => `${platform} ${status}`).join(),
    ])
    expect(shown).to.deep.equal([
      ['latest-anomaly', undefined, undefined, ''],
      ['acknowledged', 'bob', undefined, 'slack pending'],
      ['reopened', undefined, undefined, ''],
      ['acknowledged', 'ada', 'looking', 'slack sent,jira sent'],
      ['created', undefined, 'the first 3 anomalies of checkout, within 5 minutes', 'slack sent,jira failed'],
      ['first-anomaly', undefined, undefined, ''],
    ])
  })

  it('holds comments, the cause once it is found, and that it grew', () => {
    const candidates = [{ service: 'payments', score: 9, reasons: [] }]
    const incident = {
      ...INCIDENT,
      analysedAt: '2026-01-01T03:02:00Z',
      grewAt: '2026-01-01T03:07:00Z',
      rootCause: { mode: 'rules', fallback: false, summary: '', candidates },
    } as const
    const audit = [entry('created', 1, ''), entry('commented', 5, 'commented by ada: the pool is empty')]
    expect(buildTimeline(incident, audit, []).map(({ title, actor, note }) => [title, actor, note])).to.deep.equal([
      ['Latest anomaly of 12', undefined, undefined],
      ['Grew', undefined, 'high now, 2 services'],
      ['Comment', 'ada', 'the pool is empty'],
      ['Cause found', undefined, 'payments comes first'],
      ['Incident opened', undefined, undefined],
      ['First anomaly', undefined, undefined],
    ])
    const unknown = { ...incident, rootCause: { ...incident.rootCause, candidates: [] } }
    expect(buildTimeline(unknown, [], []).map(({ kind }) => kind)).to.deep.equal(['latest-anomaly', 'grew', 'first-anomaly'])
  })

  it('a platform that an escalation told first stands with the escalation', () => {
    const audit = [entry('created', 1, ''), entry('escalated', 31, 'escalated by auto'), entry('escalated', 41, 'escalated by ada')]
    const rows = [
      ...[row('jira', 'open'), row('jira', 'escalate'), row('jira', 'escalate')],
      ...[row('slack', 'open'), row('slack', 'escalate')],
    ]
    const told = buildTimeline(INCIDENT, audit, rows).flatMap(({ kind, told }) =>
      told.length === 0 ? [] : [`${kind} ${told.map(({ platform }) => platform).join()}`],
    )
    expect(told).to.deep.equal(['escalated jira,slack', 'escalated jira,slack', 'created jira'])
  })

  it('a platform that could not be told stays where it should have been told', () => {
    const audit = [entry('created', 1, ''), entry('escalated', 31, 'escalated by auto')]
    const rows = [row('jira', 'open'), row('jira', 'escalate'), row('slack', 'open', 'failed')]
    const created = buildTimeline(INCIDENT, audit, rows).find(({ kind }) => kind === 'created')
    expect(created?.told.map(({ platform }) => platform)).to.deep.equal(['jira', 'slack'])
  })

  it('one anomaly is not two entries', () => {
    expect(buildTimeline({ ...INCIDENT, lastSeen: INCIDENT.firstSeen }, [], [])).to.have.length(1)
  })

  it('knows who brought the incident into its state, once the trail has it', () => {
    const audit = [
      entry('acknowledged', 5, 'acknowledged by ada'),
      entry('created', 1, ''),
      entry('commented', 9, 'commented by bo: and now?'),
      entry('escalated', 7, 'escalated by cy'),
    ]
    expect(actorOfState('escalated', audit)).to.equal('cy')
    expect(actorOfState('acknowledged', audit)).to.equal(undefined)
    expect(actorOfState('acknowledged', [entry('acknowledged', 5, 'acknowledged')])).to.equal(undefined)
    expect(actorOfState('open', [])).to.equal(undefined)
  })

  it('reads actor and note as the audit trail writes them', () => {
    for (const note of [{}, { actor: 'ada' }, { note: 'a: b' }, { actor: 'ada', note: 'line\nline' }])
      expect(readDetails('resolved', auditDetails('resolve', note))).to.deep.equal(note)
    expect(readDetails('resolved', 'something else')).to.deep.equal({ note: 'something else' })
    expect(readDetails('dispatch_failed', 'slack: 404')).to.deep.equal({ note: 'slack: 404' })
  })
})
