/** The chart in the hands of Helm 3 and 4, its output held against the schemas of Kubernetes. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { V1Deployment, V1PodSpec, V1Role, V1RoleBinding } from '@kubernetes/client-node'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parse } from 'yaml'
import { loadSettings } from '../../dataplane/config/environment.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { run } from '../../dataplane/testing/real/go-tools.ts'
import { admit } from '../api/testing/admission.ts'
import { BUILD_LIMIT_MS, type Conformance, startConformance, toolOrSkip } from './testing/chart-conformance.ts'
import { parseObjects } from './testing/chart-examples.ts'
import { CHART, readChartFile } from './testing/chart-files.ts'
import { operatorRules } from './testing/chart-rules.ts'
import { KUBERNETES_VERSION } from './testing/chart-schemas.ts'
import { EVERYTHING, NOTHING } from './testing/chart-values.ts'

const CHART_PATH = fileURLToPath(CHART)

const IMAGE = { image: { repository: 'registry.example.com/logpipeline' } }

/** Values, and the part of the message by which Helm refuses them. */
const REFUSED: readonly (readonly [title: string, values: object, message: RegExp])[] = [
  ['a value that there is not', { replicaCount: 3 }, /replicaCount/],
  ['a tag that is none', { image: { tag: 'a b' } }, /image.tag/],
  ['an image for pipelines that is a URL', { pipelineImage: 'https://r.example/logpipeline' }, /pipelineImage/],
  ['a number as text', { replicas: 'two' }, /replicas/],
  ['an unknown word', { serviceMonitor: { enabled: 'perhaps' } }, /serviceMonitor.enabled/],
  ['a namespace that is none', { watchNamespaces: ['Shop'] }, /watchNamespaces.0/],
  ['a name that Services cannot have', { fullnameOverride: '7' }, /fullnameOverride/],
  ['a namespace twice', { watchNamespaces: ['shop', 'shop'] }, /watchNamespaces/],
  ['a setting that has a value of its own', { env: [{ name: 'WATCH_NAMESPACES', value: 'a' }] }, /env.0.name/],
]

for (const tool of ['helm3', 'helm4'] as const)
  describe(`The chart with ${tool === 'helm3' ? 'Helm 3' : 'Helm 4'}`, function () {
    this.timeout(60_000)
    const directory = mkdtempSync(join(tmpdir(), 'chart-'))
    let helm = ''
    let conformance: Conformance | undefined
    before(async function () {
      this.timeout(BUILD_LIMIT_MS + 30_000)
      helm = await toolOrSkip(this, tool)
      conformance = await startConformance(this)
    })
    after(() => {
      conformance?.close()
      rmSync(directory, { recursive: true })
    })

    const home = () => ({ HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory })
    const callAsIs = (args: readonly string[], values: object) =>
      run(helm, [...args, '--values', '-'], { input: JSON.stringify(values), env: home() })
    /** With the one value that everybody has to give. */
    const call = (args: readonly string[], values: object) => callAsIs(args, { ...IMAGE, ...values })
    const template = (values: object, ...args: readonly string[]) =>
      call(['template', 'logpipeline', CHART_PATH, '--namespace', 'system', '--kube-version', KUBERNETES_VERSION, ...args], values)
    const render = async (values: object, ...args: readonly string[]) => parseObjects(await template(values, ...args))
    const find = <T extends object>(objects: readonly KubernetesObject[], kind: string, name?: string) =>
      objects.find(object => object.kind === kind && (name === undefined || object.metadata.name === name)) as
        | (KubernetesObject & T)
        | undefined
    const kindsOf = (objects: readonly KubernetesObject[]) => [...new Set(objects.map(({ kind }) => kind))].sort()
    const podOf = (objects: readonly KubernetesObject[]) => find<V1Deployment>(objects, 'Deployment')!.spec!.template.spec!

    for (const [title, values] of Object.entries({
      'with an image alone': {},
      'with every value': EVERYTHING,
      'with as little as can be': NOTHING,
    })) {
      it(`passes helm lint, ${title}`, async () => {
        expect(await call(['lint', CHART_PATH, '--strict', '--kube-version', KUBERNETES_VERSION], values)).to.contain('0 chart(s) failed')
      })

      it(`gives objects that Kubernetes knows, ${title}`, async () => {
        expect(await conformance!.problems(await template(values))).to.deep.equal([])
      })

      it(`runs the operator by the Pod Security Standard "restricted", ${title}`, async () => {
        expectRestricted(podOf(await render(values)))
      })
    }

    it('is noticed when it gives an object that Kubernetes does not know', async () => {
      const [problem] = await conformance!.problems((await template({})).replace('  replicas: 2', '  replicas: "2"'))
      expect(problem).to.match(/replicas/)
    })

    it('runs two pods, of which one leads, told where they are and what they run', async () => {
      const objects = await render({})
      const deployment = find<V1Deployment>(objects, 'Deployment')!
      expect(deployment.spec!.replicas).to.equal(2)
      const [container] = podOf(objects).containers
      expect(container!.args).to.deep.equal(['operator'])
      const env = Object.fromEntries(container!.env!.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.fieldRef?.fieldPath]))
      expect(env).to.deep.equal({
        ...{ OPERATOR_IMAGE: `${IMAGE.image.repository}:${parse(readChartFile('Chart.yaml')).appVersion}`, LOG_LEVEL: 'info', HOST: '::' },
        LEASE_NAME: 'logpipeline-operator',
        ...{ POD_NAME: 'metadata.name', POD_NAMESPACE: 'metadata.namespace' },
      })
      const asInPod = { ...env, POD_NAME: 'logpipeline-operator-0', POD_NAMESPACE: 'logpipeline-system' }
      expect(() => loadSettings('operator', asInPod)).not.to.throw()
      expect(find(objects, 'PodDisruptionBudget')).to.not.equal(undefined)
      expect(kindsOf(await render({ replicas: 1 }))).to.not.include('PodDisruptionBudget')
    })

    it('gives the operator its rights in the whole cluster, bound to its ServiceAccount', async () => {
      const objects = await render({})
      const name = 'logpipeline-operator'
      expect(find<V1Role>(objects, 'ClusterRole', name)!.rules).to.deep.equal(operatorRules())
      const binding = find<V1RoleBinding>(objects, 'ClusterRoleBinding')!
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
      for (const role of roles) expect((role as KubernetesObject & V1Role).rules).to.deep.equal(operatorRules())
      const bindings = objects.filter(({ kind }) => kind === 'RoleBinding') as (KubernetesObject & V1RoleBinding)[]
      expect(bindings.map(({ metadata }) => metadata.namespace).sort()).to.deep.equal(['billing', 'shop', 'system'])
      for (const { subjects } of bindings) expect(subjects![0]!.namespace).to.equal('system')
      expect(podOf(objects).containers[0]!.env).to.deep.include({ name: 'WATCH_NAMESPACES', value: 'shop,billing' })
    })

    it('shares a cluster with a release of the same name in another namespace, where each watches its own', async () => {
      const clusterWide = async (namespace: string) => {
        const values = { watchNamespaces: [namespace], crds: { enabled: false } }
        const objects = parseObjects(
          await call(['template', 'logpipeline', CHART_PATH, '--namespace', namespace, '--kube-version', KUBERNETES_VERSION], values),
        )
        return objects.flatMap(({ kind, metadata }) => (metadata.namespace === undefined ? [`${kind} ${metadata.name}`] : []))
      }
      const [blue, green] = [await clusterWide('blue'), await clusterWide('green')]
      expect(blue).to.have.length(3)
      expect(blue.filter(name => green.includes(name))).to.deep.equal([])
    })

    it('adds pipelines and routes to view, edit and admin of Kubernetes', async () => {
      const objects = await render({})
      for (const role of ['view', 'edit', 'admin']) {
        const { metadata, rules } = find<V1Role>(objects, 'ClusterRole', `logpipeline-operator-${role}`)!
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

    it('gives Prometheus alerts about the operator when asked, of the Service that it scrapes', async () => {
      const ruleOf = async (values: object, ...args: readonly string[]) =>
        find<{
          readonly spec: { readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[] }
        }>(await render(values, ...args), 'PrometheusRule')
      const api = ['--api-versions', 'monitoring.coreos.com/v1/PrometheusRule']
      expect(await ruleOf({}, ...api)).to.equal(undefined)
      expect(await ruleOf({ prometheusRule: null }, ...api)).to.equal(undefined)
      expect(await ruleOf({ prometheusRule: { enabled: 'auto' } })).to.equal(undefined)
      const { rules } = (await ruleOf({ prometheusRule: { enabled: 'auto' } }, ...api))!.spec.groups[0]!
      for (const { alert, expr } of rules) expect(expr, alert).to.contain('{namespace="system",service="logpipeline-operator"')
      const [sleeping] = (await ruleOf({ prometheusRule: { enabled: true }, replicas: 0 }))!.spec.groups
      const names = sleeping!.rules.map(({ alert }) => alert)
      expect(names, 'one that is not to run is not missed').to.not.include.members(['LogPipelineOperatorDown'])
    })

    it('lets the values say where the operator listens', async () => {
      const [container] = podOf(await render({ env: [{ name: 'HOST', value: '0.0.0.0' }] })).containers
      expect(container!.env!.filter(({ name }) => name === 'HOST')).to.deep.equal([{ name: 'HOST', value: '0.0.0.0' }])
    })

    it('gives the operator more variables, files, names and a runtime, and leaves alone what it has already', async () => {
      const volume = { name: 'authorities', configMap: { name: 'authorities' } }
      const mount = { name: 'authorities', mountPath: '/etc/authorities', readOnly: true }
      const envFrom = [{ secretRef: { name: 'proxy' } }]
      const names = { dnsPolicy: 'None', dnsConfig: { nameservers: ['10.0.0.10'] }, hostAliases: [{ ip: '10.0.0.1', hostnames: ['a'] }] }
      const given = { runtimeClassName: 'gvisor', schedulerName: 'mine', ...names }
      const pod = podOf(await render({ envFrom, volumes: [volume], volumeMounts: [mount], ...given }))
      expect(pod).to.deep.include(given)
      expect(pod.containers[0]!.envFrom).to.deep.equal(envFrom)
      expect(pod.volumes!.map(({ name }) => name)).to.deep.equal(['tmp', 'authorities'])
      expect(pod.containers[0]!.volumeMounts).to.deep.equal([{ name: 'tmp', mountPath: '/tmp' }, mount])
      const refused = await render({ volumes: [{ name: 'tmp', emptyDir: {} }] }).catch(String)
      expect(refused).to.contain('/volumes/0/name')
    })

    it('selects the pods of the operator, and no pod of a pipeline', async () => {
      const objects = await render({ serviceMonitor: { enabled: true } })
      const { labels } = find<V1Deployment>(objects, 'Deployment')!.spec!.template.metadata!
      const service = find<{ readonly spec: { readonly selector: Readonly<Record<string, string>> } }>(objects, 'Service')!
      expect(labels).to.include(service.spec.selector)
      expect(service.spec.selector).to.deep.equal({
        'app.kubernetes.io/name': 'logpipeline-operator',
        'app.kubernetes.io/instance': 'logpipeline',
      })
    })

    it('lets no label of the user replace those that select, and rolls no pod for a new version of the chart', async () => {
      const labels = { 'app.kubernetes.io/name': 'mine', 'app.kubernetes.io/part-of': 'platform' }
      const objects = await render({ commonLabels: labels, podLabels: labels, serviceMonitor: { enabled: true, labels } })
      for (const { metadata } of objects.filter(({ kind }) => kind !== 'CustomResourceDefinition'))
        expect(metadata.labels, metadata.name).to.include({
          'app.kubernetes.io/name': 'logpipeline-operator',
          'app.kubernetes.io/part-of': 'platform',
        })
      const pod = find<V1Deployment>(objects, 'Deployment')!.spec!.template.metadata!.labels!
      expect(Object.keys(pod).sort()).to.deep.equal(['component', 'instance', 'name', 'part-of'].map(name => `app.kubernetes.io/${name}`))
    })

    // Helm 3 wants to see a cluster first.
    if (tool === 'helm4')
      it('tells after the installation what to do next', async () => {
        const notes = async (values: object) => {
          const output = await callAsIs(['install', 'logpipeline', CHART_PATH, '--namespace', 'system', '--dry-run=client'], values)
          return output.slice(output.indexOf('\nNOTES:'))
        }
        expect(await notes({}))
          .to.contain('all namespaces')
          .and.contain('deployment/logpipeline-operator')
          .and.contain('upgrade\nwith --set image.repository=')
          .and.not.contain('not part of')
        expect(await notes(IMAGE)).to.not.contain('registry')
        expect(await notes({ watchNamespaces: ['shop'] })).to.contain('namespace: shop')
        expect(await notes({ crds: { keep: false } })).to.contain('removes the CustomResourceDefinitions')
        const [pipeline] = parseObjects(/^ {2}apiVersion[\s\S]*?(?=^ {2}EOF)/m.exec(await notes({}))![0])
        expect(admit('LogPipeline', pipeline!).problems).to.deep.equal([])
      })

    it('takes names that YAML would read as numbers', async () => {
      const objects = parseObjects(await call(['template', '7', CHART_PATH, '--namespace', '8', '--kube-version', KUBERNETES_VERSION], {}))
      expect(new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))).to.deep.equal(new Set(['8']))
      expect(find(objects, 'Deployment')!.metadata.labels).to.include({ 'app.kubernetes.io/instance': '7' })
    })

    it('takes names of objects that YAML would read as something else', async () => {
      for (const name of ['true', 'null', 'y']) {
        const manifests = await template({ fullnameOverride: name, serviceAccount: { name }, serviceMonitor: { enabled: true } })
        expect(await conformance!.problems(manifests), name).to.deep.equal([])
      }
    })

    it('takes a value that is left empty as none, or refuses it, naming the value', async function () {
      this.timeout(240_000)
      const values = parse(readChartFile('values.yaml')) as Readonly<Record<string, unknown>>
      const within = (value: unknown) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [])
      for (const [name, value] of Object.entries(values))
        for (const path of [[name], ...within(value).map(child => [name, child])]) {
          const [section, key] = path as [string, string?]
          const empty = { [section]: key === undefined ? null : { ...(section === 'image' && IMAGE.image), [key]: null } }
          const said = await template(empty).then(
            manifests => conformance!.problems(manifests),
            error => (error as Error).message,
          )
          if (typeof said === 'string') expect(said, path.join('.')).to.match(new RegExp(`schema[^]*'${key ?? section}'`))
          else expect(said, path.join('.')).to.deep.equal([])
        }
    })

    for (const release of ['7', '1.2.3', 'a.b', `${'a'.repeat(24)}.logpipeline`])
      it(`gives the Service a name that Kubernetes takes, with a release called ${release}`, async () => {
        const objects = parseObjects(await call(['template', release, CHART_PATH, '--kube-version', KUBERNETES_VERSION], {}))
        expect(find(objects, 'Service')!.metadata.name).to.match(/^[a-z]([-a-z0-9]*[a-z0-9])?$/)
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

    it('runs the image of the product where no other is given, as tools that look at charts give no values', async () => {
      const manifests = await callAsIs(['template', 'logpipeline', CHART_PATH, '--kube-version', KUBERNETES_VERSION], {})
      expect(podOf(parseObjects(manifests)).containers[0]!.image).to.equal(`logpipeline:${parse(readChartFile('Chart.yaml')).appVersion}`)
      expect(await conformance!.problems(manifests)).to.deep.equal([])
    })

    it('refuses an image that is none, and says what to give', async () => {
      const refusal = (values: object, ...args: readonly string[]) =>
        callAsIs(['template', 'logpipeline', CHART_PATH, '--kube-version', KUBERNETES_VERSION, ...args], values).then(
          () => 'nothing',
          error => (error as Error).message,
        )
      const told = 'image.repository: expected the image of the operator, where the nodes of the cluster find it'
      expect(await refusal({ image: { repository: '' } }))
        .to.contain(told)
        .and.contain('--set image.repository=registry.example.com/logpipeline')
      for (const repository of ['team/logpipeline:1', 'r.example:5000/logpipeline:1', `logpipeline@sha256:${'a'.repeat(64)}`])
        expect(await refusal({ image: { repository } })).to.contain(
          `without tag and digest, which are image.tag and image.digest, seen ${repository}`,
        )
      expect(await refusal({ image: { repository: 'https://r.example/logpipeline' } })).to.contain(
        'image.repository: expected a name such as registry.example.com/logpipeline, without https://, seen https://r.example/logpipeline',
      )
      expect(await refusal({ image: { repository: null } })).to.match(/repository/)
      expect(await refusal(IMAGE)).to.equal('nothing')
    })

    it('gives each release of a namespace a Lease of its own, and the right to that one', async () => {
      for (const [release, name] of [
        ['logpipeline', 'logpipeline-operator'],
        ['blue', 'blue-logpipeline-operator'],
      ] as const) {
        const objects = parseObjects(await call(['template', release, CHART_PATH, '--kube-version', KUBERNETES_VERSION], {}))
        expect(podOf(objects).containers[0]!.env).to.deep.include({ name: 'LEASE_NAME', value: name })
        const role = find<V1Role>(objects, 'Role', `${name}-leader-election`)!
        expect(role.rules!.flatMap(({ resourceNames = [] }) => resourceNames)).to.deep.equal([name])
      }
    })

    it('takes ids of the pods, and fixes none: OpenShift sets its own', async () => {
      expect(podOf(await render({})).securityContext).to.deep.equal({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      const pod = podOf(await render({ podSecurityContext: { runAsUser: 1000, fsGroup: 1000, runAsNonRoot: false } }))
      expect(pod.securityContext).to.deep.include({ runAsUser: 1000, fsGroup: 1000, runAsNonRoot: true })
    })

    it('keeps a seccomp profile of the user from half replacing its own', async () => {
      const seccompProfile = { type: 'Localhost', localhostProfile: 'profiles/mine.json' }
      const pod = podOf(await render({ podSecurityContext: { seccompProfile } }))
      expect(pod.securityContext!.seccompProfile).to.deep.equal({ type: 'RuntimeDefault' })
    })

    it('spreads its own pods where a constraint does not say which: one that selects none would do nothing', async () => {
      const zones = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }
      const others = { ...zones, labelSelector: { matchLabels: { team: 'platform' } } }
      const objects = await render({ topologySpreadConstraints: [zones, others] })
      const { matchLabels } = find<V1Deployment>(objects, 'Deployment')!.spec!.selector
      expect(podOf(objects).topologySpreadConstraints).to.deep.equal([{ ...zones, labelSelector: { matchLabels } }, others])
    })

    it('is a dependency of another chart, with a condition as others have it, global values, and off', async () => {
      const umbrella = join(directory, 'umbrella')
      cpSync(CHART_PATH, join(umbrella, 'charts', 'logpipeline'), { recursive: true })
      const dependencies = [{ name: 'logpipeline', version: '>=0', condition: 'logpipeline.enabled' }]
      writeFileSync(join(umbrella, 'Chart.yaml'), JSON.stringify({ apiVersion: 'v2', name: 'umbrella', version: '1.0.0', dependencies }))
      const kindsWith = async (values: object) =>
        kindsOf(parseObjects(await callAsIs(['template', 'platform', umbrella, '--kube-version', KUBERNETES_VERSION], values)))
      const alone = kindsOf(await render({}))
      expect(await kindsWith({ logpipeline: { ...IMAGE, enabled: true }, global: { team: 'a' } })).to.deep.equal(alone)
      expect(await kindsWith({ logpipeline: { enabled: false } })).to.deep.equal([])
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
  })

/** https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted */
function expectRestricted(pod: V1PodSpec): void {
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
