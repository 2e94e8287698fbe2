import { expect } from 'chai'
import { describe, it } from 'mocha'
import { CustomKeys } from './custom-keys.ts'

const DAY = '2026.11.22'

describe("custom keys of a tenant's day", () => {
  it('are admitted up to 300, and those once more', () => {
    const keys = new CustomKeys()
    for (let i = 0; i < 300; i++) expect(keys.admit('shop', DAY, `k${i}`)).to.equal(true)
    expect(keys.admit('shop', DAY, 'one more')).to.equal(false)
    expect(keys.admit('shop', DAY, 'k7')).to.equal(true)
    expect(keys.admit('other', DAY, 'one more')).to.equal(true)
  })

  it('are forgotten, of the tenant longest unused, beyond what memory is for', () => {
    const keys = new CustomKeys()
    keys.admit('first', DAY, 'key')
    for (let tenant = 0; tenant < 300; tenant++) for (let i = 0; i < 300; i++) keys.admit(`t${tenant}`, DAY, `${i}`.padStart(512, 'k'))
    expect(keys.of('t299', DAY).size).to.equal(300)
    expect(keys.of('t0', DAY).size).to.equal(0)
    expect(keys.of('first', DAY).size).to.equal(0)
  })
})
