import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FIXTURES, goldenFiles } from './testing/golden-files.ts'

describe('objects of the fixtures', () => {
  const files = goldenFiles()

  it('have a golden file each', () => {
    const found = readdirSync(FIXTURES).filter(name => name.endsWith('.golden.yaml'))
    expect(found.sort()).to.deep.equal(Object.keys(files).sort())
  })

  for (const [name, text] of Object.entries(files)) {
    it(`${name} is what the code makes (hack/node hack/golden.ts --write)`, () =>
      expect(readFileSync(new URL(name, FIXTURES), 'utf8')).to.equal(text))
  }
})
