/** The same tests on a real OpenSearch, which hold the list of those that it fails itself. */
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

const WANTED = (process.env['REST_TESTS'] ?? '').split(',').filter(part => part !== '')

describe('OpenSearch’s REST tests on OpenSearch', () => {
  it('pass, but for those that are listed', async function () {
    this.timeout(1_500_000)
    const dir = installRestTests()
    const api = readRestApi(`${dir}/api`)
    const url = backendAddress('opensearch')
    const { failsOnOpenSearch } = readDifferences()
    const failed: string[] = []
    let passed = 0
    for (const test of readYamlTests(`${dir}/test`, WANTED)) {
      if (test.skipped !== undefined) continue
      const outcome = await runYamlTest(test, api, url)
      await wipe(url)
      if (outcome.kind === 'passed') passed++
      else if (!failsOnOpenSearch.has(test.name)) failed.push(`${test.name}\n    ${outcome.why}`)
    }
    process.stdout.write(`${passed} passed, ${failed.length} failed and not listed\n`)
    expect(failed, failed.join('\n')).to.deep.equal([])
  })
})
