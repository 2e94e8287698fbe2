import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'

const ROOT = resolve(import.meta.dirname, '..')
/** First words that stand in place of a subject or put it off, and one that does so anywhere (CONTRIBUTING.md, "Language"). */
const RIDDLE = /(?:\/\*\*|\/\/|^\s+\*) ?(?:(?:What|Who|Of)\b|.*\b[Ww]hoever\b)/

describe('Comments', () => {
  it('begin with their subject', () => {
    const files = globSync('{dataplane,operator,hack,e2e}/**/*.{ts,tsx}', { cwd: ROOT })
    const riddlesIn = (file: string) =>
      readFileSync(resolve(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, i) => (RIDDLE.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : []))
    expect(files.length).to.be.above(1_000)
    expect(files.flatMap(riddlesIn)).to.deep.equal([])
  })
})
