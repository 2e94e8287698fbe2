import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { IncidentDispatch } from '../../../../domain/incidents/incident-fields.ts'
import type { ShownRow } from '../../../../domain/tickets/ticket-thread.ts'
import { safeUrl, sayTold, ticketStates } from './ticket-state.ts'

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

  it('say what people should know: why one waits and until when, what a ticket lacks, what was not told before the rest', () => {
    const shown = (dispatch: object, ...rows: readonly object[]) => {
      const dispatches = { jira: { status: 'sent', attempts: 1, ...dispatch } as IncidentDispatch }
      const all = rows.map(row => ({ platform: 'jira', lastError: null, nextAttemptAt: null, ...row }) as ShownRow)
      const { detail, nextAttemptAt } = ticketStates({ platforms: ['jira'], dispatches }, all)[0]!
      return { detail, nextAttemptAt }
    }
    const open = { event: 'open', status: 'sent', lastError: 'without a priority' }
    const at = '2026-11-29T10:00:00.000Z'
    const waiting = { event: 'open', status: 'pending', nextAttemptAt: at }
    expect(shown({ status: 'pending', attempts: 0, lastError: 'waits: 401' }, waiting)).to.deep.equal({
      detail: 'waits: 401',
      nextAttemptAt: at,
    })
    expect(shown({ status: 'pending', attempts: 1, lastError: '429' }, waiting)).to.deep.equal({
      detail: '429 (1 attempt)',
      nextAttemptAt: at,
    })
    expect(shown({ status: 'pending', attempts: 0 }, waiting)).to.deep.equal({ detail: undefined, nextAttemptAt: undefined })
    expect(shown({}, open)).to.deep.equal({ detail: 'without a priority', nextAttemptAt: undefined })
    expect(shown({}, open, { event: 'comment', status: 'sent' }).detail, 'of the newest').to.equal(undefined)
    const passedOver = { event: 'update', status: 'suppressed', lastError: 'it goes out with a later update' }
    expect(shown({}, open, passedOver).detail).to.equal('without a priority')
    const failed = { event: 'comment', status: 'failed', lastError: '400: too long' }
    const acknowledge = { event: 'acknowledge', status: 'sent' }
    expect(shown({}, open, failed, acknowledge).detail).to.equal('comment was not told: 400: too long')
    expect(shown({}, open, failed, { event: 'resolve', status: 'sent' }).detail, 'overtaken').to.equal(undefined)
  })

  it('say in a few words who has been told', () => {
    const told = (statuses: Readonly<Record<string, IncidentDispatch['status']>>, untold?: string) =>
      sayTold({
        platforms: [],
        dispatches: Object.fromEntries(Object.entries(statuses).map(([target, status]) => [target, { status, attempts: 1 }])),
        ...(untold !== undefined && { untold }),
      })
    expect(told({ 'slack:shop': 'sent', jira: 'failed', pagerduty: 'sent' })).to.equal('PagerDuty, Slack · shop')
    expect(told({ jira: 'failed', slack: 'pending' })).to.equal('nobody yet')
    expect(told({ jira: 'failed', slack: 'suppressed' })).to.equal('nobody')
    expect(told({}, 'nothing is routed for severity high')).to.equal('nobody')
    expect(told({})).to.equal(undefined)
    const jira = { status: 'failed', attempts: 3, externalId: 'OPS-1' } as const
    expect(sayTold({ platforms: [], dispatches: { jira } }), 'a comment failed').to.equal('Jira')
  })

  it('an address that a browser should not follow is no link', () => {
    const addresses = ['javascript:alert(1)', 'data:text/html,x', '/browse/1', '', null, undefined]
    expect(addresses.map(safeUrl)).to.deep.equal(addresses.map(() => undefined))
    expect(safeUrl('https://jira.example/browse/OPS-1')).to.equal('https://jira.example/browse/OPS-1')
  })
})
