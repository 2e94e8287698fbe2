import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TargetRefused, TargetUnreachable } from '../../ports/outbound-http.ts'
import { outcomeOfAnswer, outcomeOfError } from './http-outcome.ts'

const outcomeOf = (status: number, text = '', headers: Readonly<Record<string, string>> = {}) =>
  outcomeOfAnswer('Jira', { status, text, headers, isCut: false }, 0)

describe('what an answer means for the ticket', () => {
  const rejected = { kind: 'rejected' }
  const broken = { kind: 'rejected', isTargetBroken: true }
  const later = { kind: 'retryable' }
  const nobodyKnows = { kind: 'retryable', isAmbiguous: true, isTargetDown: true }
  const cases = [
    { statuses: [400, 405, 409, 413, 415, 422], expected: rejected },
    { statuses: [301, 302, 307, 308, 401, 402, 404, 410], expected: broken },
    { statuses: [403], expected: { ...broken, isForbidden: true } },
    { statuses: [408, 425], expected: later },
    { statuses: [429], expected: { ...later, isTargetDown: true } },
    { statuses: [200, 204, 500, 501, 503, 599], expected: nobodyKnows },
    { statuses: [502, 504], expected: { ...nobodyKnows, isUnanswered: true } },
  ]
  for (const { statuses, expected } of cases)
    for (const status of statuses)
      it(`${status}: ${JSON.stringify(expected)}`, () => {
        const { reason, ...outcome } = outcomeOf(status)
        expect(outcome).to.deep.equal(expected)
        expect(reason).to.match(new RegExp(`^Jira answered ${status}: `))
      })

  it('waits as long as the platform asks for', () => {
    expect(outcomeOf(429, '', { 'retry-after': '7' })).to.include({ afterMs: 7_000 })
    expect(outcomeOf(503, '', { 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' })).to.include({ afterMs: 9_000 })
    expect(outcomeOf(400, '', { 'retry-after': '7' })).to.not.have.property('afterMs')
    expect(outcomeOf(429, '', { 'retry-after': '7' })).to.not.have.property('isTargetDown')
    expect(outcomeOf(429, '', { 'x-ratelimit-period-in-sec': '60' }))
      .to.include({ afterMs: 60_000 })
      .and.not.have.property('isTargetDown')
    expect(outcomeOf(429, '', { 'x-ratelimit-period-in-sec': '60', 'retry-after': '7' })).to.include({ afterMs: 7_000 })
    expect(outcomeOf(503, '', { 'x-ratelimit-period-in-sec': '60' })).to.not.have.property('afterMs')
  })

  it('takes a wait of no time for none: the target rests before it is asked again', () => {
    for (const after of ['0', '-5', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT'])
      expect(outcomeOf(429, '', { 'retry-after': after }), after)
        .to.include({ isTargetDown: true })
        .and.not.have.property('afterMs')
  })

  it('says why in the words of the platform', () => {
    const errors = { errorMessages: [], errors: { summary: 'You must specify a summary of the issue.' } }
    expect(outcomeOf(400, JSON.stringify(errors)).reason).to.equal(
      'Jira answered 400: the request was refused (summary: You must specify a summary of the issue.)',
    )
  })

  it('of no answer at all', () => {
    const refusal = outcomeOfError('Jira', new TargetRefused('10.0.0.1 may not be spoken to'), false)
    expect(refusal).to.include({ kind: 'rejected', isTargetBroken: true })
    const unsent = outcomeOfError('Jira', new TargetUnreachable('no', false), false)
    expect(unsent).to.deep.equal({ kind: 'retryable', reason: 'Jira does not answer: no', isTargetDown: true })
    const sent = outcomeOfError('Jira', new TargetUnreachable('no', true), false)
    expect(sent).to.include({ kind: 'retryable', isAmbiguous: true, isUnanswered: true, isTargetDown: true })
    const stopped = outcomeOfError('Jira', new TargetUnreachable('no', true), true)
    expect(stopped).to.deep.equal({ kind: 'retryable', reason: 'Jira does not answer: no', isAmbiguous: true, isUnanswered: true })
  })
})
