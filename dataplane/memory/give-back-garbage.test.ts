import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createGarbageLook } from './give-back-garbage.ts'

const MIB = 1024 * 1024

function thread() {
  const state = { process: 700 * MIB, thread: 60 * MIB, inUse: 60 * MIB, collections: 0 }
  const look = createGarbageLook(
    {
      processBytes: () => state.process,
      threadBytes: () => state.thread,
      collect() {
        state.collections++
        state.thread = state.inUse
      },
    },
    640 * MIB,
  )
  let nowMs = 0
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000
      look(nowMs)
    }
  }
  pass(10)
  state.collections = 0
  return { state, pass }
}

describe('the garbage of a thread', () => {
  it('is collected while the process holds much, and the thread has grown', () => {
    const { state, pass } = thread()
    pass(60)
    expect(state.collections).to.equal(0)
    state.thread += 50 * MIB
    pass(1)
    expect(state.collections).to.equal(1)
    expect(state.thread).to.equal(60 * MIB)
  })

  it('is left to V8 while the process holds little', () => {
    const { state, pass } = thread()
    state.process = 500 * MIB
    state.thread += 300 * MIB
    pass(60)
    expect(state.collections).to.equal(0)
  })

  it('is collected every five seconds at most, and not again for what is in use', () => {
    const { state, pass } = thread()
    for (let second = 0; second < 20; second++) {
      state.thread += 60 * MIB
      pass(1)
    }
    expect(state.collections).to.be.within(4, 5)
    state.inUse = 500 * MIB
    state.thread = 500 * MIB
    pass(60)
    const before = state.collections
    pass(60)
    expect(state.collections).to.equal(before)
  })
})
