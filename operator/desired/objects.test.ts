import type { V1Service } from '@kubernetes/client-node'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DECLARED_TICKETING } from '../../dataplane/contract/declared-ticketing.ts'
import { DECLARED_TICKETING_FILE } from '../../dataplane/contract/declared-ticketing-files.ts'
import { settingsOfRole } from '../../dataplane/contract/env.ts'
import { isRoleName, ROLES, type RoleName } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { USED_KINDS } from '../api/used-kinds.ts'
import { buildPipeline, planOf } from './testing/build-pipeline.ts'
import { fixtureNames, readFixture } from './testing/golden-files.ts'
import { containerOf, mountedFiles, podOf, type WorkloadView, workloadsOf } from './testing/pod-view.ts'
import { settingsIssues } from './testing/settings-issues.ts'

const DNS_LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/

/** As the controller makes one. */
const MADE_KEY = btoa(btoa('\0'.repeat(32)))

const roleOf = (workload: WorkloadView) => containerOf(workload).args!.join(' ') as RoleName

for (const fixture of fixtureNames()) {
  const input = readFixture(fixture)
  const objects = buildPipeline(input)
  const { gathered } = input
  const made = planOf(input).madeOnce.map(({ secret, key }) => [secret.metadata.name, { ...secret, data: { [key]: MADE_KEY } }] as const)
  const secrets = { ...gathered.secrets, ...Object.fromEntries(made) }
  const find = (kind: string, name: string) => objects.find(object => object.kind === kind && object.metadata.name === name)
  const workloads = workloadsOf(objects)
  const { env: given = [], topologySpreadConstraints } = gathered.pipeline.spec.podTemplate ?? {}
  /** Without those that the resource gives itself. */
  const variablesOf = (workload: WorkloadView) =>
    containerOf(workload).env!.filter(({ name }) => !given.some(variable => variable.name === name))

  describe(`objects of ${fixture}`, () => {
    it('are told apart by kind and name', () => {
      const keys = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      expect(new Set(keys).size).to.equal(keys.length)
    })

    it('belong to their pipeline, and carry its labels', () => {
      const { pipeline } = input.gathered
      for (const { metadata } of objects) {
        expect(metadata.namespace).to.equal(pipeline.metadata.namespace)
        expect(metadata.ownerReferences!.map(({ uid, controller }) => [uid, controller])).to.deep.equal([[pipeline.metadata.uid, true]])
        expect(metadata.labels).to.include({
          'app.kubernetes.io/instance': pipeline.metadata.name,
          'logpipeline.dev/tenant': pipeline.spec.tenant,
        })
      }
    })

    it('hold nothing that JSON cannot', () => {
      expect(JSON.parse(JSON.stringify(objects))).to.deep.equal(objects)
    })

    it('have Services whose name is a DNS label, and whose ports are there', () => {
      for (const object of objects.filter(({ kind }) => kind === 'Service')) {
        expect(object.metadata.name).to.match(DNS_LABEL)
        const { selector = {}, ports = [] } = (object as unknown as V1Service).spec!
        const [workload, ...others] = workloads.filter(one => isSubset(selector, one.spec.template.metadata!.labels!))
        expect(others).to.deep.equal([])
        const names = containerOf(workload!).ports!.map(({ name }) => name)
        for (const { targetPort } of ports) expect(names).to.include(targetPort)
      }
    })

    for (const workload of workloads) describe(workload.metadata.name, () => describeWorkload(workload))
  })

  function describeWorkload(workload: WorkloadView): void {
    const { labels, annotations } = workload.spec.template.metadata!
    const files = mountedFiles(workload)

    it('runs a role, on the ports that the role listens on', () => {
      const role = roleOf(workload)
      expect(isRoleName(role), role).to.equal(true)
      const ports = containerOf(workload).ports!.map(({ containerPort }) => containerPort)
      expect(ports).to.include.members(ROLES[role].listens.map(({ port }) => port))
    })

    it('selects its own pods', () => {
      expect(isSubset(workload.spec.selector.matchLabels, labels!)).to.equal(true)
      for (const value of Object.values(labels!)) expect(value).to.match(/^[\w.-]{0,63}$/)
    })

    it('sets only settings of its role, to values that the role takes', () => {
      const role = roleOf(workload)
      const known = settingsOfRole(role).map(([name]) => name as string)
      const values = Object.fromEntries(variablesOf(workload).map(variable => settingValue(variable, known, files, secrets)))
      expect(Object.keys(values).filter(name => !known.includes(name))).to.deep.equal([])
      expect(settingsIssues(role, values)).to.deep.equal([])
    })

    it('has each variable, volume and mounted path once: the API server refuses them twice', () => {
      const { env, volumeMounts } = containerOf(workload)
      for (const names of [
        env!.map(({ name }) => name),
        podOf(workload).volumes!.map(({ name }) => name),
        volumeMounts!.map(one => one.mountPath),
      ])
        expect(new Set(names).size, names.join(' ')).to.equal(names.length)
    })

    it('mounts files from objects that are there, and every file that a setting names', () => {
      for (const { kind, name, key, isOptional } of files.values()) {
        if (isOptional) continue
        const data = kind === 'Secret' ? secrets[name]?.data : (find(kind, name)?.['data'] as Record<string, string> | undefined)
        expect(data?.[key], `${kind} ${name} ${key}`).to.be.a('string')
      }
      const paths = variablesOf(workload).flatMap(({ value = '' }) => (value.startsWith('/etc/') ? [value] : []))
      expect([...files.keys()]).to.include.members(paths)
    })

    it('mounts no Secret of a user but for what a setting names: it would restart with each that comes and goes', () => {
      const named = containerOf(workload).env!.map(({ value }) => value)
      const users = [...files].filter(([path, { kind, name }]) => kind === 'Secret' && !named.includes(path) && secrets[name] !== undefined)
      expect(users).to.deep.equal([])
    })

    it('meets the Pod Security Standard "restricted", with a read-only root file system', () => {
      expect(podOf(workload).securityContext).to.deep.include({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(containerOf(workload).securityContext).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    })

    it('has probes on ports of its own, requests, spread, and more time to stop than it takes to drain', () => {
      const { livenessProbe, readinessProbe, startupProbe, ports, resources } = containerOf(workload)
      const names = ports!.map(({ name }) => name)
      for (const probe of [livenessProbe, readinessProbe, startupProbe]) expect(names).to.include(probe!.httpGet!.port)
      expect(resources!.requests).to.have.all.keys('cpu', 'memory')
      expect(podOf(workload).terminationGracePeriodSeconds).to.be.greaterThan(25)
      const constraints = podOf(workload).topologySpreadConstraints!
      expect(constraints).to.have.length(topologySpreadConstraints?.length ?? 2)
      for (const { labelSelector } of constraints) expect(labelSelector!.matchLabels).to.deep.equal(workload.spec.selector.matchLabels)
    })

    it('leaves the end of its log as the reason why it ended, which conditions tell', () => {
      expect(containerOf(workload).terminationMessagePolicy).to.equal('FallbackToLogsOnError')
    })

    it('has a service account that is there, and speaks to the API server only as the agent', () => {
      const { serviceAccountName, automountServiceAccountToken } = podOf(workload)
      expect(find('ServiceAccount', serviceAccountName!)).not.to.equal(undefined)
      expect(automountServiceAccountToken).to.equal(roleOf(workload) === 'agent')
    })

    it('writes only to volumes', () => {
      const volumes = [...(podOf(workload).volumes ?? []), ...(workload.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)]
      const mounted = containerOf(workload).volumeMounts!.map(({ name }) => name)
      expect(volumes.map(({ name }) => name)).to.have.members(mounted)
    })

    it('is told by the hash of its inputs', () => {
      expect(annotations!['logpipeline.dev/inputs-hash']).to.match(/^[0-9a-f]{32}$/)
    })
  }
}

describe('objects', () => {
  it('are of kinds that are listed as written, each of which some fixture has', () => {
    const written = USED_KINDS.filter(({ use }) => use !== 'read').map(({ group, kind }) => `${kind}.${group}`)
    const built = fixtureNames().flatMap(fixture => buildPipeline(readFixture(fixture)))
    const found = built.map(({ apiVersion, kind }) => `${kind}.${apiVersion.includes('/') ? apiVersion.split('/')[0] : ''}`)
    expect([...new Set(found)].sort()).to.deep.equal([...written].sort())
  })

  it('hold the ticketing configuration in the form that the role reads', () => {
    for (const fixture of fixtureNames()) {
      const config = buildPipeline(readFixture(fixture)).find(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-ticketing'),
      )
      const data = config!['data'] as Readonly<Record<string, string>>
      DECLARED_TICKETING.parse(JSON.parse(data[DECLARED_TICKETING_FILE]!))
    }
  })
})

function isSubset(part: object, whole: object): boolean {
  return Object.entries(part).every(([key, value]) => (whole as Record<string, unknown>)[key] === value)
}

/** The setting that a variable gives, with the content of the file that it names. */
function settingValue(
  { name, value = '' }: { name: string; value?: string },
  known: readonly string[],
  files: ReturnType<typeof mountedFiles>,
  secrets: Readonly<Record<string, KubernetesObject>>,
): readonly [string, string] {
  if (known.includes(name) || !name.endsWith('_FILE')) return [name, value]
  const file = files.get(value)!
  const { [file.key]: content = '' } = secrets[file.name]!['data'] as Readonly<Record<string, string>>
  return [name.slice(0, -'_FILE'.length), atob(content)]
}
