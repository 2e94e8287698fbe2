import { expect } from 'chai'
import { describe, it } from 'mocha'
import { INCIDENT_ACTIONS, INCIDENT_STATUSES, type IncidentAction, type IncidentStatus, transition } from './incident-status.ts'

/** Where each action leads; what is not here is illegal. */
const LEGAL: Record<IncidentAction, Partial<Record<IncidentStatus, IncidentStatus>>> = {
  acknowledge: { open: 'acknowledged' },
  resolve: { open: 'resolved', acknowledged: 'resolved', escalated: 'resolved' },
  escalate: { open: 'escalated', acknowledged: 'escalated' },
  reopen: { acknowledged: 'open', escalated: 'open', resolved: 'open' },
}

describe('incident status', () => {
  for (const action of INCIDENT_ACTIONS)
    for (const status of INCIDENT_STATUSES) {
      const to = LEGAL[action][status]
      it(`${action} from ${status}: ${to ?? 'illegal'}`, () => {
        const outcome = transition(status, action)
        expect(outcome.kind === 'changed' ? outcome.to : undefined).to.equal(to)
      })
    }

  it('sets the time of the change in the action’s field', () => {
    const fields = INCIDENT_ACTIONS.map(action => {
      const outcome = transition(action === 'reopen' ? 'resolved' : 'open', action)
      return outcome.kind === 'changed' && outcome.timeField
    })
    expect(fields).to.deep.equal(['acknowledgedAt', 'resolvedAt', 'escalatedAt', 'reopenedAt'])
  })

  it('says why it is illegal', () => {
    expect(transition('resolved', 'escalate')).to.deep.equal({
      kind: 'illegal',
      reason: 'cannot escalate an incident that is resolved: it must be open or acknowledged',
    })
  })
})
