import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { collectionPath, objectPath } from '../../dataplane/kube/resource.ts'
import { ApiRefusal, type ApiRequest, createApiRequest } from '../../dataplane/testing/cluster/api-request.ts'
import { LOG_PIPELINES, TICKETING_ROUTES } from '../controllers/kinds.ts'
import { type ClusterSuite, openClusterSuite } from '../testing/cluster-suite.ts'
import { API_GROUP_VERSION } from './names.ts'
import { ADMISSION_CASES } from './testing/admission-cases.ts'

export const needs = ['kubernetes']

const RESOURCES = { LogPipeline: LOG_PIPELINES, TicketingRoute: TICKETING_ROUTES }

describe('The real API server', function () {
  this.timeout(60_000)
  let suite: ClusterSuite
  let ask: ApiRequest
  before(async () => {
    suite = await openClusterSuite('rules')
    ask = createApiRequest(suite.kubectl.kubeconfig)
  })
  after(() => suite.close())

  it('finds no fault with the schemas: they are structural, and their rules cost little', async () => {
    for (const name of ['logpipelines.logpipeline.dev', 'ticketingroutes.logpipeline.dev']) {
      const { status } = await suite.objects.get('CustomResourceDefinition', name)
      expect(
        status.conditions.filter((one: { type: string }) => /NonStructuralSchema|KubernetesAPIApprovalPolicy/.test(one.type)),
      ).to.deep.equal([])
    }
  })

  for (const { kind, title, spec, old, name = 'shop', problem } of ADMISSION_CASES)
    it(`a ${kind} ${title}`, async () => {
      const { namespace } = suite
      const object = (body: object, more: object = {}) => ({
        apiVersion: API_GROUP_VERSION,
        kind,
        metadata: { name, namespace, ...more },
        spec: body,
      })
      const all = collectionPath(RESOURCES[kind], namespace)
      const one = objectPath(RESOURCES[kind], { name, namespace })
      try {
        const before = old === undefined ? undefined : await ask('POST', all, object(old))
        const [verb, path] = before === undefined ? ['POST', all] : ['PUT', one]
        const sent = ask(
          verb,
          `${path}?dryRun=All&fieldValidation=Strict`,
          object(spec, before && { resourceVersion: before.metadata.resourceVersion }),
        )
        const refusal = await sent.then(
          () => undefined,
          (error: Error) => (error instanceof ApiRefusal ? error.said : error.message),
        )
        if (problem === undefined) expect(refusal).to.equal(undefined)
        else expectRefusal(refusal, problem)
      } finally {
        if (old !== undefined) await suite.objects.remove(kind, name)
      }
    })
})

/** Reasons that the API server gives for types and bounds, in words of its own. */
const OF_THE_SCHEMA = /^(unknown field|expected (to match|a size|from \S+ to|one of [a-z]+, |credentials$))/

/** Names the field, and says what was expected in the words of the rule. */
function expectRefusal(refusal: string | undefined, problem: string): void {
  const [, path, reason] = /^(\S*): (.*)$/.exec(problem)!
  expect(refusal).to.contain(path!.replace(/^\./, '').replace(/\.(\d+)/g, '[$1]'))
  if (!OF_THE_SCHEMA.test(reason!)) expect(refusal).to.contain(reason)
}
