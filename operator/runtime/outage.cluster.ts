import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { until } from '../../dataplane/testing/cluster/kubectl.ts'
import { killApiServer, restartApiServer } from '../../dataplane/testing/real/kubernetes-server.ts'
import { operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, isOwnCluster, openClusterSuite } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'

export const needs = ['kubernetes']

/** Longer than the longest pause that it makes while nothing answers for so short a time. */
const RECOVERY_MS = 90_000

describe('The operator, when the API server is killed and comes back', function () {
  this.timeout(180_000)
  let suite: ClusterSuite | undefined
  let operator: OperatorProcess
  before(async function () {
    if (!isOwnCluster()) this.skip()
    suite = await openClusterSuite('outage')
    operator = await suite.startOperator()
  })
  after(async () => {
    if (suite === undefined) return
    await restartApiServer('kubernetes')
    await suite.close()
  })

  it('goes on by itself in the middle of its work, lists again what it is too far behind for (410), and loses no change', async () => {
    const { objects, namespace, ready, pipeline } = suite!
    const names = Array.from({ length: 4 }, (_, n) => `busy-${n}`)
    const setPassword = (password: string) =>
      objects.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'turning', namespace }, stringData: { username: 'u', password } })
    await setPassword('1')
    const credentials = { secret: { name: 'turning' } }
    const { inputsHash } = (await ready('calm', { search: { endpoint: 'https://search:9200', credentials } })).status
    const startMs = Date.now()
    await Promise.all(names.map(name => objects.apply(pipeline(name))))
    await until('it is at work', () => operatorWrites(startMs, namespace).length > 10)
    await killApiServer('kubernetes')
    await sleep(1000)
    await restartApiServer('kubernetes')
    // Its watches are still down, or only just up again.
    await setPassword('2')
    await objects.remove('Service', 'calm-collector')
    await objects.patch('LogPipeline', 'busy-0', { spec: { logLevel: 'debug' } })
    // The other controllers of Kubernetes may take longer, so nothing is said of pods.
    for (const name of names) {
      await objects.condition('LogPipeline', name, 'ObjectsApplied', 'True', RECOVERY_MS)
      const isWhole = async () => (await objects.list('Deployment', `app.kubernetes.io/instance=${name}`)).length === 4
      await until(`${name} has its Deployments`, isWhole, RECOVERY_MS)
    }
    await objects.until('the Service is back', 'Service', 'calm-collector', () => true)
    await objects.until('the rotation was seen', 'LogPipeline', 'calm', ({ status }) => status.inputsHash !== inputsHash)
    const [{ env }] = (await objects.get('Deployment', 'busy-0-bridge')).spec.template.spec.containers
    expect(env.find(({ name }: { readonly name: string }) => name === 'LOG_LEVEL')?.value).to.equal('debug')
    expect(operator.child.exitCode).to.equal(null)
    const metrics = await (await fetch(`${operator.url}/metrics`)).text()
    expect(metrics).to.match(/^logpipeline_operator_watch_restarts_total\{.*reason="Expired"\}/m)
  })
})
