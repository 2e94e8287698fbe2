import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parse, stringify } from 'yaml'
import { AGENT_RULES } from '../../../operator/desired/service-account.ts'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { loadSettings } from '../../config/environment.ts'
import { qualifiedName, type Resource } from '../../kube/resource.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createKubectl, type Kubectl, until } from '../../testing/cluster/kubectl.ts'
import { createCaller, type HttpCaller } from '../../testing/http-caller.ts'
import { start } from './index.ts'
import { EXTERNAL_SECRETS, externalSecret, FLINK_DEPLOYMENTS, flinkDeployment } from './testing/cluster-objects.ts'

export const needs = ['kubernetes']

describe('The agent on a real API server', function () {
  this.timeout(60_000)
  const dir = mkdtempSync(join(tmpdir(), 'agent-cluster-'))
  const stops: (() => Promise<unknown>)[] = []
  let kubectl: Kubectl
  let namespace: string

  before(async () => {
    kubectl = createKubectl('kubernetes')
    const own = await kubectl.namespace('agent')
    namespace = own.name
    stops.push(() => own.close())
    for (const resource of [EXTERNAL_SECRETS, FLINK_DEPLOYMENTS]) {
      await kubectl.apply(definitionOf(resource))
      stops.push(() => kubectl.remove('crd', qualifiedName(resource)))
      await kubectl.run(['wait', '--for=condition=Established', 'crd', qualifiedName(resource)])
      await until('it is served', async () => (await kubectl.list(qualifiedName(resource), '--all-namespaces')) !== undefined)
    }
    await put(externalSecret('kafka', 'SecretSynced', '2026-01-01T00:00:00Z'))
    await put(flinkDeployment('etl', { jobStatus: { state: 'RUNNING' }, taskManager: { replicas: 2 } }))
    const foreign = externalSecret('other', 'SecretSyncedError')
    await put({ ...foreign, metadata: { ...foreign.metadata, labels: { 'logpipeline.dev/tenant': 'globex' } } })
  })
  after(async () => {
    for (const stop of stops.toReversed()) await stop()
    rmSync(dir, { recursive: true })
  })

  /** With its status, as its controller would. */
  const put = (object: { readonly metadata: object }) => kubectl.apply({ ...object, metadata: { ...object.metadata, namespace } })
  const definitionOf = ({ group, version, kind, plural }: Resource) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
  const account = async (name: string): Promise<string> => {
    await kubectl.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
    const token = (await kubectl.run(['create', 'token', name, '--namespace', namespace])).trim()
    const { clusters } = parse(readFileSync(kubectl.kubeconfig, 'utf8'))
    const context = { cluster: clusters[0].name, user: name, namespace }
    const config = { 'current-context': 'agent', contexts: [{ name: 'agent', context }], clusters, users: [{ name, user: { token } }] }
    const path = join(dir, name)
    writeFileSync(path, stringify(config))
    return path
  }
  /** The rights that the operator grants to its agents. */
  const grant = (name: string) => {
    const metadata = { name, namespace }
    const api = 'rbac.authorization.k8s.io'
    return kubectl.apply(
      { apiVersion: `${api}/v1`, kind: 'Role', metadata, rules: AGENT_RULES },
      {
        apiVersion: `${api}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: api, kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      },
    )
  }
  const agent = async (KUBECONFIG: string): Promise<HttpCaller> => {
    const environment = { HOST: '127.0.0.1', PORT: '0', SERVICE_TENANT_ID: 'acme', SEARCH_ENDPOINT: 'http://127.0.0.1:1', KUBECONFIG }
    const running = await start({ settings: loadSettings('agent', environment), log: SILENT, clock: systemClock })
    stops.push(() => running.stop())
    return createCaller(`http://127.0.0.1:${running.port}`)
  }

  it("shows the tenant's external secrets and Flink jobs, with the rights that the operator grants", async () => {
    const kubeconfig = await account('granted')
    await grant('granted')
    const { get } = await agent(kubeconfig)
    expect((await get('/ready')).body.collectors).to.include({ stream: 'initialized', secrets: 'initialized' })
    const { body } = await get('/metrics')
    expect(body.secrets).to.deep.equal({
      status: 'healthy',
      externalSecrets: [{ name: 'kafka', status: 'SecretSynced', lastSyncTime: '2026-01-01T00:00:00Z' }],
    })
    expect(body.stream.jobs).to.deep.equal([{ name: 'etl', state: 'RUNNING', taskManagers: 2, uptime: '0s' }])
    await put(externalSecret('kafka', 'SecretSyncedError', '2026-01-01T00:00:00Z'))
    await until('the change is seen', async () => (await get('/metrics')).body.secrets.status === 'down')
  })

  it('is not ready without the right to list, and tries again', async () => {
    const { get } = await agent(await account('bare'))
    const collectors = async () => (await get('/ready')).body.collectors
    expect(await collectors()).to.include({ stream: 'error', secrets: 'error' })
    await grant('bare')
    await until('it is ready', async () => Object.values(await collectors()).filter(state => state === 'initialized').length >= 2)
  })
})
