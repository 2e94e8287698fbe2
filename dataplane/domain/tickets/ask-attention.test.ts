import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildIncident } from '../../testing/incident-fixture.ts'
import { askAttention } from './ask-attention.ts'
import type { TicketedIncident } from './incident-tickets.ts'

const NOW = '2026-01-01T00:05:00.000Z'
const BEFORE: TicketedIncident = { ...buildIncident(), ticketing: { takenAt: '2026-01-01T00:00:00.000Z' } }

describe('an incident that takes in more anomalies', () => {
  const cases: readonly [string, Partial<TicketedIncident>, boolean][] = [
    ['a rise in severity', { severity: 'critical' }, true],
    ['a new affected service', { affectedServices: ['checkout', 'payment', 'cart'] }, true],
    ['recurring no longer', { recurring: false }, true],
    ['mere counts', { anomalyCount: 500, updatedAt: NOW }, false],
  ]
  for (const [says, change, asks] of cases)
    it(`${says}: ${asks ? 'the agent looks at it' : 'it does not'}`, () => {
      const { ticketing } = askAttention({ ...BEFORE, recurring: true }, { ...BEFORE, recurring: true, ...change }, NOW)
      expect(ticketing).to.deep.equal({ ...BEFORE.ticketing, ...(asks && { attentionAt: NOW }) })
    })

  it('one that the agent has not seen stays as it is', () => {
    const { ticketing: _t, ...unseen } = BEFORE
    expect(askAttention<TicketedIncident>(unseen, { ...unseen, severity: 'critical' }, NOW)).not.to.have.property('ticketing')
  })
})
