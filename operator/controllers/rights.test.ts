import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { keyOf, qualifiedName } from '../kube/resource.ts'
import type { FakeRequest } from '../kube/testing/fake-faults.ts'
import { PIPELINE, ROUTE, SECRET } from '../testing/objects.ts'
import { type OperatorHarness, startOperatorHarness } from '../testing/operator-harness.ts'
import { LOG_PIPELINES, SECRETS, TICKETING_ROUTES } from './kinds.ts'
import { LEADER_ELECTION_RULES, OPERATOR_RULES } from './rights.ts'

describe('Rights of the operator', () => {
  let harness: OperatorHarness

  beforeEach(async () => {
    harness = await startOperatorHarness()
    for (const [resource, object] of [[SECRETS, SECRET] as const, [LOG_PIPELINES, PIPELINE] as const, [TICKETING_ROUTES, ROUTE] as const])
      harness.server.storage.create(qualifiedName(resource), keyOf(object.metadata), object, 'kubectl')
  })
  afterEach(() => harness.close())

  /** A life of a pipeline: made, scaled down to one mode, changed, stopped. */
  const live = async (settings?: Readonly<Record<string, string>>) => {
    const operator = await harness.run(settings)
    await harness.settle()
    const allInOne = { spec: { mode: 'AllInOne', bus: null, search: null } }
    harness.server.storage.patch('logpipelines.logpipeline.dev', 'shop/shop', allInOne, 'kubectl')
    await harness.settle()
    await harness.stop(operator)
    return harness.server.requests.filter(({ resource }) => resource !== 'unknown')
  }

  it('cover every request that it makes', async () => {
    const lacking = (await live()).filter(request => !isGranted(request))
    expect(lacking.map(({ verb, resource }) => `${verb} ${resource}`)).to.deep.equal([])
  })

  it('are all used, but for those that are for the agent, for optional kinds and for blockOwnerDeletion', async () => {
    const used = new Set(
      (await live()).flatMap(({ verb, resource }) => (verb === 'patch' ? ['patch', 'create'] : [verb]).map(v => `${v} ${resource}`)),
    )
    const granted = [...OPERATOR_RULES.slice(0, 2), ...LEADER_ELECTION_RULES].flatMap(({ apiGroups, resources, verbs }) =>
      resources.flatMap(resource => verbs.map(verb => `${verb} ${withGroup(resource, apiGroups[0]!)}`)),
    )
    expect(granted.filter(right => !used.has(right))).to.deep.equal([])
  })

  it('are asked for in the given namespaces alone', async () => {
    const elsewhere = { ...PIPELINE, metadata: { name: 'other', namespace: 'other' } }
    harness.server.storage.create(qualifiedName(LOG_PIPELINES), 'other/other', elsewhere, 'kubectl')
    const requests = await live({ WATCH_NAMESPACES: 'shop', POD_NAMESPACE: 'ops' })
    const namespaces = new Set(requests.map(({ resource, namespace }) => `${resource.startsWith('leases') ? 'lease ' : ''}${namespace}`))
    expect([...namespaces].sort()).to.deep.equal(['lease ops', 'shop'])
  })
})

function isGranted({ verb, resource }: FakeRequest): boolean {
  // Server-side apply of something new.
  const needed = verb === 'patch' && !resource.includes('/') ? ['patch', 'create'] : [verb]
  const granted = [...OPERATOR_RULES, ...LEADER_ELECTION_RULES].flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap(group => (resources.some(plural => withGroup(plural, group) === resource) ? verbs : [])),
  )
  return needed.every(verb => granted.includes(verb))
}

/** As requests name them: `logpipelines.logpipeline.dev/status`. */
function withGroup(resource: string, group: string): string {
  const [plural, subresource] = resource.split('/') as [string, string?]
  const qualified = group === '' ? plural : `${plural}.${group}`
  return subresource === undefined ? qualified : `${qualified}/${subresource}`
}
