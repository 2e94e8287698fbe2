/** The chart in the hands of Helm 3 and 4, its output held against the schemas of Kubernetes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import type { Deployment } from 'kubernetes-types/apps/v1.js'
import type { PodSpec } from 'kubernetes-types/core/v1.js'
import type { Role, RoleBinding } from 'kubernetes-types/rbac/v1.js'
import { after, before, describe, it } from 'mocha'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import type { KubernetesObject } from '../../operator/kube/object.ts'
import { Unavailable } from '../real/unavailable.ts'
import { EXAMPLES, exampleFiles, parseObjects, readExample } from './chart-examples.ts'
import { CHART } from './chart-files.ts'
import { operatorRules } from './chart-rules.ts'
import { KUBERNETES_VERSION, kubernetesSchemas, writeOwnSchemas } from './chart-schemas.ts'
import { findTool, run, type ToolName } from './chart-tools.ts'

/** For all that has to be built, if anything has to. */
const BUILD_LIMIT_MS = 150_000
const CHART_PATH = fileURLToPath(CHART)
const FOREIGN_KINDS = 'ServiceMonitor,ExternalSecret,KafkaUser,Application,HelmRelease,GitRepository,Kustomization'

const EVERYTHING = {
  image: { repository: 'registry.example.com:5000/team/logpipeline', digest: `sha256:${'a'.repeat(64)}`, pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'registry' }],
  pipelineImage: 'registry.example.com/logpipeline:2',
  replicas: 3,
  watchNamespaces: ['shop', 'billing'],
  logLevel: 'debug',
  env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
  resources: { requests: { cpu: 1, memory: '1Gi' }, limits: { memory: '2Gi' } },
  crds: { keep: false, annotations: { 'example.com/note': 'here' } },
  serviceAccount: { name: 'somebody', annotations: { 'example.com/role': 'x' } },
  podDisruptionBudget: { maxUnavailable: '50%' },
  networkPolicy: {
    metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    egress: [{ ports: [{ port: 443, protocol: 'TCP' }] }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, interval: '15s' },
  service: { annotations: { 'example.com/a': 'b' } },
  podLabels: { team: 'platform' },
  podAnnotations: { 'example.com/c': '1' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }],
  priorityClassName: 'system-cluster-critical',
  fullnameOverride: 'lp',
  commonLabels: { 'example.com/cost-centre': '42' },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'as-a-map' }, data: { release: '{{ .Release.Name }}' } },
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: as-text\n  labels:\n    {{- include "logpipeline.labels" . | nindent 4 }}\n',
  ],
}
const NOTHING = {
  replicas: 1,
  resources: {},
  crds: { enabled: false },
  rbac: { create: false, aggregatedRoles: false },
  serviceAccount: { create: false },
  podDisruptionBudget: { enabled: false },
  networkPolicy: { enabled: false },
  serviceMonitor: { enabled: false },
}

/** Values, and the part of the message by which Helm refuses them. */
const REFUSED: readonly (readonly [title: string, values: object, message: RegExp])[] = [
  ['a value that there is not', { replicaCount: 3 }, /replicaCount/],
  ['a number as text', { replicas: 'two' }, /replicas/],
  ['an unknown word', { serviceMonitor: { enabled: 'perhaps' } }, /serviceMonitor.enabled/],
  ['a namespace that is none', { watchNamespaces: ['Shop'] }, /watchNamespaces.0/],
  ['a namespace twice', { watchNamespaces: ['shop', 'shop'] }, /watchNamespaces/],
  ['a setting that has a value of its own', { env: [{ name: 'WATCH_NAMESPACES', value: 'a' }] }, /env.0.name/],
]

let directory = ''
let kubeconform = ''
let schemas = ''
let deadlineMs = 0

before(async function () {
  this.timeout(BUILD_LIMIT_MS + 30_000)
  directory = mkdtempSync(join(tmpdir(), 'chart-'))
  deadlineMs = Date.now() + BUILD_LIMIT_MS
})
after(() => rmSync(directory, { recursive: true }))

/** Skips what the machine cannot do. */
async function orSkip<T>(context: Mocha.Context, work: (limitMs: number) => Promise<T>): Promise<T> {
  try {
    return await work(Math.max(1, deadlineMs - Date.now()))
  } catch (error) {
    if (error instanceof Unavailable) return skipBecause(context, error.message)
    throw error
  }
}

async function prepareSchemas(context: Mocha.Context): Promise<void> {
  kubeconform = await orSkip(context, limitMs => findTool('kubeconform', limitMs))
  schemas = await orSkip(context, kubernetesSchemas)
  writeOwnSchemas(directory)
}

/** Problems that kubeconform has with the manifests. */
async function conform(manifests: string): Promise<readonly string[]> {
  const locations = [schemas, directory].flatMap(path => ['-schema-location', `${path}/{{.ResourceKind}}{{.KindSuffix}}.json`])
  const args = ['-strict', '-output', 'json', '-skip', FOREIGN_KINDS, ...locations, '-']
  const output = await run(kubeconform, args, { input: manifests }).catch(error => (error as Error).message)
  const result = JSON.parse(output.slice(output.indexOf('{'))) as {
    readonly resources?: readonly { readonly msg: string; readonly name: string }[]
  }
  return (result.resources ?? []).map(({ name, msg }) => `${name}: ${msg}`)
}

for (const tool of ['helm3', 'helm4'] as const satisfies readonly ToolName[])
  describe(`The chart with ${tool === 'helm3' ? 'Helm 3' : 'Helm 4'}`, function () {
    this.timeout(60_000)
    let helm = ''
    before(async function () {
      this.timeout(BUILD_LIMIT_MS + 30_000)
      helm = await orSkip(this, limitMs => findTool(tool, limitMs))
      await prepareSchemas(this)
    })

    const home = () => ({ HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory })
    const call = (args: readonly string[], values: object) =>
      run(helm, [...args, '--values', '-'], { input: JSON.stringify(values), env: home() })
    const template = (values: object, ...args: readonly string[]) =>
      call(['template', 'logpipeline', CHART_PATH, '--namespace', 'system', '--kube-version', KUBERNETES_VERSION, ...args], values)
    const render = async (values: object, ...args: readonly string[]) => parseObjects(await template(values, ...args))
    const find = <T extends object>(objects: readonly KubernetesObject[], kind: string, name?: string) =>
      objects.find(object => object.kind === kind && (name === undefined || object.metadata.name === name)) as
        | (KubernetesObject & T)
        | undefined
    const kindsOf = (objects: readonly KubernetesObject[]) => [...new Set(objects.map(({ kind }) => kind))].sort()
    const podOf = (objects: readonly KubernetesObject[]) => find<Deployment>(objects, 'Deployment')!.spec!.template.spec!

    for (const [title, values] of Object.entries({ 'as it is': {}, 'with every value': EVERYTHING, 'with as little as can be': NOTHING })) {
      it(`passes helm lint, ${title}`, async () => {
        expect(await call(['lint', CHART_PATH, '--strict', '--kube-version', KUBERNETES_VERSION], values)).to.contain('0 chart(s) failed')
      })

      it(`gives objects that Kubernetes knows, ${title}`, async () => {
        expect(await conform(await template(values))).to.deep.equal([])
      })

      it(`runs the operator by the Pod Security Standard "restricted", ${title}`, async () => {
        expectRestricted(podOf(await render(values)))
      })
    }

    it('is noticed when it gives an object that Kubernetes does not know', async () => {
      const [problem] = await conform((await template({})).replace('  replicas: 2', '  replicas: "2"'))
      expect(problem).to.match(/replicas/)
    })

    it('runs two pods, of which one leads, told where they are and what they run', async () => {
      const objects = await render({})
      const deployment = find<Deployment>(objects, 'Deployment')!
      expect(deployment.spec!.replicas).to.equal(2)
      const [container] = podOf(objects).containers
      expect(container!.args).to.deep.equal(['operator'])
      const env = Object.fromEntries(container!.env!.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.fieldRef?.fieldPath]))
      expect(env).to.deep.equal({
        ...{ OPERATOR_IMAGE: 'logpipeline:0.1.0', WATCH_NAMESPACES: '', LOG_LEVEL: 'info' },
        ...{ POD_NAME: 'metadata.name', POD_NAMESPACE: 'metadata.namespace' },
      })
      expect(find(objects, 'PodDisruptionBudget')).to.not.equal(undefined)
      expect(kindsOf(await render({ replicas: 1 }))).to.not.include('PodDisruptionBudget')
    })

    it('gives the operator its rights in the whole cluster, bound to its ServiceAccount', async () => {
      const objects = await render({})
      const name = 'logpipeline-operator'
      expect(find<Role>(objects, 'ClusterRole', name)!.rules).to.deep.equal(operatorRules())
      const binding = find<RoleBinding>(objects, 'ClusterRoleBinding')!
      expect(binding).to.deep.include({
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'system' }],
      })
      expect(podOf(objects).serviceAccountName).to.equal(name)
      expect(find(objects, 'ServiceAccount', name)).to.not.equal(undefined)
    })

    it('gives the operator its rights in the namespaces that it watches, and in no other', async () => {
      const objects = await render({ watchNamespaces: ['shop', 'billing'], rbac: { aggregatedRoles: false } })
      expect(kindsOf(objects)).to.not.include('ClusterRole').and.not.include('ClusterRoleBinding')
      const roles = objects.filter(({ kind, metadata }) => kind === 'Role' && metadata.name === 'logpipeline-operator')
      expect(roles.map(({ metadata }) => metadata.namespace)).to.deep.equal(['shop', 'billing'])
      for (const role of roles) expect((role as KubernetesObject & Role).rules).to.deep.equal(operatorRules())
      const bindings = objects.filter(({ kind }) => kind === 'RoleBinding') as (KubernetesObject & RoleBinding)[]
      expect(bindings.map(({ metadata }) => metadata.namespace).sort()).to.deep.equal(['billing', 'shop', 'system'])
      for (const { subjects } of bindings) expect(subjects![0]!.namespace).to.equal('system')
      expect(podOf(objects).containers[0]!.env).to.deep.include({ name: 'WATCH_NAMESPACES', value: 'shop,billing' })
    })

    it('adds pipelines and routes to view, edit and admin of Kubernetes', async () => {
      const objects = await render({})
      for (const role of ['view', 'edit', 'admin']) {
        const { metadata, rules } = find<Role>(objects, 'ClusterRole', `logpipeline-operator-${role}`)!
        expect(metadata.labels).to.include({ [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' })
        expect(rules!.every(({ apiGroups }) => apiGroups!.join() === 'logpipeline.dev')).to.equal(true)
      }
    })

    it('keeps the CRDs when it is uninstalled, unless asked otherwise, and leaves them out when asked to', async () => {
      const policies = async (values: object) =>
        (await render(values))
          .filter(({ kind }) => kind === 'CustomResourceDefinition')
          .map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'])
      expect(await policies({})).to.deep.equal(['keep', 'keep'])
      expect(await policies({ crds: { keep: false } })).to.deep.equal([undefined, undefined])
      expect(await policies({ crds: { enabled: false } })).to.deep.equal([])
    })

    it('tells Prometheus of the operator where its kind is there, or when asked', async () => {
      const has = async (values: object, ...args: readonly string[]) => kindsOf(await render(values, ...args)).includes('ServiceMonitor')
      const api = ['--api-versions', 'monitoring.coreos.com/v1/ServiceMonitor']
      expect(await has({})).to.equal(false)
      expect(await has({}, ...api)).to.equal(true)
      expect(await has({ serviceMonitor: { enabled: true } })).to.equal(true)
      expect(await has({ serviceMonitor: { enabled: false } }, ...api)).to.equal(false)
    })

    it('selects the pods of the operator, and no pod of a pipeline', async () => {
      const objects = await render({ serviceMonitor: { enabled: true } })
      const { labels } = find<Deployment>(objects, 'Deployment')!.spec!.template.metadata!
      const service = find<{ readonly spec: { readonly selector: Readonly<Record<string, string>> } }>(objects, 'Service')!
      expect(labels).to.include(service.spec.selector)
      expect(service.spec.selector).to.deep.equal({
        'app.kubernetes.io/name': 'logpipeline-operator',
        'app.kubernetes.io/instance': 'logpipeline',
      })
    })

    it('adds objects, as maps and as text, with template actions', async () => {
      const objects = await render({ extraObjects: EVERYTHING.extraObjects })
      expect(find(objects, 'ConfigMap', 'as-a-map')).to.deep.include({ data: { release: 'logpipeline' } })
      expect(find(objects, 'ConfigMap', 'as-text')!.metadata.labels).to.include({ 'app.kubernetes.io/component': 'operator' })
    })

    it('stays within 63 characters with the longest name of a release', async () => {
      const name = 'r'.repeat(53)
      const objects = parseObjects(await call(['template', name, CHART_PATH, '--kube-version', KUBERNETES_VERSION], {}))
      const tooLong = objects.map(({ metadata }) => metadata.name).filter(found => found.length > 63)
      expect(tooLong).to.deep.equal([])
      for (const { metadata } of objects)
        for (const value of Object.values(metadata.labels ?? {})) expect(value.length, value).to.be.most(63)
    })

    for (const [title, values, message] of REFUSED)
      it(`refuses ${title}, naming the field`, async () => {
        const refusal = await template(values).catch(error => (error as Error).message.replaceAll('/', '.'))
        expect(refusal).to.match(message)
        expect(refusal).to.match(/schema/)
      })

    it('refuses a Kubernetes without what the CRDs and pods need', async () => {
      const refusal = await template({}, '--kube-version', '1.29.9').catch(error => (error as Error).message)
      expect(refusal).to.contain('>=1.30.0-0')
    })

    it('packs what it needs and no examples', async () => {
      const output = await run(helm, ['package', CHART_PATH, '--destination', directory], { env: home() })
      const files = await run('tar', ['-tzf', output.trim().split(': ').at(-1)!])
      expect(files).to.contain('logpipeline/files/operator-rules.yaml').and.not.contain('examples')
    })

    it('is built by the kustomization of the examples', async function () {
      const kubectl = await run('kubectl', ['version', '--client']).catch(error => (error as Error).message)
      if (!kubectl.includes('Client Version')) skipBecause(this, 'this machine has no kubectl')
      // What it gives to Helm is the version 3 of its interface.
      const args = ['--enable-helm', '--helm-command', helm, '--load-restrictor', 'LoadRestrictionsNone']
      const output = await run('kubectl', ['kustomize', join(fileURLToPath(EXAMPLES), 'kustomize/operator'), ...args])
      expect(await conform(output)).to.deep.equal([])
      expect(podOf(parseObjects(output)).containers[0]!.image).to.match(/^registry\.example\.com\/logpipeline:/)
    })
  })

describe('The examples of the chart', function () {
  this.timeout(60_000)

  it('are objects that Kubernetes knows', async function () {
    await prepareSchemas(this)
    const objects = exampleFiles()
      .filter(path => path.startsWith('kubectl/') || path.startsWith('flux/') || path.startsWith('argocd/'))
      .flatMap(readExample)
    expect(await conform(objects.map(object => JSON.stringify(object)).join('\n---\n'))).to.deep.equal([])
  })

  it('become a pipeline with the Secrets that kustomize generates', async function () {
    await prepareSchemas(this)
    const output = await run('kubectl', ['kustomize', join(fileURLToPath(EXAMPLES), 'kustomize/pipeline/overlays/production')]).catch(
      error => {
        if (/ENOENT/.test((error as Error).message)) return skipBecause(this, 'this machine has no kubectl')
        throw error
      },
    )
    expect(await conform(output)).to.deep.equal([])
    const objects = parseObjects(output)
    const secrets = objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name)
    const text = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))
    expect(secrets).to.have.length(2)
    for (const name of secrets) expect(text).to.contain(`"name":"${name}"`)
  })
})

/** https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted */
function expectRestricted(pod: PodSpec): void {
  expect(pod).to.not.have.any.keys('hostNetwork', 'hostPID', 'hostIPC')
  expect(pod.securityContext).to.deep.include({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
  for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
    expect(container.securityContext).to.deep.include({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    })
    expect(container.ports?.every(({ hostPort }) => hostPort === undefined) ?? true).to.equal(true)
    expect(container).to.include.keys('startupProbe', 'livenessProbe', 'readinessProbe')
  }
  const sources = (pod.volumes ?? []).flatMap(volume => Object.keys(volume).filter(key => key !== 'name'))
  expect(sources.filter(source => !['configMap', 'downwardAPI', 'emptyDir', 'projected', 'secret'].includes(source))).to.deep.equal([])
}
