import { expect } from 'chai'
import { describe, it } from 'mocha'
import { auditDetails, auditEntryId, buildAuditEntry } from './audit-entry.ts'
import { INCIDENT_ACTIONS } from './incident-status.ts'

describe('audit entry', () => {
  it('action: created, acknowledged, escalated, resolved; reopen actions are also logged', () => {
    const actions = (['create', ...INCIDENT_ACTIONS] as const).map(action => buildAuditEntry('i', action, 't', '').action)
    expect(actions).to.deep.equal(['created', 'acknowledged', 'resolved', 'escalated', 'reopened'])
  })

  it('actor and note are kept in details', () => {
    expect(auditDetails('resolve', { actor: 'ann', note: 'disk replaced' })).to.equal('resolved by ann: disk replaced')
    expect(auditDetails('acknowledge', {})).to.equal('acknowledged')
    expect(auditDetails('reopen', { actor: '', note: '' })).to.equal('reopened')
  })

  it('comments of the same moment are entries of their own', () => {
    expect(auditDetails('comment', { actor: 'ann', note: 'the pool is empty' })).to.equal('commented by ann: the pool is empty')
    const entries = ['a', 'b', 'b'].map(note =>
      buildAuditEntry('i', 'comment', '2026-11-21T00:00:00.000Z', auditDetails('comment', { note })),
    )
    expect(new Set(entries.map(auditEntryId)).size).to.equal(2)
  })

  it('has an id of its own: the same entry the same, another another', () => {
    const entry = buildAuditEntry('i', 'create', '2026-11-21T00:00:00.000Z', 'x')
    expect(auditEntryId(entry)).to.equal(auditEntryId({ ...entry, details: 'y' }))
    expect(auditEntryId(entry)).not.to.equal(auditEntryId({ ...entry, action: 'resolved' }))
  })
})
