/** Randomised comparisons with all of their rounds: `npm test` does a quarter of them (dataplane/testing/rounds.ts). */
import { globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { runJob } from './testing/run-job.ts'

const ROOT = resolve(import.meta.dirname, '..')

describe('randomised comparisons, all rounds', function () {
  this.timeout(240_000)
  const files = globSync('dataplane/**/*.test.ts', { cwd: ROOT }).filter(path =>
    readFileSync(resolve(ROOT, path), 'utf8').includes('/testing/rounds.ts'),
  )

  it('are there', () => {
    expect(files).to.have.length.above(40)
  })

  for (const [folder, own = []] of Object.entries(Object.groupBy(files, path => dirname(path))))
    it(folder, async () => {
      const { passed, failures } = await runJob(
        { kind: 'tests', name: folder, files: own.map(path => resolve(ROOT, path)) },
        { TEST_ROUNDS: 'all' },
      )
      expect(failures).to.deep.equal([])
      expect(passed).to.be.above(0)
    })
})
