import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildMatrix, changeRoute, changeRoutes, declaredOwners, untoldSeverities } from './routing-matrix.ts'

const platforms = { slack: { enabled: true }, jira: { enabled: false } }
const route = { owner: 'ops/night', platform: 'pagerduty', severities: ['critical'], escalation: false } as const

describe('the routing matrix', () => {
  it('has a row for each target that is configured or routed, with why nothing is sent there', () => {
    const rows = buildMatrix({ platforms, routing: { critical: ['slack', 'email:ops'], low: ['jira'] } })
    expect(rows.map(({ target, problem }) => [target, problem])).to.deep.equal([
      ['email:ops', 'not configured'],
      ['jira', 'switched off'],
      ['slack', undefined],
    ])
    expect(rows[2]!.cells.critical).to.deep.equal({ isRouted: true })
    expect(rows[2]!.cells.low).to.deep.equal({ isRouted: false })
    expect(untoldSeverities(rows)).to.deep.equal(['high', 'medium', 'low'])
  })

  it('a severity that a declared route owns is not to be changed here, whatever the target', () => {
    const source = { platforms: { ...platforms, pagerduty: { enabled: true } }, routing: { critical: ['pagerduty'], high: ['slack'] } }
    const rows = buildMatrix({ ...source, declared: { routes: [route] } })
    const cells = Object.fromEntries(rows.map(({ target, cells }) => [target, cells]))
    expect(cells['pagerduty']!.critical).to.deep.equal({ isRouted: true, owner: 'ops/night' })
    expect(cells['slack']!.critical).to.deep.equal({ isRouted: false, owner: 'ops/night' })
    expect(cells['slack']!.high).to.deep.equal({ isRouted: true })
    expect(declaredOwners([route]).get('critical')).to.deep.equal(['ops/night'])
  })

  it('says of a configured target that routes of some services leave it all others', () => {
    const routes = [{ ...route, services: ['pay-*'] }]
    const rows = buildMatrix({ platforms: {}, routing: { critical: ['slack', 'pagerduty'] }, declared: { routes } })
    expect(rows.map(({ target, cells }) => [target, cells.critical])).to.deep.equal([
      ['pagerduty', { isRouted: true, owner: 'ops/night', note: 'services pay-* (ops/night)' }],
      ['slack', { isRouted: true, owner: 'ops/night', note: 'all other services' }],
    ])
  })

  it('a route for escalations alone owns nothing, and is said', () => {
    const routes = [{ ...route, escalation: true, services: ['pay-*'] }]
    const [row] = buildMatrix({ platforms: { pagerduty: {} }, routing: {}, declared: { routes } })
    expect(row!.cells.critical).to.deep.equal({ isRouted: false, note: 'on escalate, services pay-* (ops/night)' })
  })

  it('clicks that follow each other all count', () => {
    const change = (target: string, isRouted: boolean, severity: 'high' | 'low' = 'high') => ({ severity, target, isRouted })
    const changes = [change('slack', true), change('email', true), change('slack', false), change('jira', true, 'low')]
    expect(changeRoutes({ high: ['jira'] }, changes)).to.deep.equal({ high: ['jira', 'email'], low: ['jira'] })
    expect(changeRoutes({ high: ['jira'] }, [])).to.deep.equal({ high: ['jira'] })
  })

  it('one click changes one severity', () => {
    const change = { severity: 'high', target: 'slack' } as const
    expect(changeRoute({ high: ['slack', 'jira'] }, { ...change, isRouted: false })).to.deep.equal({ high: ['jira'] })
    expect(changeRoute({ high: ['jira'] }, { ...change, isRouted: true })).to.deep.equal({ high: ['jira', 'slack'] })
    expect(changeRoute({}, { ...change, isRouted: true })).to.deep.equal({ high: ['slack'] })
  })
})
