import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { TargetId } from '../../contract/target-id.ts'
import { buildIncident } from '../../testing/incident-fixture.ts'
import {
  type AttendFacts,
  attend,
  describeGrowth,
  isStranded,
  oweChange,
  oweComment,
  settleOwed,
  type TicketedIncident,
} from './incident-tickets.ts'

const NOW = '2026-01-01T01:00:00.000Z'
const NOW_MS = Date.parse(NOW)
const IDS: readonly TargetId[] = ['slack', 'jira', 'pagerduty']
const FACTS: AttendFacts = {
  nowMs: NOW_MS,
  rules: {
    targets: new Map(IDS.map(id => [id, { enabled: true }])),
    routing: { critical: ['pagerduty', 'slack'], high: ['slack', 'jira'], medium: [], low: [] },
    declaredRoutes: [],
  },
  silences: [],
  quietRecurring: false,
}
const SILENCED = {
  ...FACTS,
  silences: [{ id: 's1', services: ['checkout'], from: NOW, to: '2026-01-01T02:00:00.000Z', reason: 'release', createdAt: NOW }],
}
const owed = ({ ticketing }: TicketedIncident) => (ticketing?.owed ?? []).map(({ event, targets }) => `${event} ${targets?.join(',')}`)
const taken = (facts = FACTS, over: Partial<TicketedIncident> = {}) => {
  const incident = attend<TicketedIncident>({ ...buildIncident(), ...over }, facts)
  return settleOwed(incident, incident.ticketing!.seq!)
}

describe('what an incident owes its targets', () => {
  it('open to those it is routed to, once', () => {
    const incident = attend<TicketedIncident>(buildIncident(), FACTS)
    expect(owed(incident)).to.deep.equal(['open slack,jira'])
    expect(incident).to.deep.include({ platforms: ['slack', 'jira'] })
    expect(incident.ticketing).to.include({ takenAt: NOW, dispatchedAt: NOW })
    expect(owed(attend(incident, FACTS))).to.deep.equal(['open slack,jira'])
    expect(owed(attend(taken(), FACTS))).to.deep.equal([])
  })

  it('to nobody says why, until it has a target', () => {
    const off = { ...FACTS, rules: { ...FACTS.rules, targets: new Map(IDS.map(id => [id, { enabled: false }])) } }
    const untold = attend<TicketedIncident>(buildIncident(), off)
    expect(untold).to.deep.include({ platforms: [] })
    expect(untold.ticketing).to.include({ untold: 'slack is switched off and jira is switched off' })
    const grown = { ...untold, severity: 'critical' as const }
    expect(attend<TicketedIncident>(grown, off).ticketing).to.include({ untold: 'pagerduty is switched off and slack is switched off' })
    const told = attend<TicketedIncident>(grown, FACTS)
    expect(owed(told)).to.deep.equal(['open pagerduty,slack'])
    expect(attend<TicketedIncident>(buildIncident(), FACTS).ticketing).to.not.have.property('untold')
  })

  it('that nobody was told of is routed anew when it is opened again, and when its silence ends', () => {
    const off = { ...FACTS, rules: { ...FACTS.rules, targets: new Map() } }
    const untold = attend<TicketedIncident>(buildIncident(), off)
    const reopened = oweChange({ ...untold, status: 'resolved' }, { action: 'reopen', at: NOW })
    expect(owed(attend<TicketedIncident>({ ...reopened, status: 'open' }, FACTS))).to.deep.equal(['open slack,jira'])
    const silenced = attend<TicketedIncident>(buildIncident(), { ...SILENCED, rules: off.rules })
    const loud = attend(silenced, FACTS)
    expect(owed(loud)).to.deep.equal(['open slack,jira'])
    expect(loud.ticketing).to.not.have.any.keys('untold', 'quietBy')
  })

  it('a comment to those that have it, unless a flood of them would push out what changed', () => {
    const comment = { at: NOW, actor: 'ada', note: 'the pool is empty' }
    const incident = taken()
    const commented = oweComment(incident, comment)
    expect(owed(commented)).to.deep.equal(['comment slack,jira'])
    expect(commented.ticketing?.owed?.[0]).to.deep.include({ change: comment })
    for (const untold of [buildIncident(), { ...incident, platforms: [] }]) expect(oweComment(untold, comment)).to.equal(untold)
    let flooded: TicketedIncident = oweChange(incident, { action: 'acknowledge', at: NOW })
    for (let i = 0; i < 60; i++) flooded = oweComment(flooded, comment)
    expect(owed(flooded)).to.have.length(25).and.to.include('acknowledge slack,jira')
  })

  it('an incident whose rows are not written stays due: who attended to it may have ended before', () => {
    const incident = attend<TicketedIncident>(buildIncident(), FACTS)
    const again = attend(incident, FACTS)
    expect(again.ticketing).to.deep.include({ owed: incident.ticketing!.owed, attentionAt: NOW })
    expect(attend({ ...incident, status: 'resolved' as const }, FACTS).ticketing).to.include({ attentionAt: NOW })
    expect(attend(settleOwed(incident, 1), FACTS).ticketing).not.to.have.property('attentionAt')
  })

  it('an incident of an earlier version that owes and looks at nothing is stranded, unless its opening is history', () => {
    const { attentionAt: _a, ...ticketing } = attend<TicketedIncident>(buildIncident(), FACTS).ticketing!
    const stranded = { updatedAt: NOW, ticketing }
    expect(isStranded(stranded, NOW_MS)).to.equal(true)
    expect(isStranded({ ...stranded, ticketing: { ...ticketing, attentionAt: NOW } }, NOW_MS)).to.equal(false)
    expect(isStranded({ updatedAt: NOW, ticketing: { takenAt: NOW } }, NOW_MS)).to.equal(false)
    expect(isStranded({ updatedAt: NOW }, NOW_MS)).to.equal(false)
    const twoDaysLaterMs = NOW_MS + 2 * 86_400_000
    expect(isStranded(stranded, twoDaysLaterMs)).to.equal(false)
    const resolved = [{ event: 'resolve' as const, at: NOW, seq: 2 }]
    expect(isStranded({ updatedAt: NOW, ticketing: { ...ticketing, owed: resolved } }, twoDaysLaterMs)).to.equal(true)
  })

  it('nothing where it is routed nowhere, or resolved', () => {
    expect(attend<TicketedIncident>(buildIncident({ severity: 'low' }), FACTS).ticketing).not.to.have.property('dispatchedAt')
    expect(owed(attend<TicketedIncident>(buildIncident({ status: 'resolved' }), FACTS))).to.deep.equal([])
  })

  it('its opening when it is opened again, where it was resolved before it was taken up', () => {
    const early = oweChange<TicketedIncident>({ ...buildIncident(), status: 'resolved' }, { action: 'resolve', at: NOW })
    const seen = attend(early, FACTS)
    expect(owed(seen)).to.deep.equal([])
    expect(seen.ticketing).to.include({ untold: 'it was resolved before anybody could be told' }).and.not.to.have.property('takenAt')
    const reopened = { ...oweChange(seen, { action: 'reopen', at: NOW }), status: 'open' as const }
    expect(reopened.ticketing).not.to.have.property('untold')
    const again = attend(reopened, FACTS)
    expect(owed(again)).to.deep.equal(['open slack,jira', 'reopen slack,jira'])
    expect(again).to.deep.include({ platforms: ['slack', 'jira'] })
  })

  it('nothing that is seen, when it is first looked at a day and more after it last changed; reopened or grown, it is told', () => {
    const old = buildIncident({ updatedAt: '2025-12-30T00:00:00.000Z' })
    const seen = attend<TicketedIncident>(old, FACTS)
    expect(seen.ticketing).to.include({ quietBy: 'age' }).and.not.to.have.property('dispatchedAt')
    expect(seen.ticketing!.owed!.map(({ event, quiet }) => `${event}: ${quiet}`)).to.deep.equal([
      'open: too old to be told: it last changed 2025-12-30T00:00:00.000Z',
    ])
    const settled = settleOwed(seen, 99)
    expect(owed(attend(settled, FACTS))).to.deep.equal([])
    expect(owed(attend({ ...settled, updatedAt: NOW }, FACTS))).to.deep.equal(['open slack,jira'])
    // An incident that a silence held back for days is told at its end all the same.
    const silenced = { ...taken(SILENCED), updatedAt: '2025-12-30T00:00:00.000Z' }
    expect(owed(attend(silenced, FACTS))).to.deep.equal(['open slack,jira'])
  })

  it('new services not more often than every 30 s, all of them then; a rise in severity at once', () => {
    const at = (seconds: number) => ({ ...FACTS, nowMs: NOW_MS + seconds * 1_000 })
    const grown = (incident: TicketedIncident, ...services: string[]) => ({
      ...settleOwed(incident, 99),
      affectedServices: ['checkout', 'payment', ...services],
    })
    let incident = attend<TicketedIncident>(grown(taken(), 'a'), at(1))
    expect(owed(incident)).to.deep.equal(['update slack,jira'])
    incident = attend<TicketedIncident>(grown(incident, 'a', 'b'), at(2))
    expect(owed(incident)).to.deep.equal([])
    expect(incident.ticketing!.attentionAt).to.equal('2026-01-01T01:00:31.000Z')
    const raised = attend({ ...incident, severity: 'critical' as const }, at(3))
    expect(owed(raised)).to.include('update slack,jira')
    incident = attend<TicketedIncident>(grown(incident, 'a', 'b', 'c'), at(31))
    expect(incident.ticketing!.owed!.map(({ news }) => news)).to.deep.equal([['b and c are affected, too.']])
  })

  it('a hundred new services in a sentence that can be read', () => {
    const services = Array.from({ length: 100 }, (_, i) => `s${i}`)
    const [sentence] = describeGrowth({ severity: 'high', affectedServices: services }, { severity: 'high', services: [] })
    expect(sentence).to.match(/^s0, s1, .*s19 and 80 more are affected, too\.$/)
  })

  it('state changes in their order, but none to the target that told of them', () => {
    const incident = oweChange(oweChange(taken(), { action: 'acknowledge', at: NOW, fromTarget: 'jira' }), { action: 'resolve', at: NOW })
    expect(owed(incident)).to.deep.equal(['acknowledge slack,jira', 'resolve slack,jira'])
    expect(incident.ticketing!.owed![0]).to.include({ except: 'jira' })
    expect(incident.ticketing!.owed!.map(({ seq }) => seq)).to.deep.equal([2, 3])
  })

  it('those from before it was taken up come after its opening', () => {
    const early = oweChange<TicketedIncident>({ ...buildIncident(), status: 'acknowledged' }, { action: 'acknowledge', at: NOW })
    expect(owed(attend(early, FACTS))).to.deep.equal(['open slack,jira', 'acknowledge slack,jira'])
  })

  it('an escalation tells those with a ticket, and opens one for others', () => {
    const escalation = { targets: ['pagerduty'], fresh: ['pagerduty'], severity: 'critical' } as const
    const incident = oweChange(taken(), { action: 'escalate', at: NOW, escalation })
    expect(owed(incident)).to.deep.equal(['escalate slack,jira', 'open pagerduty'])
    expect(incident.platforms).to.deep.equal(['slack', 'jira', 'pagerduty'])
  })

  it('growth is an update, and an opening for targets that the new severity brings', () => {
    const grown = attend({ ...taken(), severity: 'critical' as const, affectedServices: ['checkout', 'payment', 'cart'] }, FACTS)
    expect(owed(grown)).to.deep.equal(['update slack,jira', 'open pagerduty'])
    expect(grown.ticketing!.owed![0]!.news).to.deep.equal(['Severity rose from high to critical.', 'cart is affected, too.'])
    expect(owed(attend(settleOwed(grown, 99), FACTS))).to.deep.equal([])
  })

  it('a silence: suppressed rows, nothing more until its end, then an opening', () => {
    const silent = attend<TicketedIncident>(buildIncident(), SILENCED)
    expect(silent.ticketing!.owed![0]).to.include({ event: 'open', quiet: 'silenced: release' })
    expect(silent.ticketing).to.include({ quietBy: 's1', attentionAt: '2026-01-01T02:00:00.000Z' })
    const settled = settleOwed(silent, 99)
    expect(owed(attend({ ...settled, severity: 'critical' as const }, SILENCED))).to.deep.equal([])
    expect(owed(attend(settled, FACTS))).to.deep.equal(['open slack,jira'])
    expect(owed(attend({ ...settled, status: 'acknowledged' as const }, FACTS))).to.deep.equal([])
  })

  it('a silence holds growth back as well, but not state changes', () => {
    expect(owed(attend({ ...taken(), severity: 'critical' as const }, SILENCED))).to.deep.equal([])
    expect(owed(attend(oweChange(taken(), { action: 'resolve', at: NOW }), SILENCED))).to.deep.equal(['resolve slack,jira'])
  })

  it('what holds it back says why, also where that is something else by now', () => {
    const silent = taken({ ...SILENCED, quietRecurring: true }, { recurring: true })
    expect(silent.ticketing).to.include({ quietBy: 's1' })
    expect(owed(attend(silent, SILENCED))).to.deep.equal([])
    const recurring = attend(silent, { ...FACTS, quietRecurring: true })
    expect(recurring.ticketing!.owed!.map(({ event, targets, quiet }) => ({ event, targets, quiet }))).to.deep.equal([
      { event: 'open', targets: ['slack', 'jira'], quiet: 'recurring: nothing new for this service' },
    ])
    expect(recurring.ticketing).to.include({ quietBy: 'recurring' }).and.not.have.property('dispatchedAt')
    const settled = settleOwed(recurring, recurring.ticketing!.seq!)
    expect(owed(attend(settled, { ...FACTS, quietRecurring: true }))).to.deep.equal([])
    expect(owed(attend(settled, FACTS))).to.deep.equal(['open slack,jira'])
  })

  it('who escalates wants people told, silence or not', () => {
    const escalation = { targets: ['slack'], fresh: [], severity: 'critical' } as const
    const incident = oweChange(taken(SILENCED), { action: 'escalate', at: NOW, escalation })
    expect(owed(incident)).to.deep.equal(['escalate slack,jira', 'open slack,jira'])
    expect(incident.ticketing).not.to.have.property('quietBy')
  })

  it('recurring incidents are quiet where that is asked for, until they no longer recur', () => {
    const facts = { ...FACTS, quietRecurring: true }
    const quiet = taken(facts, { recurring: true })
    expect(quiet.ticketing).to.include({ quietBy: 'recurring' })
    expect(owed(attend({ ...quiet, recurring: false }, facts))).to.deep.equal(['open slack,jira'])
    expect(owed(attend<TicketedIncident>(buildIncident({ recurring: true }), FACTS))).to.deep.equal(['open slack,jira'])
  })

  it('automatic escalation counts from a reopening', () => {
    const at = '2026-01-01T03:00:00.000Z'
    expect(oweChange(taken(), { action: 'reopen', at }).ticketing).to.include({ dispatchedAt: at })
  })

  it('at most 50 events wait', () => {
    let incident: TicketedIncident = buildIncident()
    for (let i = 0; i < 200; i++) incident = oweChange(incident, { action: 'reopen', at: NOW })
    expect(incident.ticketing!.owed).to.have.length(50)
    expect(incident.ticketing!.seq).to.equal(200)
  })

  it('growth in words', () => {
    const told = { severity: 'medium', services: ['a'] } as const
    expect(describeGrowth({ severity: 'low', affectedServices: ['a'] }, told)).to.deep.equal([])
    expect(describeGrowth({ severity: 'high', affectedServices: ['a', 'b', 'c', 'd'] }, told)).to.deep.equal([
      'Severity rose from medium to high.',
      'b, c and d are affected, too.',
    ])
  })
})
