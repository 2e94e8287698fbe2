import { expect } from 'chai'
import { describe, it } from 'mocha'
import { answerText } from './answer-text.ts'

describe('what a platform says of a failure', () => {
  const cases = [
    {
      of: 'PagerDuty, JSON',
      text: '{"status":"invalid event","message":"Event object is invalid","errors":["Length of \'routing_key\' is incorrect"]}',
      says: "Event object is invalid; Length of 'routing_key' is incorrect",
    },
    { of: 'PagerDuty, plain', text: 'Invalid routing key', says: 'Invalid routing key' },
    { of: 'Jira', text: '{"errorMessages":["No project"],"errors":{"priority":"is invalid"}}', says: 'No project; priority: is invalid' },
    {
      of: 'ServiceNow',
      text: '{"error":{"message":"Invalid","detail":"No such field"},"status":"failure"}',
      says: 'Invalid; No such field',
    },
    {
      of: 'a proxy',
      text: '<html><head><title>502 Bad Gateway</title></head><body>x</body></html>',
      says: 'a page of HTML with the title “502 Bad Gateway”',
    },
    { of: 'a page without a title', text: '<!doctype html><html><body>Hi</body></html>', says: 'a page of HTML' },
    { of: 'Slack', text: 'invalid_blocks', says: 'invalid_blocks' },
    { of: 'other JSON', text: '{"odd":1}', says: '{"odd":1}' },
    { of: 'nobody', text: '', says: '' },
    { of: 'a terminal', text: 'a\u001b[31mb\u0000\nc', says: 'ab c' },
  ]
  for (const { of, text, says } of cases) it(`${of}: ${says}`, () => expect(answerText({ text })).to.equal(says))

  it('is found at once, however the page is written', () => {
    const startMs = performance.now()
    expect(answerText({ text: `<html>${'<title'.repeat(43_000)}` })).to.equal('a page of HTML')
    expect(performance.now() - startMs).to.be.below(1_000)
  })

  it('is one line of at most 300 characters', () => expect([...answerText({ text: '日'.repeat(1_000) })]).to.have.length(300))
})
