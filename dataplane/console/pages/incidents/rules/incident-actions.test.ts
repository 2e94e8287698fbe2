import { expect } from 'chai'
import { describe, it } from 'mocha'
import { INCIDENT_ACTIONS, INCIDENT_STATUSES } from '../../../../domain/incidents/incident-status.ts'
import {
  ACTION_WORDS,
  allowedActions,
  allowedForMany,
  describeBatch,
  describeChange,
  explainRefusal,
  foreseeChange,
  likeliestAction,
} from './incident-actions.ts'

describe('actions on incidents', () => {
  it('a state offers what the ticketing agent allows, the likeliest first', () => {
    const offered = Object.fromEntries(INCIDENT_STATUSES.map(status => [status, allowedActions(status)]))
    expect(offered).to.deep.equal({
      open: ['acknowledge', 'resolve', 'escalate'],
      acknowledged: ['resolve', 'escalate', 'reopen'],
      escalated: ['resolve', 'reopen'],
      resolved: ['reopen'],
    })
    expect(INCIDENT_STATUSES.map(likeliestAction)).to.deep.equal(['acknowledge', 'resolve', 'resolve', 'reopen'])
  })

  it('of several incidents it says how many an action is for', () => {
    expect(allowedForMany(['open', 'open', 'resolved'])).to.deep.equal([
      { action: 'acknowledge', count: 2 },
      { action: 'resolve', count: 2 },
      { action: 'escalate', count: 2 },
      { action: 'reopen', count: 1 },
    ])
    expect(allowedForMany([])).to.deep.equal([])
  })

  it('a and r are keys', () => {
    expect(INCIDENT_ACTIONS.map(action => ACTION_WORDS[action].key)).to.deep.equal(['a', 'r', 'e', 'o'])
  })

  it('an incident is shown as it will be; one that may not be changed as it is', () => {
    const open = { id: 'i', status: 'open', updatedAt: '1' } as const
    expect(foreseeChange(open, 'acknowledge', '2')).to.deep.equal({ id: 'i', status: 'acknowledged', updatedAt: '2', acknowledgedAt: '2' })
    expect(foreseeChange(open, 'reopen', '2')).to.equal(open)
  })

  const refusals = [
    [
      409,
      'incident i1: cannot acknowledge an incident that is resolved: it must be open',
      'changed meanwhile: cannot acknowledge an incident that is resolved',
    ],
    [401, 'a user name and a password are needed', 'Log in in another tab'],
    [404, 'no incident', 'no longer there'],
    [403, 'x', 'another tenant'],
    [undefined, 'fetch failed', 'no answer'],
    [503, 'the search store cannot be reached', 'cannot do it at present (503: the search store cannot be reached)'],
    [400, 'note: too long', 'note: too long'],
  ] as const
  for (const [status, message, expected] of refusals)
    it(`says why it was refused with ${status}`, () => {
      const { title, text } = explainRefusal('acknowledge', { status, message })
      expect(title).to.equal('Not acknowledged')
      expect(text).to.contain(expected).and.not.contain('i1')
    })

  it('an escalation says who is told', () => {
    expect(describeChange('resolve', {})).to.equal('Incident resolved')
    expect(describeChange('escalate', { escalatedTo: ['slack', 'jira'] })).to.equal('Incident escalated: slack, jira are told')
    expect(describeChange('escalate', { escalatedTo: [] })).to.contain('nobody was told')
  })

  it('a batch tells what it did and why it left some out', () => {
    const skipped = [{ reason: 'it is resolved' }, { reason: 'unknown incident' }, { reason: 'it is resolved' }]
    expect(describeBatch('acknowledge', { updated: 1, skipped })).to.deep.equal({
      text: '1 incident acknowledged, 3 left as they are',
      reasons: ['2 × it is resolved', '1 × unknown incident'],
    })
    expect(describeBatch('resolve', { updated: 4, skipped: [] }).text).to.equal('4 incidents resolved')
  })
})
