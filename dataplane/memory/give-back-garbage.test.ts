import { execFileSync } from 'node:child_process'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createGarbageLook, ownMemory } from './give-back-garbage.ts'

const MIB = 1024 * 1024

/** Makes garbage in a process of its own, collects it, and prints by how much its resident memory fell, bytes. */
const GIVES_BACK = `
import { ownMemory } from ${JSON.stringify(new URL('./give-back-garbage.ts', import.meta.url).href)}
const memory = ownMemory()
let garbage = Array.from({ length: 1_000_000 }, (_none, at) => ({ at, list: [at] }))
const before = memory.processBytes()
garbage = undefined
memory[process.argv[1]]()
const end = performance.now() + 5_000
while (before - memory.processBytes() < ${60 * MIB} && performance.now() < end) await new Promise(resolve => setTimeout(resolve, 10))
console.log(before - memory.processBytes())`

/** A thread that just began, of a process that holds much. */
function startedThread() {
  const state = { process: 700 * MIB, thread: 60 * MIB, heap: 60 * MIB, inUse: 60 * MIB, collections: 0, atOnce: 0 }
  const look = createGarbageLook(
    {
      processBytes: () => state.process,
      threadBytes: () => state.thread,
      heapBytes: () => state.heap,
      begin() {
        state.collections++
        isBegun = true
      },
      collect() {
        state.collections++
        state.atOnce++
        state.thread = state.inUse
      },
    },
    640 * MIB,
  )
  let nowMs = 0
  let isBegun = false
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000
      look(nowMs)
      if (isBegun) state.thread = state.inUse
      isBegun = false
    }
  }
  return { state, pass }
}

/** The same a while after its start. */
function thread() {
  const { state, pass } = startedThread()
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

  it('is left alone where the thread has grown by little', () => {
    const { state, pass } = thread()
    state.thread += 9 * MIB
    pass(60)
    expect(state.collections).to.equal(0)
    state.thread += 4 * MIB
    pass(60)
    expect(state.collections).to.equal(1)
  })

  it('is collected beside the work of the thread, and at once where the process holds far too much', () => {
    const { state, pass } = thread()
    state.thread += 50 * MIB
    pass(1)
    expect(state).to.include({ collections: 1, atOnce: 0 })
    pass(1)
    state.process = 2_600 * MIB
    state.thread += 50 * MIB
    pass(2)
    expect(state).to.include({ collections: 2, atOnce: 1 })
  })

  it('is begun by a thread whose heap V8 then goes through while other work runs', async () => {
    let majors = 0
    const observer = new PerformanceObserver(list => {
      for (const { detail } of list.getEntries() as unknown as { detail: { kind: number } }[])
        if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) majors++
    })
    observer.observe({ entryTypes: ['gc'] })
    const memory = ownMemory()
    memory.begin()
    const end = performance.now() + 5_000
    while (majors === 0 && performance.now() < end) await new Promise(resolve => setTimeout(resolve, 10))
    observer.disconnect()
    expect(majors).to.be.at.least(1)
  })

  for (const way of ['begin', 'collect'])
    it(`goes back to the system, however it is collected: ${way}`, function () {
      this.timeout(20_000)
      const said = execFileSync(process.execPath, ['--input-type=module', '-e', GIVES_BACK, way], { encoding: 'utf8' })
      expect(Number(said)).to.be.at.least(60 * MIB)
    })

  it('is collected where V8 has freed much by itself and keeps the pages', () => {
    const { state, pass } = thread()
    state.heap += 80 * MIB
    pass(1)
    expect(state.collections).to.equal(0)
    state.heap -= 40 * MIB
    pass(1)
    expect(state.collections).to.equal(1)
    pass(60)
    expect(state.collections).to.equal(1)
  })

  it('is collected once it has loaded its program, also where the process holds little', () => {
    const { state, pass } = startedThread()
    state.process = 120 * MIB
    pass(4)
    expect(state.collections).to.equal(0)
    pass(60)
    expect(state.collections).to.equal(1)
  })

  it('is left to V8 while the process holds little', () => {
    const { state, pass } = thread()
    state.process = 500 * MIB
    state.thread += 300 * MIB
    pass(60)
    expect(state.collections).to.equal(0)
  })

  it('is collected every three seconds at most, every two where the process holds very much, and not again for what is in use', () => {
    const { state, pass } = thread()
    for (let second = 0; second < 20; second++) {
      state.thread += 60 * MIB
      pass(1)
    }
    expect(state.collections).to.be.within(6, 7)
    state.process = 1_700 * MIB
    state.collections = 0
    for (let second = 0; second < 20; second++) {
      state.thread += 60 * MIB
      pass(1)
    }
    expect(state.collections).to.be.within(9, 10)
    state.inUse = 500 * MIB
    state.thread = 500 * MIB
    pass(60)
    const before = state.collections
    pass(60)
    expect(state.collections).to.equal(before)
  })
})
