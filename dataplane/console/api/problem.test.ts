import { expect } from 'chai'
import { describe, it } from 'mocha'
import { describeFailure, errorOfBody, problemOf, RequestProblem } from './problem.ts'

describe('what is said of a failed request', () => {
  it('names the service that is away, and where to look', () => {
    expect(
      describeFailure('/api/search/_search', { kind: 'status', status: 502, error: 'the search store cannot be reached' }),
    ).to.deep.equal({
      message: 'The search store cannot be reached.',
      status: 502,
      whatToDo: 'See on Health whether the search store runs; try again once it does.',
    })
  })

  it('names the store where API keys cannot be read: it keeps them', () => {
    const failure = { kind: 'status', status: 502, error: 'the search store cannot be reached' } as const
    expect(describeFailure('/api/admin/api-keys', failure).whatToDo).to.contain('whether the search store runs')
  })

  it('says what to do where there was no answer', () => {
    expect(describeFailure('/api/search/x', { kind: 'network' }).message).to.equal('The dashboard does not answer.')
    expect(describeFailure('/api/ticketing/x', { kind: 'timeout' }).message).to.equal('The ticketing agent did not answer in time.')
  })

  it('does not say of a change without an answer that it was not made, nor that a narrower search would help', () => {
    const advice = (path: string, isChange: boolean) =>
      (['network', 'timeout'] as const).map(kind => describeFailure(path, { kind, isChange }).whatToDo)
    for (const text of advice('/api/admin/api-keys', true)) expect(text).to.contain('it may have been done all the same')
    for (const text of advice('/api/ticketing/x', false)) expect(text).to.not.match(/narrower|all the same/)
    expect(advice('/api/search/x', false)[1]).to.contain('narrower search')
  })

  it('takes the message from the answer, ours or OpenSearch’s', () => {
    expect(errorOfBody({ error: 'name: expected text', status: 400 })).to.equal('name: expected text')
    expect(errorOfBody({ error: { root_cause: [{ reason: 'unknown field' }], reason: 'all shards failed' } })).to.equal('unknown field')
    expect(['', null, 5, {}, { error: 5 }, { error: null }].map(errorOfBody)).to.deep.equal(['', '', '', '', '', ''])
  })

  it('names the characters of an answer that are not seen', () => {
    const error = 'unknown field pay\u202etnem'
    expect(describeFailure('/api/search/x', { kind: 'status', status: 400, error }).message).to.equal('Unknown field pay[U+202E]tnem.')
    expect(problemOf(new Error('a\u200bb')).message).to.equal('A[U+200B]b.')
  })

  it('covers what was thrown without a request', () => {
    const problem = new RequestProblem({ message: 'Gone.', status: 404, whatToDo: 'Reload.' })
    expect(problemOf(problem)).to.equal(problem)
    expect(problemOf(new TypeError('x is undefined')).message).to.equal('X is undefined.')
    expect(problemOf(undefined).message).to.equal('Undefined.')
  })
})
