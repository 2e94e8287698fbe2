import { cachedDataVersionTag } from 'node:v8'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { markHeapsAtOnce } from './heap-marking.ts'

describe('the marking of heaps', () => {
  afterEach(() => markHeapsAtOnce(false))

  it('counts for compiled code while it is at once, and no longer', () => {
    const atStart = cachedDataVersionTag()
    markHeapsAtOnce(true)
    expect(cachedDataVersionTag()).to.not.equal(atStart)
    markHeapsAtOnce(false)
    expect(cachedDataVersionTag()).to.equal(atStart)
  })
})
