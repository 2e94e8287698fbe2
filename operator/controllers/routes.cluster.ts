import { createServer } from 'node:http'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { TARGET_METRICS } from '../../dataplane/contract/counters.ts'
import { PORTS } from '../../dataplane/contract/roles.ts'
import { readyStatus } from '../../dataplane/testing/cluster/fake-kubelet.ts'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorRequests, operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, openClusterSuite } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'

export const needs = ['kubernetes']

/** An address of this machine that no other server uses. */
const AGENT_ADDRESS = '127.18.81.7'

interface AgentCounters {
  readonly dispatched: number
  readonly failed: number
  /** Seconds since the epoch. */
  readonly last: number
  readonly failure?: number
  readonly since?: number
}

/** Plays the ticketing agent of a pod. */
async function startAgent() {
  const asked: number[] = []
  const agent = { asked, counts: undefined as AgentCounters | undefined, close: async () => {} }
  const server = createServer(({ url }, response) => {
    if (url === '/metrics') {
      asked.push(Date.now())
      response.end(metricsText(agent.counts))
    } else response.end(JSON.stringify([{ dispatches: { pagerduty: { lastError: 'no_service' } } }]))
  })
  await new Promise<void>(resolve => server.listen(PORTS.ticketing, AGENT_ADDRESS, resolve))
  agent.close = () => new Promise(resolve => server.close(() => resolve()))
  return agent
}

function metricsText(counts: AgentCounters | undefined): string {
  const { dispatched, failed, lastDispatch, lastFailure } = TARGET_METRICS
  const values = [
    [dispatched.name, counts?.dispatched],
    [failed.name, counts?.failed],
    [lastDispatch.name, counts?.last],
    [lastFailure.name, counts?.failure],
  ] as const
  const lines = values.flatMap(([name, value]) => (value === undefined ? [] : [`${name}{target="pagerduty"} ${value}`]))
  return [`process_start_time_seconds ${counts?.since ?? 1_767_225_000}`, ...lines, ''].join('\n')
}

describe('TicketingRoutes on a real API server', function () {
  this.timeout(180_000)
  let suite: ClusterSuite
  const operators: OperatorProcess[] = []
  before(async () => {
    suite = await openClusterSuite('routes')
    operators.push(await suite.startOperator())
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

  it('to one platform with different settings are several targets, whose ids stay when the oldest goes', async () => {
    const { objects } = suite
    const slack = (name: string, from: string) =>
      route(name, { platform: 'slack', credentials: { secret: { name: from } } }, { team: 'shop' })
    for (const name of ['chat-1', 'chat-2']) await secret(name, { webhookUrl: `https://hooks.example/${name}` })
    const target = (name: string, id: string) =>
      objects.until(`the target of ${name} is ${id}`, 'TicketingRoute', name, ({ status }) => status?.target === id)
    await objects.apply(slack('chat', 'chat-1'))
    await target('chat', 'slack')
    await objects.apply(slack('payments', 'chat-2'))
    await target('payments', 'slack:payments')
    await objects.apply(slack('alike', 'chat-2'))
    for (const name of ['payments', 'alike']) {
      await target(name, 'slack:payments')
      await objects.condition('TicketingRoute', name, 'Ready', 'Ready')
    }
    await until('both are declared', async () => (await declared('shop')).platforms['slack:payments'] !== undefined)
    const copied = (await objects.get('Secret', 'shop-declared'))!['data']
    expect(atob(copied['slack.webhookUrl'])).to.equal('https://hooks.example/chat-1')
    expect(atob(copied['slack.payments.webhookUrl'])).to.equal('https://hooks.example/chat-2')
    await objects.remove('TicketingRoute', 'chat')
    await until('the first is gone', async () => (await declared('shop')).platforms.slack === undefined)
    const { platforms, routes } = await declared('shop')
    expect(platforms['slack:payments'].owner).to.equal(`${suite.namespace}/payments`)
    expect(routes.map(({ platform }: ClusterObject) => platform)).to.include('slack:payments')
    expect((await objects.get('TicketingRoute', 'payments'))!['status'].target).to.equal('slack:payments')
  })

  it('tell what was sent, as the pods of ticketing count it, also when the operator or a pod begins anew', async () => {
    const { objects, kubelet, namespace } = suite
    const counted = (status: ClusterObject) => [status['dispatched'], status['failed']]
    const has = (figures: readonly number[]) =>
      objects.until(
        `the counts are ${figures}`,
        'TicketingRoute',
        'sent',
        ({ status }) => String(counted(status)) === String(figures),
        90_000,
      )
    await objects.apply(route('sent', {}, { team: 'sent' }))
    kubelet.fate = pod => ({
      ...readyStatus(pod),
      ...(pod.metadata.name.startsWith('sent-ticketing-') && { podIP: AGENT_ADDRESS, podIPs: [{ ip: AGENT_ADDRESS }] }),
    })
    const agent = await startAgent()
    try {
      await suite.ready('sent', { ticketing: { routeSelector: { matchLabels: { team: 'sent' } } } })
      await objects.condition('TicketingRoute', 'sent', 'Dispatching', 'NothingToSend', 60_000)
      agent.counts = { dispatched: 3, failed: 1, last: 1_767_225_600 }
      const { status } = await has([3, 1])
      expect(status.lastDispatchTime).to.equal('2026-01-01T00:00:00Z')
      expect(conditionOf({ status }, 'Dispatching')).to.include({ status: 'True', reason: 'Sent' })
      const startMs = Date.now()
      for (const operator of operators) await operator.stop('SIGKILL')
      operators.push(await suite.startOperator())
      await until('the new operator has asked twice', async () => agent.asked.filter(atMs => atMs > startMs).length >= 2, 60_000)
      expect(operatorWrites(startMs, namespace)).to.deep.equal([])
      agent.counts = { dispatched: 2, failed: 0, last: 1_767_225_700, since: 1_767_225_650 }
      await has([5, 1])
      agent.counts = { ...agent.counts, failure: 1_767_225_800 }
      const failing = await objects.condition('TicketingRoute', 'sent', 'Dispatching', 'Failing', 60_000)
      expect(conditionOf(failing, 'Dispatching').message).to.equal('the last attempt to tell pagerduty failed: no_service')
      expect(conditionOf(failing, 'Ready').status).to.equal('True')
    } finally {
      kubelet.fate = readyStatus
      await agent.close()
    }
  })

  it('have their credentials copied into a Secret of the pipeline, which changes with them alone, and goes with the last of them', async () => {
    const { objects, namespace } = suite
    const copied = async () => (await objects.get('Secret', 'copies-declared'))?.data?.['pagerduty.copied.routingKey']
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
    await objects.patch('Secret', 'copies-declared', { data: { 'pagerduty.copied.routingKey': btoa('foreign') } })
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
    expect(toldMs - appliedMs, 'milliseconds after the last').to.be.below(60_000)
  })
})
