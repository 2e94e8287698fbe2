import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Anomaly } from '../anomalies/anomaly.ts'
import { type GroupedAnomaly, toMember } from './anomaly-window.ts'
import type { GroupingChange } from './grouping.ts'
import { buildIncident, describeCreation, foldIntoIncident } from './incident.ts'

const NOW = '2026-11-21T12:10:00.000Z'
const LATER = '2026-11-21T12:20:00.000Z'

function anomaly(minute: number, changes: Partial<GroupedAnomaly> = {}): GroupedAnomaly {
  const timestamp = new Date(Date.UTC(2026, 10, 21, 12, minute)).toISOString()
  return {
    ...{ id: `a${minute}`, log_id: `l${minute}`, timestamp, tenant_id: 'acme', service: 'checkout', level: 'ERROR' },
    ...{ pattern_id: 'p1', pattern: 'call  failed\nafter <*> ms', score: 0.55 },
    ...changes,
  } as GroupedAnomaly
}

function change(members: readonly GroupedAnomaly[], changes: Partial<GroupingChange> = {}): GroupingChange {
  return { incidentId: 'i1', tenant: 'acme', service: 'checkout', severity: 'medium', members, affectedServices: ['checkout'], ...changes }
}

describe('an incident', () => {
  it('is open, of its tenant and service, with the highest rule score and the times of its first and last anomaly', () => {
    const incident = buildIncident(change([anomaly(4, { score: 0.7 }), anomaly(0), anomaly(2)]), NOW)
    expect(incident).to.include({
      id: 'i1',
      tenantId: 'acme',
      service: 'checkout',
      status: 'open',
      anomalyScore: 0.7,
      anomalyCount: 3,
      createdAt: NOW,
      updatedAt: NOW,
    })
    expect([incident.firstSeen, incident.lastSeen]).to.deep.equal(['2026-11-21T12:00:00.000Z', '2026-11-21T12:04:00.000Z'])
    expect(incident.title).to.equal('checkout: call failed after <*> ms')
  })

  it('is titled by the words of a JSON message, of which the pattern says nothing', () => {
    const json = (n: number, message: string) =>
      toMember({ ...anomaly(n, { pattern: '{<*>:<*>}', pattern_id: 'json' }), message } as Anomaly).anomaly
    const said = (message: string) => buildIncident(change([json(0, message)]), NOW).title
    expect(said('{"level":"error","msg":"disk of 40 GB is full"}')).to.equal('checkout: disk of <*> GB is full')
    expect(said('{"took":12}')).to.equal('checkout: {"took":<*>}')
    expect(said(`{"msg":"${'long '.repeat(1_000)}"}`)).to.have.length(160)
  })

  it('is titled without the head that a logger wrote, and not by a line of a stack trace', () => {
    const line = anomaly(0, { pattern: '<*> ERROR <*> --- [nio-<*>-exec-<*>] c.s.orders.Charge : no charge', pattern_id: 'p2' })
    const frames = [1, 2].map(minute => anomaly(minute, { pattern: '\tat com.shop.Orders.create(Orders.java:<*>)' }))
    expect(buildIncident(change([...frames, line]), NOW).title).to.equal('checkout: no charge')
  })

  it('is titled by what a signal found, word for word', () => {
    const signal = 'delay: slower from "order received" to "seat reserved": 9 pauses, 3 deviations longer than usual'
    expect(buildIncident(change([anomaly(0, { signal })]), NOW).title).to.equal(`checkout: ${signal}`)
  })

  it('is titled by an error rather than by the share that errors have, where one is among its records', () => {
    const signal = 'error share: 40 % of the records are errors, 1 % before'
    const shown = [0, 1].map(minute => anomaly(minute, { signal, level: 'INFO', pattern: 'page shown', pattern_id: 'p2', score: 0 }))
    const title = (...records: readonly GroupedAnomaly[]) => buildIncident(change(records), NOW).title
    expect(title(...shown)).to.equal(`checkout: ${signal}`)
    expect(title(...shown, anomaly(2, { signal }))).to.equal('checkout: call failed after <*> ms')
    const unlevelled = anomaly(2, {
      signal,
      level: 'INFO',
      pattern: '<*> ERROR <*> --- [main] c.s.orders.Charge : no charge',
      pattern_id: 'p3',
    })
    expect(title(...shown, unlevelled)).to.equal('checkout: no charge')
  })

  it('is titled by its records where these alone would make it, whatever a signal found beside', () => {
    const found = anomaly(9, { signal: 'silence: no record for 2 minutes', pattern: 'page shown', pattern_id: 'p9' })
    const records = [anomaly(0), anomaly(1), anomaly(2)]
    expect(buildIncident(change([found, ...records]), NOW).title).to.equal('checkout: call failed after <*> ms')
    expect(buildIncident(change([found, ...records.slice(1)]), NOW).title).to.match(/^checkout: silence: /)
  })

  it('is titled by the record that makes it critical, though it came but once', () => {
    const found = [0, 1, 2].map(minute =>
      anomaly(minute, { signal: 'new pattern: "GC pause" came 10 times', level: 'WARN', pattern: 'GC pause' }),
    )
    const died = anomaly(3, { level: 'FATAL', pattern: 'OutOfMemoryError: Java heap space', pattern_id: 'p4', score: 0.8 })
    expect(buildIncident(change([...found, died]), NOW).title).to.equal('checkout: OutOfMemoryError: Java heap space')
  })

  it('is titled by the exception itself where a framework wraps it in a long line of its own', () => {
    const servlet =
      'Servlet.service() for servlet [dispatcherServlet] in context with path [] threw exception [Request processing failed; nested exception is'
    const wrapped = anomaly(0, {
      pattern: `${servlet} java.lang.IllegalStateException: No instances available for ts-seat-service] with root cause`,
    })
    expect(buildIncident(change([wrapped]), NOW).title).to.equal(
      'checkout: java.lang.IllegalStateException: No instances available for ts-seat-service',
    )
  })

  it('is titled without the colours of a terminal', () => {
    const coloured = anomaly(0, { pattern: '\u001b[<*>mERROR\u001b[<*>m no charge' })
    expect(buildIncident(change([coloured]), NOW).title).to.equal('checkout: no charge')
  })

  it('knows the first from the last of anomalies of one millisecond, whose times have unlike many digits', () => {
    const times = ['2026-11-21T12:00:00.370000002Z', '2026-11-21T12:00:00.370Z', '2026-11-21T12:00:00.370000001Z']
    for (const members of [times, times.toReversed()]) {
      const incident = buildIncident(change(members.map((timestamp, i) => anomaly(i, { timestamp }))), NOW)
      expect([incident.firstSeen, incident.lastSeen]).to.deep.equal(['2026-11-21T12:00:00.370Z', '2026-11-21T12:00:00.370000002Z'])
    }
  })

  it('has the trace of its first anomaly that has one', () => {
    expect(buildIncident(change([anomaly(0)]), NOW)).not.to.have.property('traceId')
    expect(buildIncident(change([anomaly(0), anomaly(1, { trace_id: 't1' }), anomaly(2, { trace_id: 't2' })]), NOW).traceId).to.equal('t1')
    expect(buildIncident(change([anomaly(2, { trace_id: 't2' }), anomaly(1, { trace_id: 't1' })]), NOW).traceId).to.equal('t1')
  })

  it('shows per pattern how often it came, its highest score and at most five samples, the most frequent first', () => {
    const members = [anomaly(0, { pattern_id: 'rare', score: 0.9 }), ...Array.from({ length: 7 }, (_, i) => anomaly(i + 1))]
    const [first, second] = buildIncident(change(members), NOW).evidence
    expect(first).to.include({ patternId: 'p1', count: 7, score: 0.55 })
    expect(first!.logIds).to.have.length(5)
    expect(second).to.include({ patternId: 'rare', count: 1, score: 0.9 })
  })

  it('that takes in an anomaly is refreshed, counts it once, and never becomes less severe or younger', () => {
    const incident = buildIncident(change([anomaly(2)], { severity: 'high' }), NOW)
    const folded = foldIntoIncident(
      incident,
      change([anomaly(1), anomaly(3)], { severity: 'low', affectedServices: ['checkout', 'payment'] }),
      LATER,
    )
    expect(folded).to.include({ severity: 'high', anomalyCount: 3, updatedAt: LATER, createdAt: NOW })
    expect([folded.firstSeen, folded.lastSeen]).to.deep.equal(['2026-11-21T12:01:00.000Z', '2026-11-21T12:03:00.000Z'])
    expect(folded.affectedServices).to.deep.equal(['checkout', 'payment'])
    expect(foldIntoIncident(folded, change([]), NOW).updatedAt, 'a clock that is set back').to.equal(LATER)
  })

  it('says in the audit trail why it was made', () => {
    expect(describeCreation(change([anomaly(0, { score: 0.9 })]))).to.equal('an anomaly of checkout with score 0.9')
    expect(describeCreation(change([anomaly(0), anomaly(1), anomaly(2)]))).to.equal('the first 3 anomalies of checkout, within 5 minutes')
  })
})
