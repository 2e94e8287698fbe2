import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { type AtFirstUse, atFirstUse } from './at-first-use.ts'

describe('what is opened at its first use', () => {
  let made: number
  let ended: number[]
  let client: AtFirstUse<number>
  const close = () => client.close(async opened => void ended.push(opened))
  beforeEach(() => {
    made = 0
    ended = []
    client = atFirstUse(async () => ++made)
  })

  it('is neither made nor ended where nobody uses it', async () => {
    await close()
    expect([made, ended]).to.deep.equal([0, []])
  })

  it('is made once for all who ask, also at once, and ended', async () => {
    expect(await Promise.all([client.open(), client.open()])).to.deep.equal([1, 1])
    expect(await client.open()).to.equal(1)
    await close()
    expect(ended).to.deep.equal([1])
  })
})
