import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { IncidentDispatch } from '../../../../domain/incidents/incident-fields.ts'
import type { ShownRow } from '../../../../domain/tickets/ticket-thread.ts'
import { safeUrl, ticketStates } from './ticket-state.ts'

describe('the tickets of an incident', () => {
  it('those that failed come first and can be tried again', () => {
    const states = ticketStates(
      {
        platforms: ['slack', 'jira', 'email'],
        dispatches: {
          slack: { status: 'sent', attempts: 1, externalId: 'm1', url: 'https://slack.example/m1' },
          jira: { status: 'failed', attempts: 3, lastError: '401 Unauthorized' },
          opsgenie: { status: 'suppressed', attempts: 0, lastError: 'silenced: maintenance' },
          pagerduty: { status: 'pending', attempts: 2, lastError: '503' },
        },
      },
      [],
    )
    expect(states).to.deep.equal([
      { target: 'jira', status: 'failed', canRetry: true, label: 'Not told', detail: '401 Unauthorized (3 attempts)' },
      { target: 'email', status: 'pending', canRetry: false, label: 'Waiting' },
      { target: 'pagerduty', status: 'pending', canRetry: true, label: 'Trying again', detail: '503 (2 attempts)' },
      { target: 'opsgenie', status: 'suppressed', canRetry: false, label: 'Held back', detail: 'silenced: maintenance' },
      { target: 'slack', status: 'sent', canRetry: false, label: 'Told', externalId: 'm1', url: 'https://slack.example/m1' },
    ])
  })

  it('can be tried again wherever that is taken: what waits for a target that rests, what was passed over, what had no target', () => {
    const canRetry = (dispatch: object, ...events: readonly string[]) => {
      const rows = events.map(text => {
        const [event, status] = text.split(' ')
        return { platform: 'jira', event, status } as ShownRow
      })
      const dispatches = { jira: { status: 'sent', attempts: 1, ...dispatch } as IncidentDispatch }
      return ticketStates({ platforms: ['jira'], dispatches }, rows)[0]!.canRetry
    }
    const waiting = { status: 'pending', attempts: 0 }
    expect(canRetry({ ...waiting, lastError: 'waits: 503' }, 'open pending')).to.equal(true)
    expect(canRetry(waiting, 'open pending')).to.equal(false)
    expect(canRetry({}, 'open sent', 'comment failed', 'acknowledge sent')).to.equal(true)
    expect(canRetry({ status: 'suppressed' }, 'open sent', 'update failed', 'comment suppressed')).to.equal(true)
    expect(canRetry({}, 'open sent', 'comment failed', 'resolve sent'), 'a resolved ticket is told no more').to.equal(false)
    expect(canRetry({}, 'open sent', 'acknowledge failed', 'escalate sent'), 'overtaken').to.equal(false)
    for (const [lastError, expected] of [
      ['jira is switched off', true],
      ['jira is no longer configured', true],
      ['silenced: maintenance', false],
    ] as const)
      expect(canRetry({ status: 'suppressed', lastError }, 'open suppressed'), lastError).to.equal(expected)
  })

  it('an address that a browser should not follow is no link', () => {
    const addresses = ['javascript:alert(1)', 'data:text/html,x', '/browse/1', '', null, undefined]
    expect(addresses.map(safeUrl)).to.deep.equal(addresses.map(() => undefined))
    expect(safeUrl('https://jira.example/browse/OPS-1')).to.equal('https://jira.example/browse/OPS-1')
  })
})
