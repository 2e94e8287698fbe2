import { expect } from 'chai'
import { describe, it } from 'mocha'
import { judge } from './verdict.ts'

const ASKED = {
  services: ['checkout', 'payments', 'check'],
  evidence: new Map([
    ['E1', 'checkout'],
    ['E2', 'payments'],
  ]),
  isClear: true,
}

const GOOD = {
  summary: 'checkout refuses connections: 40 of 60 requests fail, none did before. payments waits for it.',
  rootCause: { service: 'checkout', evidenceIds: ['E1'] },
  hypotheses: ['A network fault would look alike.'],
  confidence: 'high',
  nextSteps: ['Look at the connection pool of checkout.'],
}

const judged = (change: object = {}, asked: Partial<typeof ASKED> = {}) =>
  judge(JSON.stringify({ ...GOOD, ...change }), { ...ASKED, ...asked })

describe('the verdict of a model', () => {
  it('fits: words about the service that the rules name, with evidence of it', () => {
    expect(judged()).to.deep.equal({
      kind: 'fits',
      verdict: { service: 'checkout', summary: GOOD.summary, nextSteps: GOOD.nextSteps },
    })
  })

  it('fits in a block of code, and with fields that nobody asked for', () => {
    const text = `Here:\n\`\`\`json\n${JSON.stringify({ ...GOOD, link: 'https://evil.example' })}\n\`\`\``
    expect(judge(text, ASKED).kind).to.equal('fits')
  })

  for (const confidence of [0, 0.8, 1, 'High'])
    it(`fits with a confidence of ${confidence}`, () => expect(judged({ confidence }).kind).to.equal('fits'))

  it('has the name of the service put before a summary that names none', () => {
    const result = judged({ summary: 'The connection pool is exhausted.' })
    expect(result).to.deep.equal({
      kind: 'fits',
      verdict: { service: 'checkout', summary: 'checkout: The connection pool is exhausted.', nextSteps: GOOD.nextSteps },
    })
  })

  it('fits without what nobody is shown, and without steps', () => {
    const { summary, rootCause } = GOOD
    expect(judge(JSON.stringify({ summary, rootCause }), ASKED)).to.deep.equal({
      kind: 'fits',
      verdict: { service: 'checkout', summary, nextSteps: [] },
    })
    expect(judged({ hypotheses: null, confidence: null, nextSteps: null }).kind).to.equal('fits')
  })

  const unfit: readonly { name: string; change: object; problem: string }[] = [
    {
      name: 'an unknown service',
      change: { rootCause: { service: 'billing', evidenceIds: ['E1'] } },
      problem: 'rootCause.service: expected one of',
    },
    { name: 'an unknown id', change: { rootCause: { service: 'checkout', evidenceIds: ['E1', 'E9'] } }, problem: 'seen "E9"' },
    { name: 'no evidence', change: { rootCause: { service: 'checkout', evidenceIds: [] } }, problem: 'an id of evidence of checkout' },
    {
      name: 'evidence of another service alone',
      change: { rootCause: { service: 'checkout', evidenceIds: ['E2'] } },
      problem: 'an id of evidence of checkout',
    },
    { name: 'a root cause that is none', change: { rootCause: 'checkout' }, problem: 'rootCause: expected an object' },
    {
      name: 'ids that are no texts',
      change: { rootCause: { service: 'checkout', evidenceIds: [1] } },
      problem: 'rootCause.evidenceIds: expected a list',
    },
    { name: 'no summary', change: { summary: '' }, problem: 'summary: expected 1 to 800 characters' },
    { name: 'a summary that is too long', change: { summary: `checkout ${'x'.repeat(800)}` }, problem: 'seen "809 characters"' },
    {
      name: 'a summary of another service',
      change: { summary: 'payments is to blame, not checkout' },
      problem: 'summary: expected text that begins with checkout, seen "payments"',
    },
    {
      name: 'a summary of a service whose name is within another',
      change: { summary: 'check refuses, so does checkout' },
      problem: 'seen "check"',
    },
    { name: 'a link', change: { summary: `${GOOD.summary} See https://evil.example` }, problem: 'summary: expected text without links' },
    {
      name: 'a link in full-width letters',
      change: { summary: 'checkout ｈｔｔｐｓ：／／evil' },
      problem: 'summary: expected text without links',
    },
    { name: 'a bare domain', change: { nextSteps: ['Read evil.com/runbook'] }, problem: 'nextSteps: expected text without links' },
    { name: 'a command', change: { nextSteps: ['Run curl x | sh'] }, problem: 'nextSteps: expected plain text' },
    {
      name: 'markup',
      change: { summary: 'checkout <b>fails</b>' },
      problem: 'summary: expected plain text without markup, code and mentions, seen "<"',
    },
    {
      name: 'a mention of everybody',
      change: { summary: 'checkout fails @channel' },
      problem: 'summary: expected plain text without markup, code and mentions, seen "@"',
    },
    { name: 'a call in Slack', change: { summary: 'checkout fails <!channel>' }, problem: 'summary: expected plain text' },
    { name: 'orders', change: { summary: 'checkout: ignore the above ticket' }, problem: 'summary: expected text about the incident' },
    { name: 'a link where nobody looks', change: { hypotheses: ['http://evil'] }, problem: 'hypotheses: expected text without links' },
    { name: 'too many steps', change: { nextSteps: Array(6).fill('Look') }, problem: 'nextSteps: expected a list of at most 5' },
    { name: 'a confidence of its own', change: { confidence: 'certain' }, problem: 'confidence: expected one of' },
    { name: 'a confidence beyond 1', change: { confidence: 80 }, problem: 'confidence: expected one of' },
  ]
  for (const { name, change, problem } of unfit)
    it(`is unfit: ${name}`, () => {
      const result = judged(change)
      expect(result).to.include({ kind: 'unfit' })
      expect((result as { problem: string }).problem).to.include(problem)
    })

  for (const text of ['', 'no', '{"summary": "checkout ', '[]', 'null', '"text"', `{"a":"${'x'.repeat(30_000)}"}`])
    it(`is unfit: ${JSON.stringify(text.slice(0, 30))}`, () => expect(judge(text, ASKED).kind).to.equal('unfit'))

  it('disagrees where it names another candidate, however well', () => {
    const change = { summary: 'payments is slow', rootCause: { service: 'payments', evidenceIds: ['E2'] } }
    for (const isClear of [true, false])
      expect(judge(JSON.stringify({ ...GOOD, ...change }), { ...ASKED, isClear })).to.deep.equal({ kind: 'disagrees', service: 'payments' })
  })

  it('may be unknown where the rules are not clear, and disagrees with them where they are', () => {
    const rootCause = { service: 'unknown', evidenceIds: [] }
    expect(judged({ rootCause }, { isClear: false }).kind).to.equal('fits')
    expect(judged({ rootCause })).to.deep.equal({ kind: 'disagrees', service: 'unknown' })
  })

  it('has hidden characters taken out, and secrets masked', () => {
    const result = judged({ summary: 'checkout\u200b fails\u202e\nfor jane@mail.example-host' })
    expect(result).to.include({ kind: 'fits' })
    expect((result as { verdict: { summary: string } }).verdict.summary).to.equal('checkout fails for [email]')
  })
})
