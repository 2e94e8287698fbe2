import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildIncident } from '../../../../testing/incident-fixture.ts'
import { describeIncident, nextStep } from './what-happened.ts'

const evidence = (pattern: string, count: number) => ({ patternId: pattern, pattern, count, score: 0.5, logIds: [], traceIds: [] })
const cause = (...candidates: readonly (readonly [service: string, score: number])[]) => ({
  ...({ mode: 'rules', fallback: false, summary: '' } as const),
  candidates: candidates.map(([service, score]) => ({ service, score, reasons: [] })),
})
const LAST = '2026-01-01T00:00:00.000Z'
const NOW = Date.parse(LAST) + 60_000

describe('what happened', () => {
  it('is said in one sentence', () => {
    const incident = buildIncident({
      anomalyCount: 12,
      affectedServices: ['checkout', 'payment', 'cart'],
      evidence: [evidence('rare', 1), evidence('connection refused\n to <*>', 11)],
    })
    expect(describeIncident(incident)).to.equal(
      'checkout logged 12 anomalies, most often “connection refused to <*>”; payment and cart are affected, too.',
    )
    const lines = [evidence('\tat shop.Cart.total(Cart.java:<*>)', 40), evidence('<*> ERROR [main] shop.Cart - no cart', 4)]
    expect(describeIncident({ ...incident, evidence: lines })).to.contain('most often “no cart”')
    const traceback = evidence('Traceback (most recent call last):\n  File <*>, line <*>, in run\n    charge()\nPaymentError: declined', 4)
    expect(describeIncident({ ...incident, evidence: [traceback] })).to.contain('most often “PaymentError: declined”')
    const alone = { ...incident, anomalyCount: 1, affectedServices: ['checkout'], evidence: [evidence('boom', 1)] }
    expect(describeIncident(alone)).to.equal('checkout logged one anomaly: “boom”.')
    const each = { ...alone, anomalyCount: 2, evidence: [evidence('boom', 1), evidence('bang', 1)] }
    expect(describeIncident(each)).to.equal('checkout logged 2 anomalies, among them “boom”.')
    const many = { ...incident, affectedServices: ['checkout', 'a', 'b', 'c', 'd', 'e'], evidence: [] }
    expect(describeIncident(many)).to.equal('checkout logged 12 anomalies; a, b, c and 2 more are affected, too.')
    const long = { ...alone, service: 'x'.repeat(300), affectedServices: ['y'.repeat(300)] }
    expect(describeIncident(long)).to.equal(`${'x'.repeat(79)}… logged one anomaly: “boom”; ${'y'.repeat(79)}… is affected, too.`)
    expect(nextStep({ ...long, lastSeen: LAST }, NOW).text).to.contain(`Read what ${'x'.repeat(79)}… logged`)
    const storm = { ...many, furtherServices: 700 }
    expect(describeIncident(storm)).to.equal('checkout logged 12 anomalies; a, b, c and 702 more are affected, too.')
  })
})

describe('what to do next', () => {
  const failed = { jira: { status: 'failed', attempts: 3 } } as const
  const cases = [
    [
      'an open one is acknowledged, and its first cause looked at',
      { rootCause: cause(['db', 9], ['cart', 1]) },
      /^Acknowledge it.*Look at db first; checkout only shows it\.$/,
      true,
    ],
    ['two causes that are close are both named', { rootCause: cause(['db', 9], ['cart', 5]) }, /Look at db first, then at cart\.$/, true],
    ['so it is where no candidate stands out', { rootCause: cause(['db', 0.9], ['cart', 0.8]) }, /Read what checkout logged/, true],
    ['without a cause the service itself is read', {}, /Read what checkout logged/, true],
    ['a low one can wait', { severity: 'low' }, /^Acknowledge/, false],
    ['a platform that was not told comes first', { dispatches: failed }, /^Jira was not told: retry below/, true],
    ['one that recurs is noise or for working hours', { recurring: true }, /silence it/, false],
    ['somebody looks at an acknowledged one', { status: 'acknowledged' }, /^Somebody looks at it/, false],
    ['one that is quiet may be over', { status: 'acknowledged', lastSeen: '2025-12-31T23:00:00Z' }, /resolve it\.$/, false],
    ['an escalated one asks for help', { status: 'escalated' }, /^Somebody asked for help/, true],
    ['a resolved one needs nothing', { status: 'resolved', dispatches: failed }, /^Nothing more/, false],
  ] as const
  it('names who looks at it, or asked for help', () => {
    const say = (status: 'acknowledged' | 'escalated', actor: string) =>
      nextStep(buildIncident({ lastSeen: LAST, status }), NOW, actor).text.split('. ')[0]
    expect(say('acknowledged', 'ada')).to.equal('ada looks at it')
    expect(say('escalated', 'Bo (jira)')).to.equal('Bo (jira) asked for help')
    expect(say('escalated', 'auto')).to.equal('Nobody took it in time')
  })
  for (const [title, overrides, expected, isUrgent] of cases)
    it(title, () => {
      const step = nextStep(buildIncident({ lastSeen: LAST, ...overrides }), NOW)
      expect(step.text).to.match(expected)
      expect(step.isUrgent).to.equal(isUrgent)
    })
})
