import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isTargetId } from '../../../dataplane/contract/target-id.ts'
import { TICKETING_ROUTE_SPEC, type TicketingRoute } from '../../api/ticketing-route.ts'
import { assignTargets, MAX_TARGETS } from './route-targets.ts'

function route(name: string, spec: object = {}, { age = 0, target }: { age?: number; target?: string } = {}): TicketingRoute {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 10) - age * 1_000).toISOString()
  const whole = { severities: ['critical'], platform: 'slack', credentials: { secret: { name } }, ...spec }
  return {
    apiVersion: 'logpipeline.dev/v1alpha1',
    kind: 'TicketingRoute',
    metadata: { name, namespace: 'ns', creationTimestamp },
    spec: TICKETING_ROUTE_SPEC.parse(whole),
    ...(target === undefined ? {} : { status: { target } }),
  }
}

const assigned = (...routes: readonly TicketingRoute[]) => Object.fromEntries(assignTargets(routes))
/** As the next look finds them, once the status of each is written. */
const told = (...routes: readonly TicketingRoute[]) => {
  const ids = assignTargets(routes)
  return routes.map(one => {
    const target = ids.get(one.metadata.name)
    return target === undefined ? one : { ...one, status: { target } }
  })
}

describe('the target of a TicketingRoute', () => {
  it('is its platform for the oldest, platform and name of the route for others', () => {
    const routes = [route('payments', {}, { age: 1 }), route('chat', {}, { age: 2 }), route('pager', { platform: 'pagerduty' })]
    expect(assigned(...routes)).to.deep.equal({ chat: 'slack', payments: 'slack:payments', pager: 'pagerduty' })
  })

  it('is shared by routes with the same settings and credentials, in whatever order they are written', () => {
    const jira = { platform: 'jira', credentials: { secret: { name: 'jira' }, keys: { apiToken: 'a', webhookSecret: 'b' } } }
    const other = { ...jira, credentials: { ...jira.credentials, keys: { webhookSecret: 'b', apiToken: 'a' } } }
    const routes = [
      route('one', { ...jira, settings: { baseUrl: 'https://a', projectKey: 'OPS' } }),
      route('two', { ...other, severities: ['low'], settings: { projectKey: 'OPS', baseUrl: 'https://a', issueType: '' } }),
      route('three', { ...jira, settings: { baseUrl: 'https://a', projectKey: 'PAY' } }),
    ]
    expect(assigned(...routes)).to.deep.equal({ one: 'jira', two: 'jira', three: 'jira:three' })
  })

  it('stays when an older route goes, changes, is switched off, or comes', () => {
    const [chat, payments] = told(route('chat', {}, { age: 2 }), route('payments', {}, { age: 1 })) as [TicketingRoute, TicketingRoute]
    expect(assigned(payments)).to.deep.equal({ payments: 'slack:payments' })
    expect(assigned({ ...chat, spec: { ...chat.spec, settings: { mention: '@here' } } }, payments).payments).to.equal('slack:payments')
    expect(assigned({ ...chat, spec: { ...chat.spec, enabled: false } }, payments)).to.deep.equal({
      chat: 'slack',
      payments: 'slack:payments',
    })
    expect(assigned(route('restored', {}, { age: 9 }), chat, payments)).to.deep.equal({
      restored: 'slack:restored',
      chat: 'slack',
      payments: 'slack:payments',
    })
  })

  it('stays with the others when the oldest of those that share it goes, and is that of the oldest once two become alike', () => {
    const same = { credentials: { secret: { name: 'same' } } }
    const [, younger] = told(route('a', same, { age: 2 }), route('b', same, { age: 1 }))
    expect(assigned(younger!)).to.deep.equal({ b: 'slack' })
    expect(assigned(route('a', same, { age: 2, target: 'slack' }), route('b', same, { target: 'slack:b' }))).to.deep.equal({
      a: 'slack',
      b: 'slack',
    })
  })

  it('changes for the younger of two that shared it and now differ, or were given it at the same time', () => {
    expect(assigned(route('a', {}, { age: 2, target: 'slack' }), route('b', {}, { age: 1, target: 'slack' }))).to.deep.equal({
      a: 'slack',
      b: 'slack:b',
    })
  })

  it('changes with the platform, and is nothing that a status made up', () => {
    const held = (target: string) => route('a', {}, { target })
    for (const target of ['jira', 'slack:UPPER', 'fax', '']) expect(assigned(held(target)), target).to.deep.equal({ a: 'slack' })
  })

  it('is none for a route that was switched off from the beginning', () => {
    expect(assigned(route('off', { enabled: false }, { age: 3 }), route('on'))).to.deep.equal({ on: 'slack' })
  })

  it('is a name of its own for every name that a route may have', () => {
    const names = ['a', 'a.b', 'a-b', `${'x'.repeat(60)}1`, `${'x'.repeat(60)}2`, 'x'.repeat(40), `a.${'y'.repeat(250)}`]
    const ids = Object.values(assigned(...names.map(name => route(name)), route('taken', {}, { target: 'slack:a-b' })))
    expect(new Set(ids).size).to.equal(names.length + 1)
    for (const id of ids) expect(isTargetId(id), id).to.equal(true)
  })

  it(`is none for those beyond ${MAX_TARGETS}, and older ones keep theirs`, () => {
    const routes = Array.from({ length: MAX_TARGETS + 2 }, (_, n) => route(`r${n}`, {}, { age: 1_000 - n }))
    const ids = assigned(...routes)
    expect(Object.keys(ids)).to.have.length(MAX_TARGETS)
    expect(ids).not.to.have.any.keys(`r${MAX_TARGETS}`, `r${MAX_TARGETS + 1}`)
  })
})
