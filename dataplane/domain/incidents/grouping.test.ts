import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { Anomaly } from '../anomalies/anomaly.ts'
import { createGrouping, type Grouping, type GroupingDecision } from './grouping.ts'
import { buildIncident, describeCreation, foldIntoIncident } from './incident.ts'
import type { Incident } from './incident-fields.ts'

const START_MS = Date.UTC(2026, 10, 21, 12)
const MINUTE_MS = 60_000
const CONFIG = { minimumScore: 0.85, lookbackMs: 15 * MINUTE_MS }
const NOW = '2026-11-21T12:00:00.000Z'

let serial = 0

/** An ERROR anomaly of `checkout` with score 0.55, `minute` minutes after the start. */
function anomaly(minute: number, changes: Partial<Anomaly> = {}): Anomaly {
  const id = `a${++serial}`
  return {
    id,
    log_id: `l${id}`,
    document_id: `d${id}`,
    timestamp: new Date(START_MS + minute * MINUTE_MS).toISOString(),
    tenant_id: 'default',
    service: 'checkout',
    level: 'ERROR',
    message: 'm',
    pattern_id: 'p1',
    pattern: 'call failed after <*> ms',
    score: 0.55,
    anomaly_score: 0,
    detectors: ['rule'],
    reasons: [],
    ...changes,
  }
}

function addAll(grouping: Grouping, anomalies: readonly Anomaly[], config = CONFIG): GroupingDecision[] {
  return anomalies.flatMap(each => grouping.add(each, config))
}

const kinds = (decisions: readonly GroupingDecision[]) =>
  decisions.map(decision => (decision.kind === 'none' ? decision.reason : decision.kind))
const severities = (decisions: readonly GroupingDecision[]) =>
  decisions.map(decision => (decision.kind === 'none' ? undefined : decision.severity))

describe('grouping of many services and tenants', () => {
  const opened = (anomalies: readonly Anomaly[]) => addAll(createGrouping(), anomalies).filter(({ kind }) => kind === 'open').length
  const services = (count: number) => Array.from({ length: count }, (_, at) => ({ service: `s${at}` }))
  const tenants = (count: number) => Array.from({ length: count }, (_, at) => ({ tenant_id: `t${at}` }))
  /** One anomaly of each, then the next one of each. */
  const inTurn = (all: readonly Partial<Anomaly>[]) => [0, 1, 2].flatMap(minute => all.map(each => anomaly(minute, each)))

  it('opens an incident of each of 20,000 services that fail in turn', () => {
    expect(opened(inTurn(services(20_000)))).to.equal(20_000)
  })

  it('opens one of each of 20,000 tenants that fail in turn', () => {
    expect(opened(inTurn(tenants(20_000)))).to.equal(20_000)
  })

  it('forgets those longest silent where there is no room for all', () => {
    const threeOf = (each: Partial<Anomaly>) => [0, 1, 2].map(minute => anomaly(minute, each))
    expect(opened([...services(30_000), ...tenants(30_000)].flatMap(threeOf))).to.equal(60_000)
  })
})

describe('grouping: 3 or more anomalies per service in a 5-minute window', () => {
  const cases = [
    {
      name: 'the third opens an incident',
      anomalies: () => [anomaly(0), anomaly(2), anomaly(4)],
      expected: ['waiting', 'waiting', 'open'],
    },
    { name: 'within exactly 5 minutes', anomalies: () => [anomaly(0), anomaly(2), anomaly(5)], expected: ['waiting', 'waiting', 'open'] },
    { name: 'not within more', anomalies: () => [anomaly(0), anomaly(2), anomaly(5.01)], expected: ['waiting', 'waiting', 'waiting'] },
    {
      name: 'by event time, in any order of arrival',
      anomalies: () => [anomaly(4), anomaly(0), anomaly(2)],
      expected: ['waiting', 'waiting', 'open'],
    },
    {
      name: 'a late one between two that are too far apart alone',
      anomalies: () => [anomaly(0), anomaly(8), anomaly(4)],
      expected: ['waiting', 'waiting', 'waiting'],
    },
    {
      name: 'services apart',
      anomalies: () => [anomaly(0), anomaly(1, { service: 'cart' }), anomaly(2)],
      expected: ['waiting', 'waiting', 'waiting'],
    },
    {
      name: 'tenants apart',
      anomalies: () => [anomaly(0), anomaly(1, { tenant_id: 'acme' }), anomaly(2)],
      expected: ['waiting', 'waiting', 'waiting'],
    },
    {
      name: 'whatever their scores',
      anomalies: () => [anomaly(0, { score: 0 }), anomaly(1, { score: 0.1 }), anomaly(2, { score: 0 })],
      expected: ['waiting', 'waiting', 'open'],
    },
    { name: 'a single anomaly whose rule score reaches minimumScore', anomalies: () => [anomaly(0, { score: 0.85 })], expected: ['open'] },
    { name: 'a single one below it waits', anomalies: () => [anomaly(0, { score: 0.84 })], expected: ['waiting'] },
    {
      name: 'the same service and severity within lookbackWindow folds',
      anomalies: () => [anomaly(0), anomaly(1), anomaly(2), anomaly(17)],
      expected: ['waiting', 'waiting', 'open', 'fold'],
    },
    {
      name: 'after lookbackWindow it does not',
      anomalies: () => [anomaly(0), anomaly(1), anomaly(2), anomaly(17.1)],
      expected: ['waiting', 'waiting', 'open', 'waiting'],
    },
    {
      name: 'one that comes late, and lies before the incident by no more, folds',
      anomalies: () => [anomaly(20), anomaly(21), anomaly(22), anomaly(5), anomaly(-10.1)],
      expected: ['waiting', 'waiting', 'open', 'fold', 'waiting'],
    },
    {
      name: 'look-back goes by event time from lastSeen',
      anomalies: () => [anomaly(0), anomaly(1), anomaly(2), anomaly(16), anomaly(30)],
      expected: ['waiting', 'waiting', 'open', 'fold', 'fold'],
    },
    {
      name: 'a more severe group raises the incident instead of opening a second one',
      anomalies: () => [anomaly(0), anomaly(1), anomaly(2), anomaly(3, { level: 'FATAL' })],
      expected: ['waiting', 'waiting', 'open', 'raise'],
    },
    {
      name: 'a storm stays one incident, however many anomalies ago its FATAL record was',
      anomalies: () => [anomaly(0, { level: 'FATAL', score: 0.9 }), ...Array.from({ length: 120 }, (_, i) => anomaly(0.1 * (i + 1)))],
      expected: ['open', ...Array(120).fill('fold')],
    },
    {
      name: 'a less severe group later opens one of its own',
      anomalies: () => [anomaly(0, { level: 'FATAL', score: 0.9 }), anomaly(6), anomaly(7), anomaly(8)],
      expected: ['open', 'waiting', 'waiting', 'open'],
    },
    {
      name: 'a time of 2200 disturbs nothing',
      anomalies: () => [anomaly(0), anomaly(9e7), anomaly(1), anomaly(2)],
      expected: ['waiting', 'waiting', 'waiting', 'open'],
    },
  ]
  for (const { name, anomalies, expected } of cases)
    it(name, () => expect(kinds(addAll(createGrouping(), anomalies()))).to.deep.equal(expected))

  it('takes each document id once', () => {
    const one = anomaly(0)
    expect(kinds(addAll(createGrouping(), [one, one, one, anomaly(1)]))).to.deep.equal(['waiting', 'duplicate', 'duplicate', 'waiting'])
  })

  it('an anomaly counts for one incident only', () => {
    const decisions = addAll(createGrouping(), [anomaly(0), anomaly(1), anomaly(2), anomaly(3)], { ...CONFIG, lookbackMs: 1_000 })
    expect(kinds(decisions)).to.deep.equal(['waiting', 'waiting', 'open', 'waiting'])
  })

  const severe = [
    { name: 'medium', anomalies: () => [anomaly(0), anomaly(1), anomaly(2)], expected: 'medium' },
    { name: 'high: score > 0.7', anomalies: () => [anomaly(0), anomaly(1), anomaly(2, { score: 0.75 })], expected: 'high' },
    { name: 'critical: a FATAL record', anomalies: () => [anomaly(0, { level: 'FATAL' }), anomaly(1), anomaly(2)], expected: 'critical' },
    {
      name: 'low: only the Z-score engine saw it',
      anomalies: () => [0, 1, 2].map(minute => anomaly(minute, { score: 0.3 })),
      expected: 'low',
    },
  ]
  for (const { name, anomalies, expected } of severe)
    it(`severity ${name}`, () => expect(severities(addAll(createGrouping(), anomalies())).at(-1)).to.equal(expected))
})

describe('affectedServices: services whose anomalies in the same window share a trace id with the group’s', () => {
  const traced = (minute: number, service: string, trace_id = 't1') => anomaly(minute, { service, trace_id })

  it('raise the severity of the group', () => {
    const decisions = addAll(createGrouping(), [traced(0, 'cart'), traced(1, 'checkout'), anomaly(2), anomaly(3)])
    expect(decisions.at(-1)).to.deep.include({ kind: 'open', severity: 'high', affectedServices: ['checkout', 'cart'] })
  })

  it('another trace or another window does not count', () => {
    const decisions = addAll(createGrouping(), [traced(0, 'cart', 't2'), traced(-9, 'auth'), traced(1, 'checkout'), anomaly(2), anomaly(3)])
    expect(decisions.at(-1)).to.deep.include({ kind: 'open', severity: 'medium', affectedServices: ['checkout'] })
  })

  it('are found as well when they come after the incident', () => {
    const grouping = createGrouping()
    addAll(grouping, [traced(0, 'checkout'), anomaly(1), anomaly(2)])
    const [own, other] = grouping.add(traced(3, 'cart'), CONFIG)
    expect(own).to.deep.equal({ kind: 'none', reason: 'waiting' })
    expect(other).to.deep.include({
      kind: 'raise',
      service: 'checkout',
      severity: 'high',
      affectedServices: ['checkout', 'cart'],
      members: [],
    })
    expect(grouping.add(traced(3, 'auth'), CONFIG)[1]).to.deep.include({ kind: 'raise', severity: 'critical' })
  })

  it('names 500 of them and counts the others, each once, also after a restart', () => {
    let grouping = createGrouping()
    const traces = Array.from({ length: 15 }, (_, i) => `t${i}`)
    const opened = addAll(
      grouping,
      traces.map(trace_id => anomaly(0, { trace_id })),
    )
    let incident = opened.reduce<Incident | undefined>(
      (before, each) =>
        each.kind === 'open' ? buildIncident(each, NOW) : before && each.kind === 'fold' ? foldIntoIncident(before, each, NOW) : before,
      undefined,
    )!
    const widen = (prefix: string) => {
      let told = 0
      for (const trace_id of traces)
        for (let i = 0; i < 40; i++)
          for (const each of grouping.add(anomaly(0, { trace_id, service: `${prefix}-${trace_id}-${i}` }), CONFIG)) {
            if (each.kind === 'none' || each.service !== 'checkout') continue
            incident = foldIntoIncident(incident, each, NOW)
            told++
          }
      return told
    }
    expect(widen('first')).to.equal(600)
    expect(incident.affectedServices).to.have.length(500)
    expect(incident.furtherServices).to.equal(101)
    expect(widen('first'), 'known ones').to.equal(0)
    grouping = createGrouping()
    grouping.restoreIncident(incident)
    addAll(
      grouping,
      traces.map(trace_id => anomaly(1, { trace_id })),
    )
    expect(widen('later')).to.equal(600)
    expect(incident.affectedServices).to.have.length(500).and.include('checkout')
    expect(incident.furtherServices).to.equal(701)
  })
})

describe('many tenants and services', () => {
  it('make nothing of another tenant forgotten, and a service that has most is forgotten itself', () => {
    const grouping = createGrouping()
    const mine = { tenant_id: 'shop' }
    expect(addAll(grouping, [anomaly(0, mine), anomaly(1, mine)]).map(({ kind }) => kind)).to.deep.equal(['none', 'none'])
    const one = { tenant_id: 'flood', service: 'first' }
    grouping.add(anomaly(0, one), CONFIG)
    for (let i = 0; i < 4_000; i++) grouping.add(anomaly(0, { tenant_id: 'flood', service: `s${i}`, trace_id: `t${i}` }), CONFIG)
    for (let i = 0; i < 70_000; i++)
      grouping.add(anomaly(0, { tenant_id: `flood${i % 1_000}`, service: `s${i}`, trace_id: `t${i}` }), CONFIG)
    expect(grouping.add(anomaly(2, mine), CONFIG).map(({ kind }) => kind)).to.deep.equal(['open'])
    expect(addAll(grouping, [anomaly(1, one), anomaly(2, one)]).map(({ kind }) => kind)).to.deep.equal(['none', 'none'])
  })
})

describe('replays', () => {
  const bursts = fc.array(
    fc.record({
      minute: fc.integer({ min: 0, max: 60 }),
      service: fc.constantFrom('a', 'b'),
      trace: fc.constantFrom('t1', 't2'),
      score: fc.constantFrom(0.3, 0.55, 0.9),
    }),
    { maxLength: 40 },
  )
  const toAnomalies = (burst: readonly { minute: number; service: string; trace: string; score: number }[]) =>
    burst.map(({ minute, service, trace, score }) => anomaly(minute, { service, trace_id: trace, score }))

  it('the same anomalies make the same decisions, and incidents of the same ids', () => {
    fc.assert(
      fc.property(bursts, burst => {
        const anomalies = toAnomalies(burst)
        expect(addAll(createGrouping(), anomalies)).to.deep.equal(addAll(createGrouping(), anomalies))
      }),
      { seed: 9 },
    )
  })

  it('delivered twice they count once: each anomaly joins one incident at most', () => {
    fc.assert(
      fc.property(bursts, burst => {
        const anomalies = toAnomalies(burst)
        const decisions = addAll(createGrouping(), [...anomalies, ...anomalies])
        const members = decisions.flatMap(decision => (decision.kind === 'none' ? [] : decision.members.map(({ id }) => id)))
        expect(new Set(members).size).to.equal(members.length)
        expect(kinds(decisions).filter(kind => kind === 'duplicate').length).to.equal(anomalies.length)
      }),
      { seed: 10 },
    )
  })

  it('restored from what was stored it goes on as before', () => {
    const opened = [anomaly(0), anomaly(1), anomaly(2)]
    const grouping = createGrouping()
    const open = addAll(grouping, opened).at(-1)!
    if (open.kind !== 'open') throw new Error('not opened')
    const waiting = anomaly(1, { service: 'cart' })
    const restored = createGrouping()
    restored.restoreIncident(buildIncident(open, NOW))
    for (const each of opened) restored.restoreAnomaly({ ...each, incident_id: open.incidentId })
    restored.restoreAnomaly(waiting)
    const next = [opened[0]!, anomaly(3), waiting, anomaly(2, { service: 'cart' }), anomaly(3, { service: 'cart' })]
    expect(kinds(addAll(restored, next))).to.deep.equal(['duplicate', 'fold', 'duplicate', 'waiting', 'open'])
  })

  it('an incident that was resolved takes in nothing more; the anomaly may be added again', () => {
    const grouping = createGrouping()
    const open = addAll(grouping, [anomaly(0), anomaly(1), anomaly(2)]).at(-1)!
    if (open.kind !== 'open') throw new Error('not opened')
    const next = anomaly(3)
    expect(kinds(grouping.add(next, CONFIG))).to.deep.equal(['fold'])
    grouping.forget(open, [next])
    expect(kinds(addAll(grouping, [next, anomaly(4), anomaly(5)]))).to.deep.equal(['waiting', 'waiting', 'open'])
  })
})

describe('incident', () => {
  const open = (anomalies: readonly Anomaly[]) => {
    const decision = addAll(createGrouping(), anomalies).at(-1)!
    if (decision.kind !== 'open') throw new Error('not opened')
    return decision
  }

  it('has the fields of the specification', () => {
    const anomalies = [anomaly(2, { trace_id: 't9' }), anomaly(0), anomaly(1, { pattern_id: 'p2', pattern: 'other', score: 0.6 })]
    const decision = open(anomalies)
    expect(buildIncident(decision, NOW)).to.deep.equal({
      id: decision.incidentId,
      tenantId: 'default',
      title: 'checkout: call failed after <*> ms',
      severity: 'medium',
      status: 'open',
      service: 'checkout',
      anomalyScore: 0.6,
      anomalyCount: 3,
      affectedServices: ['checkout'],
      traceId: 't9',
      createdAt: NOW,
      updatedAt: NOW,
      firstSeen: anomalies[1]!.timestamp,
      lastSeen: anomalies[0]!.timestamp,
      platforms: [],
      evidence: [
        {
          patternId: 'p1',
          pattern: 'call failed after <*> ms',
          count: 2,
          score: 0.55,
          logIds: [anomalies[0]!.log_id, anomalies[1]!.log_id],
          traceIds: ['t9'],
        },
        { patternId: 'p2', pattern: 'other', count: 1, score: 0.6, logIds: [anomalies[2]!.log_id], traceIds: [] },
      ],
    })
    expect(describeCreation(decision)).to.equal('the first 3 anomalies of checkout, within 5 minutes')
  })

  it('folding refreshes updatedAt and increments the anomaly count', () => {
    const grouping = createGrouping()
    const decision = addAll(grouping, [anomaly(0), anomaly(1), anomaly(2)]).at(-1)!
    const [folded] = grouping.add(anomaly(9, { score: 0.65 }), CONFIG)
    if (decision.kind !== 'open' || folded?.kind !== 'fold') throw new Error('not folded')
    const later = '2026-11-21T12:30:00.000Z'
    const incident = { ...buildIncident(decision, NOW), status: 'acknowledged' as const, note: 'kept' }
    expect(foldIntoIncident(incident, folded, later)).to.include({
      anomalyCount: 4,
      anomalyScore: 0.65,
      updatedAt: later,
      createdAt: NOW,
      status: 'acknowledged',
      note: 'kept',
      lastSeen: new Date(START_MS + 9 * MINUTE_MS).toISOString(),
    })
  })

  it('evidence keeps few samples, and the most frequent patterns', () => {
    const anomalies = Array.from({ length: 60 }, (_, i) => anomaly(0, { pattern_id: `p${i % 30}`, trace_id: `t${i}` }))
    const incident = anomalies.reduce(
      (so_far, each) => foldIntoIncident(so_far, { ...open([anomaly(0), anomaly(0), anomaly(0)]), members: [each] }, NOW),
      buildIncident(open([anomaly(0), anomaly(1), anomaly(2)]), NOW),
    )
    expect(incident.evidence.length).to.equal(20)
    expect(incident.evidence[0]!.logIds.length).to.be.at.most(5)
    expect(incident.anomalyCount).to.equal(63)
  })

  it('a single anomaly says its score', () => {
    expect(describeCreation(open([anomaly(0, { score: 0.9 })]))).to.equal('an anomaly of checkout with score 0.9')
  })
})
