import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createLifeSigns } from './life-signs.ts'

describe('life signs of a process', () => {
  const looks = (signs: { look(): boolean }, count: number) => Array.from({ length: count }, () => signs.look())

  it('are asked for once until there is one', () => {
    let asked = 0
    const signs = createLifeSigns({ maxSilent: 10, maxSilentAtStart: 10 }, () => asked++)
    looks(signs, 5)
    expect(asked).to.equal(1)
    signs.heard()
    looks(signs, 5)
    expect(asked).to.equal(2)
  })

  it('are missed after so many looks, counted from the last one', () => {
    const signs = createLifeSigns({ maxSilent: 2, maxSilentAtStart: 3 }, () => undefined)
    expect(looks(signs, 4)).to.deep.equal([true, true, true, false])
    signs.heard()
    expect(looks(signs, 3)).to.deep.equal([true, true, false])
    signs.heard()
    expect(signs.look()).to.equal(true)
  })
})
