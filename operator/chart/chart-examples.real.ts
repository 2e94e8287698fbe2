/** The examples of the chart in the hands of kubectl, kustomize and Argo CD's Lua. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { run } from '../../dataplane/testing/real/go-tools.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { routeStatus } from '../observed/routes/route-status.ts'
import { MAX_TARGETS } from '../observed/routes/route-targets.ts'
import { gatheredFrom } from '../observed/testing/gathered-from.ts'
import { DISTRIBUTED, NOW, pipelineObject, running, SPEC, statusOf } from '../observed/testing/status-of.ts'
import { argoHealth } from './testing/argo-health.ts'
import { BUILD_LIMIT_MS, type Conformance, kubectlOrSkip, startConformance, toolOrSkip } from './testing/chart-conformance.ts'
import { EXAMPLES, exampleFiles, parseObjects, readExample } from './testing/chart-examples.ts'

const folder = (path: string) => join(fileURLToPath(EXAMPLES), path)

describe('The examples of the chart', function () {
  this.timeout(60_000)
  let conformance: Conformance | undefined
  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 30_000)
    conformance = await startConformance(this)
  })
  after(() => conformance?.close())

  it('are objects that Kubernetes knows', async () => {
    const objects = exampleFiles()
      .filter(path => !path.startsWith('kustomize/'))
      .flatMap(readExample)
    expect(await conformance!.problems(objects.map(object => JSON.stringify(object)).join('\n---\n'))).to.deep.equal([])
  })

  it('make kustomize build a pipeline that follows the Secrets that it generates', async function () {
    const kubectl = await kubectlOrSkip(this)
    const output = await run(kubectl, ['kustomize', folder('kustomize/pipeline/overlays/production')])
    expect(await conformance!.problems(output)).to.deep.equal([])
    const objects = parseObjects(output)
    const secrets = objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name)
    const others = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))
    expect(secrets).to.have.length(2)
    for (const name of secrets) expect(others).to.contain(`"name":"${name}"`)
  })

  for (const path of ['kustomize/pipeline/base', 'flux/operator'])
    it(`make kustomize build ${path}`, async function () {
      const output = await run(await kubectlOrSkip(this), ['kustomize', folder(path)])
      expect(await conformance!.problems(output)).to.deep.equal([])
    })

  it('make kustomize build the operator from the chart', async function () {
    this.timeout(BUILD_LIMIT_MS + 60_000)
    const kubectl = await kubectlOrSkip(this)
    const helm = await toolOrSkip(this, 'helm3')
    const args = ['--enable-helm', '--helm-command', helm, '--load-restrictor', 'LoadRestrictionsNone']
    const output = await run(kubectl, ['kustomize', folder('kustomize/operator'), ...args])
    expect(await conformance!.problems(output)).to.deep.equal([])
    expect(output).to.match(/image: registry\.example\.com\/logpipeline:/)
  })
})

const RUNNING = running(DISTRIBUTED)
const PIPELINE = pipelineObject(SPEC)
const UNREADABLE = pipelineObject({ ...SPEC, search: { ...SPEC.search, credentials: { secret: { name: 'none' } } } })

const withStatus = (pipeline: KubernetesObject, ...others: readonly KubernetesObject[]) => ({
  ...pipeline,
  status: statusOf([pipeline, ...others]),
})

const route = (name: string, spec: object = {}, created = '2026-01-01T00:00:00Z'): KubernetesObject => ({
  apiVersion: 'logpipeline.dev/v1alpha1',
  kind: 'TicketingRoute',
  metadata: { name, namespace: 'ns', generation: 1, creationTimestamp: created },
  spec: { severities: ['low'], platform: 'slack', credentials: { externalSecret: { name: 'chat' } }, ...spec },
})

/** The first of the routes, as it is told. */
function routeWithStatus(routes: readonly KubernetesObject[], pipelines: readonly LogPipeline[], others: readonly KubernetesObject[] = []) {
  const read = gatheredFrom([PIPELINE, ...routes, ...others])
  const [first] = read.routes as readonly [TicketingRoute]
  return { ...first, status: routeStatus({ route: first, pipelines, read, agentsOf: () => [], isThere: () => false, now: NOW }) }
}

const SELECTING = gatheredFrom([PIPELINE]).pipeline
const CHAT: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'chat', namespace: 'ns' }, data: { webhookUrl: 'aHR0cHM6Ly9hLmV4YW1wbGU=' } },
]
const EXTERNAL = { apiVersion: 'external-secrets.io/v1', kind: 'ExternalSecret' }
const BY_SECRET = { credentials: { secret: { name: 'chat' } } }
const OLDER = Array.from({ length: MAX_TARGETS }, (_, n) =>
  route(`older-${n}`, { platform: 'jira', settings: { baseUrl: `https://${n}`, userEmail: 'a@b' } }, '2025-01-01T00:00:00Z'),
)
const YOUNGER = route('younger', { platform: 'jira', settings: { baseUrl: 'https://b', userEmail: 'a@b' } })

const HEALTH: readonly (readonly [title: string, object: object, status: string, message: RegExp])[] = [
  ['a LogPipeline that nobody has seen yet', PIPELINE, 'Progressing', /Waiting for the operator/],
  ['a LogPipeline that is ready', withStatus(PIPELINE, ...RUNNING), 'Healthy', /^Ready: /],
  ['a LogPipeline that rolls out', withStatus(PIPELINE), 'Progressing', /./],
  ['a LogPipeline that lacks a Secret', withStatus(UNREADABLE, ...RUNNING), 'Degraded', /^MissingSecret: .*none/],
  ['a LogPipeline that is paused', withStatus(pipelineObject({ ...SPEC, paused: true }), ...RUNNING), 'Suspended', /paused/i],
  [
    'a LogPipeline that was changed since',
    { ...withStatus(PIPELINE, ...RUNNING), metadata: { ...PIPELINE.metadata, generation: 4 } },
    'Progressing',
    /the change/,
  ],
  ['a TicketingRoute that is used', routeWithStatus([route('chat', BY_SECRET)], [SELECTING], CHAT), 'Healthy', /1 pipeline/],
  ['a TicketingRoute that no LogPipeline selects', routeWithStatus([route('chat')], []), 'Healthy', /^NotSelected: /],
  ['a TicketingRoute that lacks its Secret', routeWithStatus([route('chat', BY_SECRET)], [SELECTING]), 'Degraded', /^MissingSecret: /],
  [
    'a TicketingRoute whose Secret is being synchronised',
    routeWithStatus([route('chat')], [SELECTING], [{ ...EXTERNAL, metadata: { name: 'chat', namespace: 'ns' } }]),
    'Progressing',
    /^SecretNotSynced: /,
  ],
  ['a TicketingRoute that is one too many', routeWithStatus([YOUNGER, ...OLDER], [SELECTING]), 'Degraded', /^TooManyTargets: .*older/],
]

describe('The health script for Argo CD', () => {
  let glua = ''
  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 30_000)
    glua = await toolOrSkip(this, 'glua')
  })

  for (const [title, object, status, message] of HEALTH)
    it(`calls ${title} ${status}`, async () => {
      const health = await argoHealth(glua, object)
      expect(health.status).to.equal(status)
      expect(health.message).to.match(message)
    })
})
