import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TENANT_LABEL } from '../../dataplane/contract/tenant-id.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { admit } from '../api/testing/admission.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { pipelineReferences, routeReferences } from '../observed/references.ts'
import { resolveReference } from '../observed/resolve-reference.ts'
import { isSelected } from '../observed/routes/route-selector.ts'
import { gatheredFrom } from '../observed/testing/gathered-from.ts'
import { EXAMPLES, exampleFiles, readExample } from './testing/chart-examples.ts'
import { CHART, readChartFile } from './testing/chart-files.ts'

const OWN = ['LogPipeline', 'TicketingRoute']
const KINDS = [
  'argoproj.io/v1alpha1 Application',
  'cert-manager.io/v1 Certificate',
  'external-secrets.io/v1 ExternalSecret',
  'helm.toolkit.fluxcd.io/v2 HelmRelease',
  'kafka.strimzi.io/v1beta2 KafkaUser',
  'kustomize.config.k8s.io/v1beta1 Kustomization',
  'kustomize.toolkit.fluxcd.io/v1 Kustomization',
  'logpipeline.dev/v1alpha1 LogPipeline',
  'logpipeline.dev/v1alpha1 TicketingRoute',
  'source.toolkit.fluxcd.io/v1 GitRepository',
  'v1 ConfigMap',
  'v1 Namespace',
  'v1 Secret',
]
/** No objects: a patch, which kustomize completes, and a configuration of kustomize. */
const PARTS = ['kustomize/pipeline/overlays/production/log-pipeline.yaml', 'kustomize/pipeline/base/name-references.yaml']

describe('The examples of the chart', () => {
  const files = exampleFiles()
  const objects = files.filter(path => !PARTS.includes(path)).flatMap(path => readExample(path).map(object => ({ path, object })))

  it('are there for kubectl, kustomize, Argo CD and Flux', () => {
    expect([...new Set(files.map(path => path.split('/')[0]))]).to.deep.equal(['argocd', 'flux', 'kubectl', 'kustomize'])
    for (const path of PARTS) expect(readExample(path)).to.have.length(1)
  })

  it('are of kinds that there are', () => {
    const kinds = objects.map(({ object }) => `${object.apiVersion} ${object.kind}`)
    expect([...new Set(kinds)].sort()).to.deep.equal(KINDS)
  })

  for (const { path, object } of objects.filter(({ object: { kind } }) => OWN.includes(kind)))
    it(`${path}: ${object.kind} ${object.metadata.name} is taken by the CRD`, () => {
      expect(admit(object.kind, object).problems).to.deep.equal([])
    })

  for (const path of files.filter(path => path.startsWith('kubectl/')))
    it(`${path}: what its pipelines and routes refer to is there, with the keys that are looked for`, () => {
      expect(unresolved(readExample(path))).to.deep.equal([])
    })

  const pipelines = files
    .map(path => ({ path, objects: readExample(path) }))
    .flatMap(({ path, objects }) =>
      objects.filter(({ kind }) => kind === 'LogPipeline').map(object => ({ path, objects, pipeline: object as LogPipeline })),
    )

  for (const { path, objects, pipeline } of pipelines) {
    const { spec } = pipeline

    it(`${path}: the agent sees each ExternalSecret, by its label`, () => {
      for (const { metadata } of objects.filter(({ kind }) => kind === 'ExternalSecret'))
        expect(metadata.labels, metadata.name).to.include({ [TENANT_LABEL]: spec.tenant })
    })

    it(`${path}: Prometheus is let in where it is told to come`, () => {
      const { networkPolicy } = spec
      if (spec.monitoring?.serviceMonitor)
        expect(networkPolicy?.enabled === false || networkPolicy?.allowFrom).to.be.an('array').that.is.not.empty
    })

    it(`${path}: the Ingress controller is let in to the dashboard, which asks for a password`, () => {
      const { dashboard } = spec
      if (dashboard?.ingress === undefined) return
      expect(dashboard.allowFrom).to.be.an('array').that.is.not.empty
      expect(dashboard).to.have.property('credentials')
    })

    it(`${path}: the certificate of the gateway is for the host of its Ingress`, () => {
      const { tls, ingress } = spec.gateway ?? {}
      if (ingress === undefined) return
      const certificates = objects.filter(({ kind }) => kind === 'Certificate').map(({ ['spec']: certificate }) => certificate)
      expect(certificates).to.deep.include({ ...CERTIFICATE, secretName: tls!.secretName, dnsNames: [ingress.host] })
    })

    it(`${path}: a search store within the cluster is trusted by its own authority, as no public one signs for it`, () => {
      if (spec.search?.endpoint?.startsWith('https://')) expect(spec.search).to.have.property('caSecret')
    })
  }

  it('in one namespace leave each other alone: no pipeline takes the routes of another', () => {
    for (const { pipeline } of pipelines)
      for (const { objects } of pipelines.filter(other => other.pipeline.metadata.name !== pipeline.metadata.name)) {
        const taken = objects.filter(object => object.kind === 'TicketingRoute' && isSelected(pipeline, object as TicketingRoute))
        expect(taken, pipeline.metadata.name).to.deep.equal([])
      }
  })

  it('are explained where a label or a field is needed that nothing else asks for', () => {
    for (const text of [
      readChartFile('README.md'),
      readFileSync(new URL('README.md', EXAMPLES), 'utf8'),
      readFileSync(new URL('../../operator/README.md', CHART), 'utf8'),
    ]) {
      expect(text).to.contain(`\`${TENANT_LABEL}`)
      expect(text).to.contain('networkPolicy.allowFrom')
    }
  })

  it('name paths of this repository that exist', () => {
    const sources = objects.map(({ object }) => object['spec'] as { readonly path?: string; readonly source?: { readonly path: string } })
    const paths = sources.flatMap(spec => spec?.path ?? spec?.source?.path ?? [])
    expect(paths).to.have.length(4)
    for (const path of paths) expect(existsSync(new URL(path, new URL('../../', CHART))), path).to.equal(true)
  })

  it('have one health script for both kinds', () => {
    const [map] = readExample('argocd/argocd-cm.yaml') as readonly [KubernetesObject]
    const scripts = map['data'] as Readonly<Record<string, string>>
    expect(Object.keys(scripts)).to.deep.equal(OWN.map(kind => `resource.customizations.health.logpipeline.dev_${kind}`))
    expect(new Set(Object.values(scripts)).size).to.equal(1)
    expect(EXAMPLES.pathname).to.contain('charts/logpipeline/examples/')
  })
})

/** Messages of references that lead nowhere. Secrets that External Secrets, Strimzi and cert-manager make count as made. */
function unresolved(objects: readonly KubernetesObject[]): readonly string[] {
  const made = objects.flatMap(madeSecret)
  const synced = objects.map(object => (object.kind === 'ExternalSecret' ? { ...object, status: SYNCED } : object))
  const all = [...synced.map(withData), ...made]
  return objects
    .filter(({ kind }) => kind === 'LogPipeline')
    .flatMap(pipeline => {
      const gathered = gatheredFrom([pipeline, ...all.filter(({ kind }) => kind !== 'LogPipeline')])
      const references = [
        ...pipelineReferences((gathered.pipeline as LogPipeline).spec),
        ...gathered.routes.flatMap(route => routeReferences((route as TicketingRoute).spec)),
      ]
      return references.flatMap(reference => resolveReference(reference, gathered).problem?.message ?? [])
    })
}

const CERTIFICATE = { issuerRef: { kind: 'ClusterIssuer', name: 'letsencrypt' } }

const SYNCED = { conditions: [{ type: 'Ready', status: 'True', reason: 'SecretSynced' }] }

function withData(object: KubernetesObject): KubernetesObject {
  return object.kind === 'Secret' ? { ...object, data: encoded(object['stringData'] as Readonly<Record<string, string>>) } : object
}

function madeSecret({ kind, metadata, ['spec']: spec }: KubernetesObject): readonly KubernetesObject[] {
  if (kind === 'Certificate') {
    const { secretName } = spec as { readonly secretName: string }
    const data = encoded({ 'tls.crt': '-----BEGIN CERTIFICATE-----', 'tls.key': '-----BEGIN PRIVATE KEY-----' })
    return [{ apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: secretName }, data }]
  }
  if (kind !== 'KafkaUser' && kind !== 'ExternalSecret') return []
  const { data = [] } = spec as { readonly data?: readonly { readonly secretKey: string }[] }
  const keys = kind === 'KafkaUser' ? ['password'] : data.map(({ secretKey }) => secretKey)
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: encoded(Object.fromEntries(keys.map(key => [key, key.endsWith('.crt') ? '-----BEGIN CERTIFICATE-----' : 'x']))),
    },
  ]
}

const encoded = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]))
