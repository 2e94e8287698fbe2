import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createTurns } from './turns.ts'

describe('turns', () => {
  it('so much runs at once, the rest in its order, owners by turns; beyond the bound of an owner, or of all, nothing is taken', async () => {
    const turns = createTurns({ running: 2, inAll: 5, ofOwner: 4 })
    const begun: string[] = []
    const ends: (() => void)[] = []
    const start = (name: string, owner: string) =>
      turns.take(owner, () => {
        begun.push(name)
        return new Promise<string>(resolve => ends.push(() => resolve(name)))
      })
    const all = ['a1', 'a2', 'a3', 'a4'].map(name => start(name, 'a')!)
    expect(start('a5', 'a')).to.equal(undefined)
    expect(turns.of('a')).to.equal(4)
    all.push(start('b1', 'b')!)
    expect(start('c1', 'c')).to.equal(undefined)
    await new Promise(setImmediate)
    expect(begun).to.deep.equal(['a1', 'a2'])
    for (let i = 0; i < all.length; i++) {
      ends[i]!()
      await new Promise(setImmediate)
    }
    await Promise.all(all)
    expect(begun).to.deep.equal(['a1', 'a2', 'a3', 'b1', 'a4'])
    expect(turns.of('a')).to.equal(0)
  })

  it('work that fails gives its place back', async () => {
    const turns = createTurns({ running: 1, inAll: 1, ofOwner: 1 })
    for (let i = 0; i < 3; i++)
      expect(await turns.take('a', () => Promise.reject(new Error('no')))!.catch(({ message }) => message)).to.equal('no')
    const throwing = () => {
      throw new Error('at once')
    }
    expect(await turns.take('a', throwing)!.catch(({ message }) => message)).to.equal('at once')
    expect(await turns.take('a', async () => 'yes')).to.equal('yes')
  })
})
