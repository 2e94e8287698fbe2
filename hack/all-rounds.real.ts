/** Randomised comparisons with all of their rounds: `npm test` does a quarter of them (dataplane/testing/rounds.ts). */
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { runJob } from './testing/run-job.ts'

const ROOT = resolve(import.meta.dirname, '..')

describe('randomised comparisons, all rounds', function () {
  this.timeout(240_000)
  const files = globSync('dataplane/**/*.test.ts', { cwd: ROOT })
    .map(path => resolve(ROOT, path))
    .filter(path => readFileSync(path, 'utf8').includes('/testing/rounds.ts'))
  const folders = Object.entries(
    Object.groupBy(files, path =>
      path
        .slice(ROOT.length + 1)
        .split('/', 2)
        .join('/'),
    ),
  )

  it('are there', () => {
    expect(files).to.have.length.above(40)
  })

  for (const [folder, own = []] of folders)
    it(folder, async () => {
      const { passed, failures } = await runJob({ kind: 'tests', name: folder, files: own }, { TEST_ROUNDS: 'all' })
      expect(failures).to.deep.equal([])
      expect(passed).to.be.above(0)
    })
})
