import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { TargetId } from '../../contract/target-id.ts'
import { planEscalation } from './escalation.ts'
import type { RoutedIncident, RoutingRules } from './routing.ts'

const INCIDENT: RoutedIncident = { service: 'checkout', affectedServices: ['checkout'], severity: 'high' }
const IDS: readonly TargetId[] = ['slack', 'jira', 'pagerduty', 'email']
const RULES: RoutingRules = {
  targets: new Map(IDS.map(id => [id, { enabled: true }])),
  routing: { critical: ['pagerduty', 'slack'], high: ['slack', 'jira'], medium: ['slack'], low: [] },
  declaredRoutes: [],
}

describe('escalation', () => {
  it('goes to those routed for the next severity up and not notified yet', () => {
    expect(planEscalation(RULES, INCIDENT, ['slack', 'jira'])).to.deep.equal({
      targets: ['pagerduty'],
      fresh: ['pagerduty'],
      severity: 'critical',
    })
  })

  it('when that is none, to its own again at critical', () => {
    const again = { targets: ['slack', 'pagerduty'], fresh: [], severity: 'critical' }
    expect(planEscalation(RULES, INCIDENT, ['slack', 'pagerduty'])).to.deep.equal(again)
    expect(planEscalation(RULES, { ...INCIDENT, severity: 'critical' }, ['slack', 'pagerduty'])).to.deep.equal(again)
  })

  it('declared routes for escalations count for their own severity', () => {
    const declaredRoutes = [{ platform: 'email' as const, severities: ['high' as const], escalation: true }]
    expect(planEscalation({ ...RULES, declaredRoutes }, INCIDENT, ['slack', 'jira']).targets).to.deep.equal(['pagerduty', 'email'])
    const critical = [{ ...declaredRoutes[0]!, severities: ['critical' as const] }]
    expect(planEscalation({ ...RULES, declaredRoutes: critical }, { ...INCIDENT, severity: 'critical' }, ['slack']).targets).to.deep.equal([
      'email',
    ])
  })

  it('of an incident that nobody was told of, to those that it is routed to by now', () => {
    const told = { targets: ['pagerduty', 'slack'], fresh: ['pagerduty', 'slack'], severity: 'critical' }
    expect(planEscalation(RULES, { ...INCIDENT, severity: 'critical' }, [])).to.deep.equal(told)
  })

  it('without any target that is configured, to nobody', () => {
    expect(planEscalation({ ...RULES, targets: new Map() }, INCIDENT, ['slack']).targets).to.deep.equal([])
    expect(planEscalation({ ...RULES, targets: new Map() }, INCIDENT, []).targets).to.deep.equal([])
  })
})
