import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { TARGET_METRICS } from '../../dataplane/contract/counters.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { createMetrics } from '../../dataplane/telemetry/metrics.ts'
import { createFakeClock, type FakeClock } from '../../dataplane/testing/fake-clock.ts'
import type { AgentCounts } from '../observed/routes/dispatch-counts.ts'
import { TICKETING_ROUTES } from './kinds.ts'
import { createTicketCounts, type TicketCounts } from './ticket-counts.ts'

const ROUND_MS = 15_000

const pod = (name: string, podIP = '10.0.0.7', component = 'ticketing', phase = 'Running'): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    uid: name,
    namespace: 'ns',
    labels: { 'app.kubernetes.io/instance': 'shop', 'app.kubernetes.io/component': component },
  },
  status: { phase, ...(podIP !== '' && { podIP }) },
})
const route = (name: string, target: string, more: { enabled?: boolean; pipelines?: readonly string[] } = {}): KubernetesObject => ({
  apiVersion: 'logpipeline.dev/v1alpha1',
  kind: 'TicketingRoute',
  metadata: { name, namespace: 'ns' },
  spec: { enabled: more.enabled ?? true },
  status: { target, pipelines: more.pipelines ?? ['shop'] },
})

/** As the agent tells it. */
async function metricsOf(counts: Readonly<Record<string, { dispatched?: number; failed?: number; last?: number; failure?: number }>>) {
  const metrics = createMetrics()
  metrics.processMetrics()
  const dispatched = metrics.labelledCounter(TARGET_METRICS.dispatched, ['target'])
  const failed = metrics.labelledCounter(TARGET_METRICS.failed, ['target'])
  const times = (field: 'last' | 'failure') => async () =>
    Object.entries(counts).flatMap(([target, { [field]: at }]) => (at === undefined ? [] : [[target, at] as const]))
  metrics.labelledGauge(TARGET_METRICS.lastDispatch, 'target', times('last'))
  metrics.labelledGauge(TARGET_METRICS.lastFailure, 'target', times('failure'))
  for (const [target, figures] of Object.entries(counts)) {
    if (figures.dispatched !== undefined) dispatched([target], figures.dispatched)
    if (figures.failed !== undefined) failed([target], figures.failed)
  }
  return metrics.text()
}

describe('What ticketing agents have sent', () => {
  let clock: FakeClock
  let pods: KubernetesObject[]
  let routes: KubernetesObject[]
  let asked: string[]
  let news: string[]
  let answers: Record<string, string>
  let counts: TicketCounts
  let hanging: PromiseWithResolvers<string>
  beforeEach(() => {
    hanging = Promise.withResolvers()
    clock = createFakeClock()
    pods = [pod('shop-ticketing-x')]
    routes = [route('chat', 'slack'), route('payments', 'slack:payments')]
    asked = []
    news = []
    answers = {}
    counts = createTicketCounts({
      clock,
      cache: {
        list: ({ kind }) => (kind === TICKETING_ROUTES.kind ? routes : []),
        byIndex: (_resource, _index, key) => (key === 'ns/shop' ? pods : []),
      },
      async get(url) {
        asked.push(url)
        if (url.startsWith('http://10.1.')) return hanging.promise
        const answer = answers[url]
        if (answer === undefined) throw new Error('refused')
        return answer
      },
      onNews: key => void news.push(key),
    })
  })
  afterEach(() => {
    hanging.reject(new Error('the test is over'))
    return counts.stop()
  })

  const METRICS = 'http://10.0.0.7:18081/metrics'
  const INCIDENTS = 'http://10.0.0.7:18081/api/incidents?limit=10'
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  const nextRound = async () => {
    clock.advance(ROUND_MS)
    await settle()
  }
  const seen = (target: string) => counts.of('ns/shop').map(({ targets }: AgentCounts) => targets.get(target))

  it('is read from their metrics, every 15 seconds', async () => {
    answers = { [METRICS]: await metricsOf({ slack: { dispatched: 3, failed: 1, last: 1_767_225_600.5 } }) }
    counts.start()
    await settle()
    expect(seen('slack')).to.deep.equal([{ dispatched: 3, failed: 1, lastDispatchMs: 1_767_225_600_500 }])
    expect(counts.of('ns/shop')[0]).to.deep.include({ pod: 'shop-ticketing-x' })
    expect(counts.of('ns/shop')[0]!.since).to.match(/^20\d\d-.*Z$/)
    await nextRound()
    expect(asked).to.deep.equal([METRICS, METRICS])
  })

  it('is news for the routes of a target that changed, and at first for all, whether or not something was sent', async () => {
    answers = { [METRICS]: await metricsOf({}) }
    counts.start()
    await settle()
    expect(news.splice(0)).to.deep.equal(['ns/chat', 'ns/payments'])
    const started = /process_start_time_seconds \d+/.exec(answers[METRICS]!)![0]
    const changed = (await metricsOf({ 'slack:payments': { dispatched: 1 } })).replace(/process_start_time_seconds \d+/, started)
    await nextRound()
    expect(news).to.deep.equal([])
    answers = { [METRICS]: changed }
    await nextRound()
    await nextRound()
    expect(news).to.deep.equal(['ns/payments'])
  })

  it('is asked of the pod of mode AllInOne too, by an IPv6 address, and of one that is going; of no pod that does not run', async () => {
    const going = pod('shop-2', '10.0.0.9')
    pods = [
      pod('shop-0', 'fd00::7', 'standalone'),
      { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      pod('shop-bridge', '10.0.0.1', 'bridge'),
      pod('shop-3', '10.0.0.3', 'ticketing', 'Pending'),
      pod('shop-4', ''),
    ]
    counts.start()
    await settle()
    expect(asked).to.have.members(['http://[fd00::7]:18081/metrics', 'http://10.0.0.9:18081/metrics'])
  })

  it('is asked of none without a route that is enabled and selected', async () => {
    routes = [route('off', 'slack', { enabled: false }), route('lonely', 'slack', { pipelines: [] })]
    counts.start()
    await settle()
    await nextRound()
    expect(asked).to.deep.equal([])
  })

  it('stays what it was while the agent does not answer, or another program does, and is forgotten with the pod', async () => {
    answers = { [METRICS]: await metricsOf({ slack: { dispatched: 3 } }) }
    counts.start()
    await settle()
    for (const answer of [undefined, '<html>', '{}']) {
      answers = answer === undefined ? {} : { [METRICS]: answer }
      await nextRound()
      expect(seen('slack')).to.deep.equal([{ dispatched: 3, failed: 0 }])
    }
    pods = []
    expect(counts.of('ns/shop')).to.deep.equal([])
  })

  it('is asked of others meanwhile, and not behind them, when pods did not answer the last time', async () => {
    answers = { [METRICS]: await metricsOf({ slack: { dispatched: 3 } }) }
    pods = [...Array.from({ length: 40 }, (_, n) => pod(`hangs-${n}`, `10.1.0.${n}`)), pod('shop-ticketing-x')]
    counts.start()
    for (let times = 0; times < 3; times++) {
      await settle()
      hanging.reject(new Error('no answer in time'))
      hanging = Promise.withResolvers()
    }
    await settle()
    expect(seen('slack')).to.deep.equal([{ dispatched: 3, failed: 0 }])
    answers = { [METRICS]: await metricsOf({ slack: { dispatched: 4 } }) }
    news = []
    await nextRound()
    expect(seen('slack')).to.deep.equal([{ dispatched: 4, failed: 0 }])
    expect(news).to.include('ns/chat')
    hanging.resolve(await metricsOf({ slack: { dispatched: 9 } }))
    await settle()
    expect(seen('slack')).to.have.length(41)
  })

  it('passes over what is no count', async () => {
    const lines = ['{target="a b"} 1', '{target="slack"} -1', '{target="slack"} NaN', '{target="jira"} 1e300', '{target="email"} 2']
    answers = { [METRICS]: lines.map(line => `${TARGET_METRICS.dispatched.name}${line}`).join('\n') }
    counts.start()
    await settle()
    expect([...counts.of('ns/shop')[0]!.targets]).to.deep.equal([['email', { dispatched: 2, failed: 0 }]])
    answers = { [METRICS]: `${await metricsOf({ slack: { dispatched: 1 } })}${TARGET_METRICS.lastDispatch.name}{target="slack"} 9e12\n` }
    await nextRound()
    expect(seen('slack'), 'a time that no calendar has').to.deep.equal([{ dispatched: 1, failed: 0 }])
  })

  it('has the error of a target that fails from the newest incident that was to be told of, asked for once for each failure', async () => {
    const incidents = [{ dispatches: { jira: { lastError: 'other' } } }, { dispatches: { slack: { lastError: 'no_service' } } }, {}]
    const failing = async (failure: number) => ({
      [METRICS]: await metricsOf({ slack: { dispatched: 1, last: 1_000, failure } }),
      [INCIDENTS]: JSON.stringify(incidents),
    })
    answers = await failing(2_000)
    counts.start()
    await settle()
    await nextRound()
    expect(seen('slack')[0]).to.deep.include({ lastError: 'no_service' })
    expect(asked.filter(url => url === INCIDENTS)).to.have.length(1)
    answers = { ...(await failing(3_000)), [INCIDENTS]: 'not JSON' }
    await nextRound()
    expect(seen('slack')[0]).not.to.have.property('lastError')
    answers = await failing(500)
    await nextRound()
    expect(seen('slack')[0]).to.deep.equal({ dispatched: 1, failed: 0, lastDispatchMs: 1_000_000, lastFailureMs: 500_000 })
  })
})
