import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { TargetId } from '../../contract/target-id.ts'
import { type RoutedIncident, type RoutingRules, routeEscalation, routeIncident, whyNobody } from './routing.ts'

const INCIDENT: RoutedIncident = { service: 'checkout', affectedServices: ['checkout', 'payment'], severity: 'high' }
const NONE = { critical: [], high: [], medium: [], low: [] }

function rules(over: Partial<RoutingRules> & { readonly off?: readonly TargetId[] } = {}): RoutingRules {
  const ids: readonly TargetId[] = ['slack', 'slack:payments', 'jira', 'pagerduty', 'email']
  return {
    targets: new Map(ids.map(id => [id, { enabled: !over.off?.includes(id) }])),
    routing: { ...NONE, high: ['slack', 'jira'], critical: ['pagerduty', 'slack'] },
    declaredRoutes: [],
    ...over,
  }
}

describe('routing', () => {
  it('goes by severity, in the order of the configuration', () => {
    expect(routeIncident(rules(), INCIDENT)).to.deep.equal(['slack', 'jira'])
    expect(routeIncident(rules(), { ...INCIDENT, severity: 'low' })).to.deep.equal([])
  })

  it('ignores targets that are switched off or not configured, and names each once', () => {
    const routing = { ...NONE, high: ['slack', 'opsgenie', 'slack', 'jira', 'slack:payments'] as const }
    expect(routeIncident(rules({ routing, off: ['jira'] }), INCIDENT)).to.deep.equal(['slack', 'slack:payments'])
  })

  it('says why an incident goes to nobody', () => {
    expect(whyNobody(rules(), INCIDENT)).to.equal(undefined)
    expect(whyNobody(rules(), { ...INCIDENT, severity: 'low' })).to.equal('nothing is routed for severity low')
    const routing = { ...NONE, high: ['slack', 'opsgenie', 'jira'] as const }
    expect(whyNobody(rules({ routing, off: ['slack', 'jira'] }), INCIDENT)).to.equal(
      'slack is switched off, opsgenie is not configured and jira is switched off',
    )
    const many = Array.from({ length: 12 }, (_, n) => `slack:${n}` as const)
    expect(whyNobody(rules({ routing: { ...NONE, high: many } }), INCIDENT)).to.match(
      /^slack:0 is not.*slack:9 is not configured and 2 more$/,
    )
  })

  it('goes to targets that cannot be used at present, such as one whose secret cannot be read: they are tried again', () => {
    const unusable = new Map([['opsgenie', 'no key'] as const])
    const routing = { ...NONE, high: ['opsgenie'] as const }
    expect(routeIncident(rules({ routing, unusable }), INCIDENT)).to.deep.equal(['opsgenie'])
  })

  it('a severity that the declared layer has routes for uses these, others stay', () => {
    const declaredRoutes = [{ platform: 'email' as const, severities: ['high' as const], escalation: false }]
    expect(routeIncident(rules({ declaredRoutes }), INCIDENT)).to.deep.equal(['email'])
    expect(routeIncident(rules({ declaredRoutes }), INCIDENT, 'critical')).to.deep.equal(['pagerduty', 'slack'])
  })

  it('a declared route with services is for incidents that affect one of them', () => {
    const route = { platform: 'email' as const, severities: ['high' as const], escalation: false }
    expect(routeIncident(rules({ declaredRoutes: [{ ...route, services: ['pay*', 'checkout'] }] }), INCIDENT)).to.deep.equal(['email'])
    const everybody = { ...route, platform: 'pagerduty' as const }
    expect(routeIncident(rules({ declaredRoutes: [everybody, { ...route, services: ['cart'] }] }), INCIDENT)).to.deep.equal(['pagerduty'])
  })

  it('services that no declared route is for go by the configured routing: a route of one team silences no other', () => {
    const declaredRoutes = [{ platform: 'email' as const, severities: ['high' as const], services: ['cart'], escalation: false }]
    expect(routeIncident(rules({ declaredRoutes }), INCIDENT)).to.deep.equal(['slack', 'jira'])
    expect(routeEscalation(rules({ declaredRoutes }), INCIDENT, 'high')).to.deep.equal(['slack', 'jira'])
    const ofCart = { ...INCIDENT, service: 'cart', affectedServices: ['cart'] }
    expect(routeIncident(rules({ declaredRoutes }), ofCart)).to.deep.equal(['email'])
  })

  it('an incident of several services goes to the targets of each: a service that is affected later takes none away', () => {
    const declaredRoutes = [{ platform: 'email' as const, severities: ['high' as const], services: ['payment'], escalation: false }]
    const ofCheckout = { ...INCIDENT, affectedServices: ['checkout'] }
    expect(routeIncident(rules({ declaredRoutes }), ofCheckout)).to.deep.equal(['slack', 'jira'])
    expect(routeIncident(rules({ declaredRoutes }), INCIDENT)).to.deep.equal(['slack', 'jira', 'email'])
    const everybody = { platform: 'pagerduty' as const, severities: ['high' as const], escalation: false }
    expect(routeIncident(rules({ declaredRoutes: [...declaredRoutes, everybody] }), INCIDENT)).to.deep.equal(['email', 'pagerduty'])
  })

  it('a declared route for escalations is used on escalate only', () => {
    const declaredRoutes = [{ platform: 'email' as const, severities: ['high' as const], escalation: true }]
    expect(routeIncident(rules({ declaredRoutes }), INCIDENT)).to.deep.equal(['slack', 'jira'])
    expect(routeEscalation(rules({ declaredRoutes }), INCIDENT, 'high')).to.deep.equal(['slack', 'jira', 'email'])
  })
})
