import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { isDeeperThan } from './json-depth.ts'

function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
}

describe('nesting of JSON text', () => {
  it('is that of the value, whatever its strings hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), value => {
        const depth = depthOf(value)
        expect(isDeeperThan(JSON.stringify(value), depth)).to.equal(false)
        if (depth > 0) expect(isDeeperThan(JSON.stringify(value), depth - 1)).to.equal(true)
      }),
      { seed: 1 },
    )
  })

  it('brackets and escaped quotes within strings do not count', () => {
    expect(isDeeperThan(JSON.stringify({ a: '[[[["[[', 'b\\': '{{{' }), 1)).to.equal(false)
  })

  it('takes text that is no JSON', () => {
    for (const text of ['', '"', '"\\', ']]]', '[[[', '"[[[']) expect(isDeeperThan(text, 3)).to.equal(false)
    expect(isDeeperThan('[[[[', 3)).to.equal(true)
  })
})
