import { globSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findTestGroups, type TestGroup } from './jobs.ts'

const filesOf = (groups: readonly TestGroup[]) => groups.flatMap(({ files }) => files).sort()

describe('the jobs of npm test', () => {
  const all = findTestGroups()

  it('run every test file, each once', () => {
    expect(filesOf(all)).to.deep.equal(globSync('{dataplane,operator,hack,e2e}/**/*.test.ts').sort())
  })

  it('run of folders that share a process, and of suites that share a standalone, those alone that are wanted', () => {
    for (const wanted of ['dataplane/domain/time', 'e2e/features.test.ts']) {
      const groups = findTestGroups(({ name }) => name === wanted)
      expect(groups.map(({ name }) => name)).to.deep.equal([wanted])
      expect(filesOf(groups).every(file => file.startsWith(wanted))).to.equal(true)
    }
  })

  it('are few: small folders share processes, and suites of the usual standalone one', () => {
    const shared = all.filter(({ name }) => name.includes(' to '))
    expect(shared.length).to.be.above(1)
    for (const { files } of shared) expect(files.length).to.be.within(2, 30)
    const names = all.map(({ name }) => name)
    expect(new Set(names).size).to.equal(names.length)
  })
})
