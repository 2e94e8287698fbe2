import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import type { HttpServer } from '../../dataplane/http/server.ts'
import { createFakeClock } from '../../dataplane/testing/fake-clock.ts'
import { startHealthServer } from './health-server.ts'
import { createOperatorMetrics } from './operator-metrics.ts'
import { WorkQueue } from './work-queue.ts'

describe('Health and metrics of the operator', () => {
  let server: HttpServer
  afterEach(() => server.stop(0))

  const start = async (problem?: string) => {
    const metrics = createOperatorMetrics()
    const checks = { live: { workers: () => undefined }, ready: { cache: () => problem } }
    server = await startHealthServer({ host: '127.0.0.1', port: 0, setting: 'PORT' }, { ...checks, metrics })
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
      return { status: response.status, text: await response.text() }
    }
    return { metrics, get }
  }

  it('tells liveness and readiness apart', async () => {
    const { get } = await start('configmaps: not listed yet')
    expect(await get('/healthz')).to.deep.equal({ status: 200, text: '[+]workers ok\n' })
    expect(await get('/readyz')).to.deep.equal({ status: 503, text: '[-]cache failed: configmaps: not listed yet\n' })
    expect(await get('/health')).to.deep.equal({ status: 200, text: '{"status":"ok"}' })
    expect((await get('/')).status).to.equal(404)
  })

  it("has controller-runtime's and client-go's metrics under their names", async () => {
    const { metrics, get } = await start()
    const clock = createFakeClock()
    const { observer, attach } = metrics.queue('logpipeline')
    const queue = new WorkQueue({ clock, random: () => 0, observer })
    attach(queue)
    queue.add('a')
    queue.add('b')
    await queue.take()
    clock.advance(2000)
    const controller = metrics.controller('logpipeline', 4)
    controller.onReconcile('error', 20)
    controller.onActive(1)
    metrics.request('patch', 'kubernetes:443', 200, 12)
    metrics.leads('operator', true)
    metrics.written('apply', 'Deployment')
    metrics.gauge('logpipeline_operator_pipelines', 'Pipelines by state', 'ready', () => [['true', 3]])
    const { text } = await get('/metrics')
    for (const line of [
      'workqueue_depth{name="logpipeline",controller="logpipeline"} 1',
      'workqueue_adds_total{name="logpipeline",controller="logpipeline"} 2',
      'workqueue_longest_running_processor_seconds{name="logpipeline",controller="logpipeline"} 2',
      'controller_runtime_reconcile_total{controller="logpipeline",result="error"} 1',
      'controller_runtime_reconcile_total{controller="logpipeline",result="success"} 0',
      'controller_runtime_reconcile_errors_total{controller="logpipeline"} 1',
      'controller_runtime_active_workers{controller="logpipeline"} 1',
      'controller_runtime_max_concurrent_reconciles{controller="logpipeline"} 4',
      'rest_client_requests_total{code="200",method="PATCH",host="kubernetes:443"} 1',
      'leader_election_master_status{name="operator"} 1',
      'logpipeline_operator_writes_total{verb="apply",kind="Deployment"} 1',
      'logpipeline_operator_pipelines{ready="true"} 3',
    ])
      expect(text).to.contain(line)
  })
})
