/** Holds the list of differences against a real OpenSearch: it fails the tests that the list says it fails, and passes those that are different here by design. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { backendAddress } from '../testing/real/address.ts'
import { readDifferences } from './testing/rest-tests/differences.ts'
import { installRestTests } from './testing/rest-tests/install.ts'
import { readRestApi } from './testing/rest-tests/rest-api.ts'
import { runYamlTest } from './testing/rest-tests/run-test.ts'
import { wipe } from './testing/rest-tests/wipe.ts'
import { readYamlTests } from './testing/rest-tests/yaml-test.ts'

export const needs = ['opensearch']

describe('OpenSearch’s REST tests on OpenSearch', () => {
  it('fail and pass as the list of differences says', async function () {
    this.timeout(600_000)
    const dir = installRestTests()
    const api = readRestApi(`${dir}/api`)
    const url = backendAddress('opensearch')
    const { failsOnOpenSearch, byDesign } = readDifferences()
    const problems: string[] = []
    for (const test of readYamlTests(`${dir}/test`)) {
      const fails = failsOnOpenSearch.has(test.name)
      if (!(fails || byDesign.has(test.name))) continue
      const outcome = await runYamlTest(test, api, url)
      await wipe(url)
      if ((outcome.kind !== 'passed') !== fails) problems.push(`${test.name}: ${outcome.kind === 'passed' ? 'passed' : outcome.why}`)
    }
    expect(problems, problems.join('\n')).to.deep.equal([])
  })
})
