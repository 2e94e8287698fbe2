import { expect } from 'chai'
import { describe, it } from 'mocha'
import { RetiredMemory } from './retired-memory.ts'

describe('memory that has been replaced', () => {
  function create() {
    const retired = new RetiredMemory()
    const released: string[] = []
    return { retired, released, retire: (name: string) => retired.retire({ release: () => void released.push(name) }) }
  }

  it('goes back at once where nobody reads', () => {
    const { retire, released } = create()
    retire('a')
    expect(released).to.deep.equal(['a'])
  })

  it('goes back once all have ended who began before, however many begin later', () => {
    const { retired, retire, released } = create()
    const [first, second] = [retired.begin(), retired.begin()]
    retire('a')
    const third = retired.begin()
    retired.end(first)
    expect(released).to.deep.equal([])
    retire('b')
    retired.begin()
    retired.end(second)
    expect(released).to.deep.equal(['a'])
    retired.end(third)
    expect(released).to.deep.equal(['a', 'b'])
  })
})
