import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { GOLDEN, goldenFiles } from './testing/golden-files.ts'

const made = await goldenFiles()

describe('what each platform is sent for one incident', () => {
  for (const [name, text] of Object.entries(made))
    it(`is as it stands in testing/golden/${name}; hack/node hack/golden.ts --write writes it anew`, () => {
      expect(text).to.equal(readFileSync(new URL(name, GOLDEN), 'utf8'))
    })

  it('has no file that nobody makes', () => expect(readdirSync(GOLDEN).sort()).to.deep.equal(Object.keys(made).sort()))
})
