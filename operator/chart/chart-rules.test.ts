import { readFileSync } from 'node:fs'
import type { V1PolicyRule } from '@kubernetes/client-node'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { parse, parseAllDocuments } from 'yaml'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { keyOf } from '../../dataplane/kube/resource.ts'
import type { JsonObject } from '../../dataplane/kube/testing/field-set.ts'
import { USED_KINDS } from '../api/used-kinds.ts'
import { AGENT_RULES } from '../desired/service-account.ts'
import { FIXTURES } from '../desired/testing/golden-files.ts'
import { type OperatorHarness, startOperatorHarness } from '../testing/operator-harness.ts'
import { readChartFile } from './testing/chart-files.ts'

const PIPELINES = 'logpipelines.logpipeline.dev'
const PLURALS: Readonly<Record<string, string>> = {
  LogPipeline: PIPELINES,
  TicketingRoute: 'ticketingroutes.logpipeline.dev',
  ...Object.fromEntries(USED_KINDS.map(({ kind, plural, group }) => [kind, group === '' ? plural : `${plural}.${group}`])),
}
const ALL_IN_ONE = { mode: 'AllInOne', tenant: 'shop', agent: { enabled: false }, networkPolicy: { enabled: false } }
/** Rights that no request shows: to the finalizers of an owner, and those that are only granted on. */
const UNSEEN = ['update logpipelines.logpipeline.dev/finalizers', ...rightsOf(AGENT_RULES)]

/** `verb resource.group/subresource` for each. */
function rightsOf(rules: readonly V1PolicyRule[]): readonly string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap(group => resources.flatMap(resource => verbs.map(verb => `${verb} ${qualified(resource, group)}`))),
  )
}

function qualified(resource: string, group: string): string {
  const [plural, subresource] = resource.split('/')
  return [group === '' ? plural : `${plural}.${group}`, ...(subresource === undefined ? [] : [subresource])].join('/')
}

describe('The rights that the chart gives to the operator', () => {
  let harness: OperatorHarness
  beforeEach(async () => {
    harness = await startOperatorHarness()
  })
  afterEach(() => harness.close())

  const fixture = parseAllDocuments(readFileSync(new URL('everything.yaml', FIXTURES), 'utf8')).map(
    document => document.toJS() as KubernetesObject,
  )
  const create = (object: KubernetesObject) => {
    const { uid: _uid, ...metadata } = object.metadata
    const { storage } = harness.server
    storage.create(PLURALS[object.kind]!, keyOf(metadata), { ...object, metadata }, 'kubectl')
    const { ['status']: status = {} } = object as { readonly status?: JsonObject }
    storage.patch(PLURALS[object.kind]!, keyOf(metadata), { status }, 'somebody', 'status')
  }
  const setSpec = (spec: JsonObject) => harness.server.storage.patch(PIPELINES, 'observability/shop', { spec }, 'kubectl', 'main')
  const nothingOf = (spec: JsonObject) => Object.fromEntries(Object.keys(spec).map(name => [name, null]))

  /** From nothing to everything and back. */
  async function liveThrough(settings: Readonly<Record<string, string>>): Promise<void> {
    for (const used of USED_KINDS.filter(kind => 'isOptional' in kind)) {
      const { group, kind, plural, versions } = used
      const given = fixture.find(object => object.kind === kind)?.apiVersion.split('/')[1]
      harness.server.addResource({ group, version: given ?? versions[0], kind, plural, namespaced: true })
    }
    const [pipeline, ...others] = fixture as [KubernetesObject, ...KubernetesObject[]]
    const everything = pipeline['spec'] as JsonObject
    for (const object of others) create(object)
    create({ ...pipeline, spec: ALL_IN_ONE })
    await harness.run(settings)
    await harness.settle()
    setSpec({ ...nothingOf(ALL_IN_ONE), ...everything })
    await harness.settle()
    setSpec({ ...nothingOf(everything), ...ALL_IN_ONE })
    for (const { kind, metadata } of others.filter(({ kind }) => kind === 'TicketingRoute'))
      harness.server.storage.delete(PLURALS[kind]!, keyOf(metadata))
    await harness.settle()
  }

  function requested(): readonly string[] {
    const requests = harness.server.requests.filter(({ resource }) => resource !== 'unknown' && !resource.startsWith('leases.'))
    const rights = requests.flatMap(({ verb, resource }) =>
      // An apply where nothing is has to be allowed as a creation, too.
      verb === 'patch' && !resource.includes('/') ? [`patch ${resource}`, `create ${resource}`] : [`${verb} ${resource}`],
    )
    return [...new Set(rights)].sort()
  }

  const given = () => rightsOf(parse(readChartFile('files/operator-rules.yaml')))

  it('are what it asks for, all kinds made, changed and removed, and not one more', async () => {
    await liveThrough({})
    const asked = requested()
    expect(asked.filter(right => !given().includes(right))).to.deep.equal([])
    expect(given().filter(right => !asked.includes(right) && !UNSEEN.includes(right))).to.deep.equal([])
  })

  it('include what it grants to agents, since nobody may grant what they may not do', () => {
    expect(given()).to.include.members(rightsOf(AGENT_RULES))
  })

  it('suffice within the namespaces that it watches', async () => {
    await liveThrough({ WATCH_NAMESPACES: 'observability', POD_NAMESPACE: 'system' })
    const asked = harness.server.requests.filter(({ resource }) => resource !== 'unknown')
    expect(asked.filter(({ namespace }) => namespace !== 'observability').map(({ resource }) => resource)).to.satisfy(
      (resources: readonly string[]) => resources.every(resource => resource === 'leases.coordination.k8s.io'),
    )
    expect(requested().filter(right => !given().includes(right))).to.deep.equal([])
  })

  it('to its Lease are those that its election uses', async () => {
    await harness.run({ POD_NAMESPACE: 'system', LEASE_NAME: 'blue-logpipeline-operator' })
    await harness.settle()
    await harness.passUntil('the lead was renewed', () => harness.server.writes().some(({ verb }) => verb === 'update'))
    const asked = harness.server.requests.filter(({ resource }) => resource.startsWith('leases.'))
    const [, text] = /^rules:\n([\s\S]*?)^---$/m.exec(readChartFile('templates/leader-election-role.yaml'))!
    const rules = parse(
      text!.replace('{{ include "logpipeline.fullname" . | quote }}', 'blue-logpipeline-operator'),
    ) as readonly V1PolicyRule[]
    expect([...new Set(asked.map(({ verb, resource }) => `${verb} ${resource}`))].sort()).to.deep.equal([...rightsOf(rules)].sort())
    const names = asked.filter(({ verb }) => verb !== 'create').map(({ name }) => name)
    expect(new Set(names)).to.deep.equal(new Set(rules.flatMap(({ resourceNames = [] }) => resourceNames)))
    expect(new Set(asked.map(({ namespace }) => namespace))).to.deep.equal(new Set(['system']))
  })
})
