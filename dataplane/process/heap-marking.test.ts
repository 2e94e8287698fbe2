import { cachedDataVersionTag } from 'node:v8'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { createHeapMarking } from './heap-marking.ts'

describe('the marking of heaps', () => {
  const marking = createHeapMarking()
  const asAtStart = cachedDataVersionTag()
  const take = (bodies: number, bytes: number) => {
    for (let i = 0; i < bodies; i++) marking.noteBody(bytes)
  }
  /** V8 tells its flags by a number alone. */
  const isAsAtStart = () => cachedDataVersionTag() === asAtStart
  afterEach(() => marking.stop())

  it('is in one go while bodies are large, and bit by bit while they are small', () => {
    const seen = [
      [256, 60_000],
      [256, 600],
      [512, 60_000],
    ].map(([bodies, bytes]) => {
      take(bodies!, bytes!)
      return isAsAtStart()
    })
    expect(seen).to.deep.equal([false, true, false])
  })

  it('is chosen by the mean of many bodies, not by one', () => {
    take(255, 600)
    take(1, 1_000_000)
    expect(isAsAtStart()).to.equal(true)
  })

  it('is as by default at the end', () => {
    take(256, 60_000)
    marking.stop()
    expect(isAsAtStart()).to.equal(true)
  })
})
