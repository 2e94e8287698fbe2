import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { stillStarting } from './still-starting.ts'

const WAIT_MS = 10_000
const turn = () => new Promise(setImmediate)

describe('the start of a standalone', () => {
  /** Threads that run once they are told to, and what the start has waited for, if it has. */
  const begin = (names: readonly string[]) => {
    const clock = createFakeClock()
    const { promise: running, resolve } = Promise.withResolvers<void>()
    const left = new Set(names)
    const run = (name: string) => {
      left.delete(name)
      if (left.size === 0) resolve()
    }
    let waitedFor: readonly string[] | undefined
    void stillStarting({ running, notRunning: () => [...left] }, clock, WAIT_MS).then(starting => {
      waitedFor = starting
    })
    return { clock, run, waitedFor: () => waitedFor }
  }

  it('waits for a thread that is late, however early the others run', async () => {
    const { clock, run, waitedFor } = begin(['etl', 'anomaly', 'indexer'])
    run('etl')
    run('indexer')
    await turn()
    clock.advance(WAIT_MS - 1)
    await turn()
    expect(waitedFor()).to.equal(undefined)
    run('anomaly')
    await turn()
    expect(waitedFor()).to.deep.equal([])
    expect(clock.sleepers).to.equal(0)
  })

  it('waits no longer than that, and names the threads that do not run', async () => {
    const { clock, run, waitedFor } = begin(['etl', 'anomaly'])
    run('etl')
    clock.advance(WAIT_MS)
    await turn()
    expect(waitedFor()).to.deep.equal(['anomaly'])
  })
})
