import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MemoryGuard } from './memory-guard.ts'
import { TurnQueue } from './turn-queue.ts'

const MIB = 1024 * 1024
const LIMITS = { heapBytes: 256 * MIB, processBytes: 448 * MIB }
const NOTHING = { began: () => undefined, ended: () => undefined }

/** A process whose heap holds `liveBytes`, and garbage until it is collected. */
class FakeMemory {
  liveBytes = 0
  garbageBytes = 0
  collections = 0
  asked = 0
  readonly growths: number[] = []

  usage(): NodeJS.MemoryUsage {
    const heapUsed = this.liveBytes + this.garbageBytes
    return { heapUsed, heapTotal: heapUsed, external: 0, arrayBuffers: 0, rss: heapUsed }
  }

  collect(): void {
    this.asked++
    this.#collected()
  }

  letGrow(percent: number): void {
    this.growths.push(percent)
  }

  collectItself(): void {
    this.#collected()
  }

  #collected(): void {
    this.garbageBytes = 0
    this.collections++
  }
}

function guarded() {
  const memory = new FakeMemory()
  const query = new TurnQueue(NOTHING).begin(1)
  const guard = new MemoryGuard(LIMITS, () => [query], memory)
  /** A turn in which memory changes as told. */
  const turn = (change: () => void) => {
    change()
    guard.look(query, 8, 0)
  }
  return { memory, query, turn }
}

describe('the guard of the query process’s memory', () => {
  it('lets the heap grow freely while little is in use, and as V8 decides while much is', () => {
    const { memory, turn } = guarded()
    const at = (mib: number) =>
      turn(() => {
        memory.liveBytes = mib * MIB
      })
    for (const mib of [50, 150, 200, 220]) at(mib)
    expect(memory.growths).to.deep.equal([200])
    for (const mib of [230, 400, 200, 185]) at(mib)
    expect(memory.growths).to.deep.equal([200, 0])
    for (const mib of [175, 220]) at(mib)
    expect(memory.growths).to.deep.equal([200, 0, 200])
  })

  it('never holds the thread to collect what the process collects by itself', () => {
    const { memory, query, turn } = guarded()
    for (let round = 0; round < 10; round++) {
      for (let at = 0; at < 25; at++)
        turn(() => {
          memory.garbageBytes += 10 * MIB
        })
      turn(() => memory.collectItself())
    }
    expect([memory.asked, query.signal.aborted]).to.deep.equal([0, false])
  })

  it('ends the heaviest query once a collection has left too much', () => {
    const { memory, query, turn } = guarded()
    for (let at = 0; at < 20; at++)
      turn(() => {
        memory.liveBytes += 10 * MIB
      })
    expect(query.signal.aborted).to.equal(false)
    turn(() => memory.collectItself())
    expect([memory.asked, query.signal.aborted]).to.deep.equal([1, true])
  })

  it('looks again before it ends a query: what a turn has made since the collection may be garbage', () => {
    const { memory, query, turn } = guarded()
    turn(() => {
      memory.liveBytes = 150 * MIB
    })
    turn(() => {
      memory.collectItself()
      memory.garbageBytes = 60 * MIB
    })
    expect([memory.asked, query.signal.aborted]).to.deep.equal([1, false])
  })
})
