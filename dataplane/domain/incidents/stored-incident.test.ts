import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildIncident } from '../../testing/incident-fixture.ts'
import { toIncident } from './stored-incident.ts'

describe('an incident as callers see it', () => {
  it('does not show what is kept for the audit trail', () => {
    const lastChange = { incident_id: 'i', action: 'resolved', timestamp: '2026-01-01T00:00:00.000Z', details: 'resolved' } as const
    expect(toIncident({ ...buildIncident(), lastChange })).not.to.have.property('lastChange')
  })

  it('tells when its cause was found, and when it grew last', () => {
    const at = '2026-01-01T00:01:00.000Z'
    const analysed = { at, severity: 'high', services: ['checkout'], windowMs: 60_000 } as const
    const shown = toIncident({ ...buildIncident(), ticketing: { analysed, grewAt: at } })
    expect(shown).to.include({ analysedAt: at, grewAt: at }).and.to.not.have.property('ticketing')
    for (const ticketing of [{}, { analysed: { ...analysed, hasFailed: true } }])
      expect(toIncident({ ...buildIncident(), ticketing })).to.not.have.any.keys('analysedAt', 'grewAt')
  })

  it('tells why nobody was told of it, while it has no platforms', () => {
    const ticketing = { untold: 'jira is switched off' }
    expect(toIncident({ ...buildIncident({ platforms: [] }), ticketing })).to.include(ticketing)
    expect(toIncident({ ...buildIncident({ platforms: ['jira'] }), ticketing })).to.not.have.property('untold')
  })

  it('always has a traceId: that of its first anomaly with one, else the empty string', () => {
    expect(toIncident(buildIncident()).traceId).to.equal('')
    expect(toIncident(buildIncident({ traceId: 'a'.repeat(32) })).traceId).to.equal('a'.repeat(32))
  })
})
