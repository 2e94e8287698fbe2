import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorRequests, operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, openClusterSuite } from '../testing/cluster-suite.ts'

export const needs = ['kubernetes']

describe('TicketingRoutes on a real API server', function () {
  this.timeout(180_000)
  let suite: ClusterSuite
  before(async () => {
    suite = await openClusterSuite('routes')
    await suite.startOperator()
    await secret('pagerduty', { routingKey: 'k' })
  })
  after(() => suite.close())

  const secret = (name: string, stringData: object) =>
    suite.objects.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: suite.namespace }, stringData })
  const route = (name: string, spec: object = {}, labels: object = {}) => {
    const credentials = { secret: { name: 'pagerduty' } }
    return {
      ...{ apiVersion: 'logpipeline.dev/v1alpha1', kind: 'TicketingRoute', metadata: { name, namespace: suite.namespace, labels } },
      spec: { severities: ['critical'], platform: 'pagerduty', credentials, ...spec },
    }
  }
  const declared = async (pipeline: string): Promise<ClusterObject> => {
    const { data } = await suite.objects.get('ConfigMap', `${pipeline}-ticketing`)
    return JSON.parse(Object.values(data)[0] as string)
  }

  it('have a status also when no pipeline selects them; Ready and named once one does', async () => {
    const { objects } = suite
    await objects.apply(route('early', {}, { team: 'shop' }))
    const alone = await objects.condition('TicketingRoute', 'early', 'Ready', 'NotSelected')
    expect(conditionOf(alone, 'Ready').status).to.equal('True')
    expect(alone.status).to.deep.include({ observedGeneration: 1, pipelines: [] })
    await suite.ready('shop', { ticketing: { routeSelector: { matchLabels: { team: 'shop' } } } })
    const { status } = await objects.condition('TicketingRoute', 'early', 'Ready', 'Ready')
    expect(status.pipelines).to.deep.equal(['shop'])
    for (const { type, observedGeneration } of status.conditions) expect(observedGeneration, type).to.equal(1)
    expect((await declared('shop')).routes).to.have.length(1)
    await objects.apply(route('elsewhere', {}, { team: 'other' }))
    await objects.condition('TicketingRoute', 'elsewhere', 'Ready', 'NotSelected')
    await objects.apply(route('early', { enabled: false }, { team: 'shop' }))
    await objects.condition('TicketingRoute', 'early', 'Ready', 'Disabled')
    await until('it no longer counts', async () => (await declared('shop')).routes.length === 0)
  })

  it('say what their credentials lack, and go on when it is there', async () => {
    const { objects } = suite
    const jira = { platform: 'jira', settings: { baseUrl: 'https://shop.example', userEmail: 'a@shop.example', projectKey: 'OPS' } }
    await objects.apply(route('lacking', { ...jira, credentials: { secret: { name: 'jira' } } }, { team: 'shop' }))
    const missing = await objects.condition('TicketingRoute', 'lacking', 'CredentialsReady', 'MissingSecret')
    expect(conditionOf(missing, 'CredentialsReady').message).to.equal('spec.credentials.secret.name: expected a Secret jira, found none')
    expect(conditionOf(missing, 'Ready')).to.include({ status: 'False', reason: 'MissingSecret' })
    await secret('jira', { password: 'x' })
    const invalid = await objects.condition('TicketingRoute', 'lacking', 'CredentialsReady', 'InvalidSecret')
    expect(conditionOf(invalid, 'CredentialsReady').message).to.contain('expected key apiToken')
    await secret('jira', { apiToken: 't' })
    await objects.condition('TicketingRoute', 'lacking', 'Ready', 'True')
    await until('it counts', async () => (await declared('shop')).platforms.jira !== undefined)
    const gone = await objects.get('LogPipeline', 'shop')
    expect(conditionOf(gone, 'Stalled').status, 'no route stalls a pipeline').to.equal('False')
  })

  it('that contradict each other: the older wins, the younger is told and comes after it', async () => {
    const { objects } = suite
    const slack = (name: string, from: string) =>
      route(name, { platform: 'slack', credentials: { secret: { name: from } } }, { team: 'shop' })
    for (const name of ['chat-1', 'chat-2']) await secret(name, { webhookUrl: 'https://hooks.example/x' })
    // Of the same second the first by name would win.
    await objects.apply(slack('z-older', 'chat-1'))
    await objects.condition('TicketingRoute', 'z-older', 'Ready', 'Ready')
    await until('a second has passed', async () => {
      const { metadata } = await objects.get('TicketingRoute', 'z-older')
      return Date.now() - Date.parse(metadata.creationTimestamp) > 1500
    })
    await objects.apply(slack('a-younger', 'chat-2'))
    const told = await objects.condition('TicketingRoute', 'a-younger', 'Accepted', 'Conflict')
    expect(conditionOf(told, 'Accepted').message).to.contain(
      'expected as in the older TicketingRoute z-older, which LogPipeline shop uses for slack',
    )
    expect(conditionOf(told, 'Ready')).to.include({ status: 'False', reason: 'Conflict' })
    await objects.condition('TicketingRoute', 'z-older', 'Accepted', 'True')
    expect((await declared('shop')).platforms.slack.owner).to.equal(`${suite.namespace}/z-older`)
    await objects.remove('TicketingRoute', 'z-older')
    await objects.condition('TicketingRoute', 'a-younger', 'Ready', 'Ready')
    await until('it comes after it', async () => (await declared('shop')).platforms.slack?.owner === `${suite.namespace}/a-younger`)
  })

  it('have their credentials copied into a Secret of the pipeline, which changes with them alone, and goes with the last of them', async () => {
    const { objects, namespace } = suite
    const copied = async () => (await objects.get('Secret', 'copies-declared'))?.data?.['pagerduty.routingKey']
    const written = (sinceMs: number) => operatorWrites(sinceMs, namespace).filter(write => write.includes('copies-'))
    await secret('copied', { routingKey: 'old' })
    await objects.apply(route('copied', { credentials: { secret: { name: 'copied' } } }, { team: 'copies' }))
    await suite.ready('copies', { ticketing: { routeSelector: { matchLabels: { team: 'copies' } } } })
    await until('it is copied', async () => (await copied()) === btoa('old'))
    const startMs = Date.now()
    await secret('copied', { routingKey: 'new' })
    await until('it is copied anew', async () => (await copied()) === btoa('new'))
    await objects.apply({ ...route('copied', { credentials: { secret: { name: 'copied' } }, severities: ['high'] }, { team: 'copies' }) })
    await until('the route is told', async () => (await declared('copies')).routes[0].severities[0] === 'high')
    expect(written(startMs)).to.deep.equal(['patch secrets copies-declared 200', 'patch configmaps copies-ticketing 200'])
    await objects.patch('Secret', 'copies-declared', { data: { 'pagerduty.routingKey': btoa('foreign') } })
    await until('it is put back', async () => (await copied()) === btoa('new'))
    await objects.remove('TicketingRoute', 'copied')
    await until('it is gone', async () => (await objects.get('Secret', 'copies-declared')) === undefined)
  })

  it('may be 500 in one namespace: each is told once, and nothing restarts for them', async () => {
    const { objects, namespace } = suite
    await suite.ready('crowd', { ticketing: { routeSelector: { matchLabels: { team: 'crowd' } } } })
    const names = Array.from({ length: 500 }, (_, n) => `crowd-${n}`)
    const startMs = Date.now()
    for (let at = 0; at < names.length; at += 25)
      await Promise.all(names.slice(at, at + 25).map(name => objects.apply(route(name, { services: [`${name}*`] }, { team: 'crowd' }))))
    const appliedMs = Date.now() - startMs
    await until('all are told', async () => {
      const routes = await objects.list('TicketingRoute', 'team=crowd')
      return routes.length === 500 && routes.every(one => conditionOf(one, 'Ready')?.reason === 'Ready')
    })
    const toldMs = Date.now() - startMs
    await until('all count', async () => (await declared('crowd')).routes.length === 500)
    await objects.condition('LogPipeline', 'crowd', 'Ready', 'True')
    const requests = operatorRequests(startMs).filter(request => request.namespace === namespace)
    const statuses = requests.filter(({ resource }) => resource === 'ticketingroutes/status')
    expect(statuses).to.have.length(500)
    const rollouts = requests.filter(({ resource, name }) => resource === 'deployments' && name === 'crowd-ticketing')
    expect(rollouts).to.deep.equal([])
    expect(toldMs - appliedMs, 'milliseconds after the last').to.be.below(30_000)
  })
})
