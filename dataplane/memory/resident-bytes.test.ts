import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { describe, it } from 'mocha'

const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)

/** Opens files until the system gives no more, then looks at its memory as each thread does. */
const WITHOUT_FILES = `
import { openSync } from 'node:fs'
import { residentBytes } from ${module('./resident-bytes.ts')}
import { ownMemory } from ${module('./give-back-garbage.ts')}
const memory = ownMemory()
const before = residentBytes()
let problem
while (problem === undefined) try { openSync('/dev/null', 'r') } catch ({ code }) { problem = code }
console.log(JSON.stringify({ problem, before, after: residentBytes(), process: memory.processBytes(), thread: memory.threadBytes() }))`

describe('resident memory', () => {
  it('is the last that was known while no file can be opened', () => {
    const arguments_ = ['--input-type=module', '--eval', WITHOUT_FILES]
    const told = JSON.parse(execFileSync(process.execPath, arguments_, { encoding: 'utf8' }))
    expect(told.problem).to.equal('EMFILE')
    expect(told.after).to.equal(told.before).and.to.be.greaterThan(1_000_000)
    expect(told.process).to.equal(told.before)
    expect(told.thread).to.be.greaterThan(1_000_000)
  })
})
