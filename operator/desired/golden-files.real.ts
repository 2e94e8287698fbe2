/** Objects that the operator makes of its fixtures, held against the schemas of Kubernetes. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { BUILD_LIMIT_MS, type Conformance, startConformance } from '../chart/testing/chart-conformance.ts'
import { goldenFiles } from './testing/golden-files.ts'

describe('The objects that the operator makes', () => {
  let conformance: Conformance | undefined
  before(async function () {
    this.timeout(BUILD_LIMIT_MS + 30_000)
    conformance = await startConformance(this)
  })
  after(() => conformance?.close())

  for (const [name, text] of Object.entries(goldenFiles()))
    it(`are as Kubernetes knows them: ${name}`, async () => {
      expect(await conformance!.problems(text)).to.deep.equal([])
    })
})
