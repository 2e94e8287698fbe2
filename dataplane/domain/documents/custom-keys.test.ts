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

  it('one that an admitted one continues, or that continues an admitted one, is not: OpenSearch would refuse each record that has it', () => {
    const keys = new CustomKeys()
    for (const key of ['error', 'user.id', 'a.b.c']) expect(keys.admit('shop', DAY, key), key).to.equal(true)
    for (const key of ['error.type', 'error.a.b', 'user', 'a', 'a.b', 'a.b.c.d']) expect(keys.admit('shop', DAY, key), key).to.equal(false)
    for (const key of ['errors', 'user.name', 'a.b.d', 'error', 'user.id']) expect(keys.admit('shop', DAY, key), key).to.equal(true)
    expect(keys.admit('shop', '2026.11.23', 'error.type')).to.equal(true)
    expect(keys.of('shop', DAY).size).to.equal(6)
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
