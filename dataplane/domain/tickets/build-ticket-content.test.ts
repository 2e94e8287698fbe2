import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildIncident } from '../../testing/incident-fixture.ts'
import type { Incident } from '../incidents/incident-fields.ts'
import { buildTicketContent, sampleIds, sampleKey } from './build-ticket-content.ts'
import type { OutboxRow } from './outbox-row.ts'

const evidence = (pattern: string, count: number, logIds: readonly string[]) => ({
  patternId: pattern,
  pattern,
  count,
  score: 0.5,
  logIds,
  traceIds: [],
})
const PATTERN = 'Connection refused\nto <*>'
const INCIDENT = buildIncident({
  id: 'i1',
  anomalyCount: 12,
  affectedServices: ['checkout', 'payment', 'cart'],
  firstSeen: '2026-01-01T02:14:07.120Z',
  lastSeen: '2026-01-01T02:15:31.000Z',
  evidence: [evidence('rare', 1, ['r1']), evidence(PATTERN, 9, ['a1', 'a2', 'a3'])],
})
const sample = (logId: string, message = 'm') => ({ logId, message, timestamp: INCIDENT.firstSeen, level: 'ERROR', service: 'checkout' })

const content = (over: Partial<Incident> = {}, row: Partial<OutboxRow> = {}, publicUrl?: string) =>
  buildTicketContent({
    incident: { ...INCIDENT, ...over },
    row: { event: 'open', news: [], ...row },
    samples: new Map([sample('a1'), sample('a2', 'x'.repeat(5_000))].map(each => [sampleKey(PATTERN, each.logId), each])),
    ...(publicUrl !== undefined && { publicUrl }),
  })

const candidate = (service: string, score: number) => ({
  service,
  score,
  reasons: ['a', 'b', 'c', 'd'].map(text => ({ kind: 'errors' as const, text, logIds: [], traceIds: [] })),
})
const rootCause = {
  mode: 'rules' as const,
  fallback: false,
  summary: 'payment',
  candidates: [candidate('payment', 9), candidate('cart', 1)],
}

describe('what a ticket says', () => {
  it('what happened, in one sentence', () => {
    expect(content().sentence).to.equal(
      'checkout logged 12 anomalies between 2026-01-01 02:14:07 and 02:15:31 UTC, most often “Connection refused to <*>”; payment and cart are affected, too.',
    )
    const alone = { anomalyCount: 1, affectedServices: ['checkout'], lastSeen: INCIDENT.firstSeen, evidence: [evidence('OOM', 1, [])] }
    expect(content(alone).sentence).to.equal('checkout logged an anomaly at 2026-01-01 02:14:07 UTC: “OOM”.')
    const atOnce = { ...alone, anomalyCount: 2, firstSeen: '2026-01-01T02:14:07.000000001Z', lastSeen: '2026-01-01T02:14:07.120000003Z' }
    expect(content(atOnce).sentence).to.equal('checkout logged 2 anomalies at 2026-01-01 02:14:07 UTC, among them “OOM”.')
    const twice = { ...atOnce, evidence: [evidence('OOM', 2, [])] }
    expect(content(twice).sentence).to.equal('checkout logged 2 anomalies at 2026-01-01 02:14:07 UTC, most often “OOM”.')
    const overnight = { firstSeen: '2025-12-31T23:58:10.000Z', lastSeen: '2026-01-01T00:04:02.000Z' }
    expect(content(overnight).sentence).to.contain('between 2025-12-31 23:58:10 and 2026-01-01 00:04:02 UTC')
    const many = { affectedServices: ['checkout', ...'abcdefg'] }
    expect(content(many).sentence).to.match(/; a, b, c, d and 3 more are affected, too\.$/)
    expect(content({ ...many, furtherServices: 12 }).sentence).to.match(/; a, b, c, d and 15 more are affected, too\.$/)
  })

  it('the words behind the head that a logger wrote, and those of an error before the lines of its stack trace', () => {
    const head = '<*> ERROR <*> --- [nio-<*>-exec-<*>] c.s.orders.Charge : '
    const traced = [evidence('\tat com.shop.Orders.create(Orders.java:<*>)', 40, []), evidence(`${head}no charge`, 4, [])]
    expect(content({ evidence: traced }).sentence).to.contain('most often “no charge”')
    expect(content({ evidence: traced }).evidence[0]!.pattern).to.equal('no charge')
    const traceback = evidence(
      'Traceback (most recent call last):\n  File <*>, line <*>, in run\n    charge()\nPaymentError: declined',
      4,
      [],
    )
    expect(content({ evidence: [traceback] }).sentence).to.contain('most often “PaymentError: declined”')
  })

  it('evidence, the most frequent first, with samples that are cut', () => {
    const { evidence: shown } = content()
    expect(shown.map(({ pattern, count }) => [pattern, count])).to.deep.equal([
      ['Connection refused\nto <*>', 9],
      ['rare', 1],
    ])
    expect(shown[0]!.samples.map(({ logId, message }) => [logId, message.length])).to.deep.equal([
      ['a1', 1],
      ['a2', 1_000],
    ])
    expect(sampleIds(INCIDENT)).to.deep.equal(['a1', 'a2', 'r1'])
  })

  it('the words of a JSON message, in the sentence, as pattern and as sample', () => {
    const incident: Incident = { ...INCIDENT, evidence: [evidence('{<*>:<*>}', 12, ['j1'])] }
    const said = (message: string) =>
      buildTicketContent({
        incident,
        row: { event: 'open', news: [] },
        samples: new Map([[sampleKey('{<*>:<*>}', 'j1'), sample('j1', message)]]),
      })
    const { sentence, evidence: shown } = said('{"level":"error","msg":"disk of 40 GB is full"}')
    expect(sentence).to.contain('most often “disk of <*> GB is full”')
    expect(shown[0]!.pattern).to.equal('disk of <*> GB is full')
    expect(shown[0]!.samples[0]!.message).to.equal('disk of 40 GB is full')
    expect(said('{"took":12}').evidence[0]!.samples[0]!.message).to.equal('{"took":12}')
  })

  it('the cause with its reasons, three for each candidate', () => {
    expect(content()).not.to.have.property('cause')
    const { cause } = content({ rootCause })
    expect(cause).to.deep.include({ summary: 'payment', mode: 'rules', fallback: false })
    expect(cause!.candidates[0]).to.deep.equal({ service: 'payment', score: 9, reasons: ['a', 'b', 'c'] })
  })

  it('a link back where the console has a public address', () => {
    expect(content({}, {}, 'https://ops.example').link).to.equal('https://ops.example/incidents/i1')
    expect(content({}, {}, 'https://ops.example/').link).to.equal('https://ops.example/incidents/i1')
    expect(content()).not.to.have.property('link')
    expect(content({}, {}, '')).not.to.have.property('link')
  })

  it('no credential of a log line, wherever its words stand', () => {
    const said = 'login of bob failed: password=hunter2'
    const secretive = { title: said, evidence: [evidence(said, 9, ['s1'])], rootCause: { ...rootCause, summary: said } }
    const told = buildTicketContent({
      incident: { ...INCIDENT, ...secretive },
      row: { event: 'comment', news: [said] },
      samples: new Map([[sampleKey(said, 's1'), sample('s1', `${'x'.repeat(990)} ${said}`)]]),
    })
    expect(JSON.stringify(told)).to.include('login of bob failed: password=[secret]').and.not.include('hunter')
  })

  describe('the action to take next', () => {
    const cases: readonly [string, Partial<Incident>, Partial<OutboxRow>, string][] = [
      [
        'with a cause',
        { rootCause },
        {},
        'Acknowledge it. Look at payment first, not at checkout, which only shows it: what was deployed or changed there before 02:14:07 UTC?',
      ],
      [
        'with two likely causes',
        { rootCause: { ...rootCause, candidates: [candidate('payment', 9), candidate('cart', 8)] }, severity: 'medium' },
        {},
        'Look at payment first, then at cart: what was deployed or changed there before 02:14:07 UTC?',
      ],
      [
        'with a candidate that does not stand out',
        { rootCause: { ...rootCause, candidates: [candidate('payment', 0.9), candidate('cart', 0.8)] } },
        {},
        'Acknowledge it. Read what checkout logged from 02:14:07 UTC on, and what was changed shortly before.',
      ],
      [
        'without a cause',
        { severity: 'critical' },
        {},
        'Acknowledge it now. Read what checkout logged from 02:14:07 UTC on, and what was changed shortly before.',
      ],
      [
        'acknowledged, with news',
        { severity: 'critical', status: 'acknowledged' },
        { event: 'comment' },
        'Read what checkout logged from 02:14:07 UTC on, and what was changed shortly before.',
      ],
      [
        'recurring',
        { recurring: true },
        {},
        'Decide whether this is known noise: checkout logs it all day. If it is, silence it; if not, mend it in working hours.',
      ],
      [
        'acknowledged',
        {},
        { event: 'acknowledge', change: { actor: 'ada', at: INCIDENT.lastSeen } },
        'Leave it to ada, unless you are asked for help.',
      ],
      [
        'escalated by itself',
        {},
        { event: 'escalate', change: { actor: 'auto', at: INCIDENT.lastSeen } },
        'Take it now: nobody acknowledged it in time. Read what checkout logged from 02:14:07 UTC on, and what was changed shortly before.',
      ],
      [
        'escalated by a person',
        {},
        { event: 'escalate', change: { actor: 'ada', at: INCIDENT.lastSeen } },
        'Take it now: ada asks for help. Read what checkout logged from 02:14:07 UTC on, and what was changed shortly before.',
      ],
      [
        'told for the first time by an escalation',
        { status: 'escalated' },
        { event: 'open', change: { actor: 'ada', note: 'payments\nare down', at: INCIDENT.lastSeen } },
        'Take it now: ada asks for help, “payments are down”. Read what checkout logged from 02:14:07 UTC on, and what was changed shortly before.',
      ],
      ['resolved', {}, { event: 'resolve' }, 'Do nothing more; reopen the incident if it comes back.'],
    ]
    for (const [says, over, row, action] of cases) it(says, () => expect(content(over, row).nextAction).to.equal(action))
  })

  it('the severity that the row names, who changed it, and what is new', () => {
    const change = { actor: 'auto', note: 'still open', at: INCIDENT.lastSeen }
    expect(content({}, { event: 'escalate', severity: 'critical', change, news: ['x'] })).to.deep.include({
      severity: 'critical',
      change,
      news: ['x'],
    })
  })
})
