/** The manifests of docs/sending.md in the hands of kubeconform, for which an unknown field is an error. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { onlyBlock } from '../e2e/testing/page-blocks.ts'
import { BUILD_LIMIT_MS, type Conformance, startConformance } from '../operator/chart/testing/chart-conformance.ts'

describe('docs/sending.md', function () {
  this.timeout(60_000)
  let conformance: Conformance | undefined
  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 30_000)
    conformance = await startConformance(this)
  })
  after(() => conformance?.close())

  it('has manifests that Kubernetes knows', async () => {
    expect(await conformance!.problems(onlyBlock('docs/sending.md', 'yaml kubernetes'))).to.deep.equal([])
  })
})
