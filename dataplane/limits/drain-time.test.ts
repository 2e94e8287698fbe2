import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { beginDrain, graceLeftMs } from './drain-time.ts'

describe('the time of slow clients', () => {
  let end: (() => void) | undefined
  afterEach(() => end?.())

  it('is whole while the process runs, and when it begins to end', () => {
    expect(graceLeftMs(5_000)).to.equal(5_000)
    end = beginDrain()
    expect(graceLeftMs(5_000)).to.be.within(4_900, 5_000)
  })

  it('is over once it was given, but for a fifth, until the end is over', async () => {
    end = beginDrain()
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(graceLeftMs(20)).to.equal(4)
    end()
    expect(graceLeftMs(20)).to.equal(20)
  })

  it('is none where a server gives none', () => {
    end = beginDrain()
    expect(graceLeftMs(0)).to.equal(0)
  })
})
