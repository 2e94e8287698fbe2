/**
 * OpenSearch's own tests of its REST API, on the embedded store. A test passes, is declined (the answer names what is not supported), stands in
 * `differences.yaml` with a reason, or is wrong, which fails the suite. `REST_TESTS=search/,scroll/` runs some; `REST_TESTS_REPORT=FILE` writes a line for each.
 */
import { writeFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { Unavailable } from '../testing/real/unavailable.ts'
import { readDifferences } from './testing/rest-tests/differences.ts'
import { installRestTests } from './testing/rest-tests/install.ts'
import { readRestApi } from './testing/rest-tests/rest-api.ts'
import { runYamlTest } from './testing/rest-tests/run-test.ts'
import { wipe } from './testing/rest-tests/wipe.ts'
import { readYamlTests } from './testing/rest-tests/yaml-test.ts'
import { startTestStore } from './testing/test-store.ts'

const WANTED = (process.env['REST_TESTS'] ?? '').split(',').filter(part => part !== '')
const REPORT = process.env['REST_TESTS_REPORT']
/** The number rises with what the store can do. */
const LEAST_PASSED = 886

describe('OpenSearch’s REST tests on the embedded store', () => {
  it('are right, declined by name, or different for a reason', async function () {
    this.timeout(840_000)
    const dir = install(() => this.skip())
    const api = readRestApi(`${dir}/api`)
    const { failsOnOpenSearch, byDesign, notYet } = readDifferences()
    const counts = {
      passed: 0,
      declined: 0,
      different: 0,
      'not right yet': 0,
      wrong: 0,
      'not for this version': 0,
      'fails on OpenSearch': 0,
    }
    const lines: string[] = []
    const problems: string[] = []
    const store = await startTestStore({ clock: systemClock })
    for (const test of readYamlTests(`${dir}/test`, WANTED)) {
      const other =
        test.skipped !== undefined ? 'not for this version' : failsOnOpenSearch.has(test.name) ? 'fails on OpenSearch' : undefined
      if (other !== undefined) {
        counts[other]++
        continue
      }
      const outcome = await runYamlTest(test, api, store.url)
      await wipe(store.url)
      const listed = byDesign.get(test.name) ?? notYet.get(test.name)
      const expected = byDesign.has(test.name) ? 'different' : 'not right yet'
      const kind = outcome.kind === 'wrong' && listed !== undefined ? expected : outcome.kind
      counts[kind]++
      lines.push(`${kind}\t${test.name}\t${'why' in outcome ? outcome.why.replaceAll('\n', ' ') : ''}`)
      if (kind === 'wrong') problems.push(`${test.name}\n    ${(outcome as { why: string }).why}`)
      else if (listed !== undefined && outcome.kind !== 'wrong')
        problems.push(`${test.name} is ${kind}, but differences.yaml has it: ${listed}`)
    }
    await store.stop()
    process.stdout.write(`${Object.entries(counts)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ')}
`)
    if (REPORT !== undefined) writeFileSync(REPORT, `${lines.join('\n')}\n`)
    expect(problems, problems.join('\n')).to.deep.equal([])
    if (WANTED.length === 0) expect(counts.passed).to.be.at.least(LEAST_PASSED)
  })
})

function install(skip: () => void): string {
  try {
    return installRestTests()
  } catch (error) {
    if (error instanceof Unavailable) skip()
    throw error
  }
}
