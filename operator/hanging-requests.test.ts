import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { KubernetesObject } from '../dataplane/kube/object.ts'
import { keyOf, qualifiedName, type Resource } from '../dataplane/kube/resource.ts'
import type { LogPipelineStatus } from './api/status.ts'
import { LOG_PIPELINES, SECRETS, TICKETING_ROUTES } from './controllers/kinds.ts'
import { PIPELINE, ROUTE, SECRET } from './testing/objects.ts'
import { type OperatorHarness, startOperatorHarness } from './testing/operator-harness.ts'

const SILENCE = { kind: 'silence' } as const
const HANGING = 40
const NAMES = Array.from({ length: HANGING }, (_, n) => `hangs-${n}`)

describe('Objects whose writes an admission webhook does not answer', function () {
  this.timeout(60_000)
  let harness: OperatorHarness
  beforeEach(async () => {
    harness = await startOperatorHarness()
  })
  afterEach(() => harness.close())

  const create = (resource: Resource, object: KubernetesObject) =>
    harness.server.storage.create(qualifiedName(resource), keyOf(object.metadata), object, 'kubectl')
  const named = (object: KubernetesObject, name: string, namespace = 'shop'): KubernetesObject => ({
    ...object,
    metadata: { ...object.metadata, name, namespace },
  })
  const generationTold = (resource: Resource, key: string) =>
    (harness.server.storage.get(qualifiedName(resource), key)['status'] as { readonly observedGeneration?: number } | undefined)
      ?.observedGeneration
  const msUntil = async (what: string, holds: () => boolean): Promise<number> => {
    const startMs = harness.clock.nowMs()
    await harness.passUntil(what, holds)
    return harness.clock.nowMs() - startMs
  }

  it('hold up no other TicketingRoute, of the same namespace or another', async () => {
    const status = 'ticketingroutes.logpipeline.dev/status'
    for (const name of NAMES) {
      harness.server.fault({ resource: status, namespace: 'shop', name }, SILENCE, Number.POSITIVE_INFINITY)
      create(TICKETING_ROUTES, named(ROUTE, name))
    }
    await harness.run()
    const asked = () => harness.server.requests.filter(({ resource }) => resource === status).length
    await harness.passUntil('requests hang', () => asked() >= 16)
    for (const namespace of ['shop', 'elsewhere']) {
      create(TICKETING_ROUTES, named(ROUTE, 'well', namespace))
      const isTold = () => generationTold(TICKETING_ROUTES, `${namespace}/well`) === 1
      expect(await msUntil('it is told', isTold), `milliseconds, in ${namespace}`).to.be.below(4_000)
    }
    // Five minutes later each has hung several times, and the changes of others wake all of the namespace.
    const untilMs = harness.clock.nowMs() + 300_000
    await harness.passUntil('some time', () => harness.clock.nowMs() > untilMs)
    for (const n of [1, 2, 3]) {
      create(TICKETING_ROUTES, named(ROUTE, `later-${n}`))
      const isTold = () => generationTold(TICKETING_ROUTES, `shop/later-${n}`) === 1
      expect(await msUntil('it is told', isTold), `milliseconds, later-${n}`).to.be.below(3_000)
    }
  })

  it('hold up no other LogPipeline', async () => {
    create(SECRETS, SECRET)
    for (const name of NAMES) {
      create(LOG_PIPELINES, named({ ...PIPELINE, spec: { mode: 'AllInOne' } }, name))
      harness.server.fault({ resource: 'statefulsets.apps', name }, SILENCE, Number.POSITIVE_INFINITY)
    }
    await harness.run()
    const asked = () => harness.server.requests.filter(({ resource, verb }) => resource === 'statefulsets.apps' && verb === 'patch').length
    await harness.passUntil('requests hang', () => asked() >= 16)
    create(LOG_PIPELINES, named(PIPELINE, 'well'))
    const isMade = () => harness.server.storage.list('deployments.apps').some(({ metadata }) => metadata.name === 'well-agent')
    expect(await msUntil('it is made', isMade), 'milliseconds').to.be.below(6_500)
  })

  it('hold up no other object of their pipeline', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, named(PIPELINE, 'shop'))
    harness.server.fault({ verb: 'patch', resource: 'poddisruptionbudgets.policy' }, SILENCE, Number.POSITIVE_INFINITY)
    await harness.run()
    const made = (resource: string) => harness.server.storage.list(resource).length
    const ms = await msUntil('the others are made', () => made('deployments.apps') === 4 && made('services') === 4)
    // One request hangs for 30 s before it is known.
    expect(ms, 'milliseconds').to.be.below(40_000)
    const isTold = () => {
      const { conditions = [] } = harness.server.storage.get('logpipelines.logpipeline.dev', 'shop/shop')['status'] as LogPipelineStatus
      return conditions.some(({ type, message }) => type === 'ObjectsApplied' && /poddisruptionbudgets.*no answer within/.test(message))
    }
    await harness.passUntil('it is told', isTold)
  })
})
