import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseAllDocuments } from 'yaml'
import { createKubectl, type Kubectl, until } from '../../hack/cluster/kubectl.ts'
import { API_GROUP_VERSION } from './names.ts'
import { ADMISSION_CASES } from './testing/admission-cases.ts'

export const needs = ['kubernetes']

const CRD_FILES = ['logpipelines', 'ticketingroutes'].map(name => new URL(`../../crds/${name}.yaml`, import.meta.url))

describe('The real API server', function () {
  this.timeout(60_000)
  let kubectl: Kubectl
  let namespace: { readonly name: string; close(): Promise<void> }
  before(async () => {
    kubectl = createKubectl('kubernetes')
    const crds = CRD_FILES.flatMap(file => parseAllDocuments(readFileSync(file, 'utf8')).map(document => document.toJS()))
    await kubectl.apply(...crds)
    for (const { metadata } of crds)
      await until(`${metadata.name} is served`, async () => {
        const crd = await kubectl.get('crd', metadata.name)
        return crd.status.conditions.some((one: { type: string; status: string }) => one.type === 'Established' && one.status === 'True')
      })
    namespace = await kubectl.namespace('rules')
  })
  after(() => namespace.close())

  it('finds no fault with the schemas: they are structural, and their rules cost little', async () => {
    for (const name of ['logpipelines.logpipeline.dev', 'ticketingroutes.logpipeline.dev']) {
      const { status } = await kubectl.get('crd', name)
      expect(
        status.conditions.filter((one: { type: string }) => /NonStructuralSchema|KubernetesAPIApprovalPolicy/.test(one.type)),
      ).to.deep.equal([])
    }
  })

  for (const { kind, title, spec, old, name = 'shop', problem } of ADMISSION_CASES)
    it(`a ${kind} ${title}`, async () => {
      const object = (body: object) => ({ apiVersion: API_GROUP_VERSION, kind, metadata: { name, namespace: namespace.name }, spec: body })
      const send = (verb: readonly string[], body: object) => kubectl.run([...verb, '--filename=-'], JSON.stringify(object(body)))
      try {
        if (old !== undefined) await send(['create'], old)
        const sent = send([old === undefined ? 'create' : 'replace', '--dry-run=server', '--validate=strict'], spec)
        const refusal = await sent.then(
          () => undefined,
          (error: Error) => error.message,
        )
        if (problem === undefined) expect(refusal).to.equal(undefined)
        else expectRefusal(refusal, problem)
      } finally {
        if (old !== undefined) await kubectl.remove(kind, name, namespace.name)
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
