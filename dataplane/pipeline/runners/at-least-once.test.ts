import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Bus, ConsumedRecord, Subscription, TopicPartitionOffset } from '../../ports/bus.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { runAtLeastOnce } from './at-least-once.ts'
import { LeftUndone, nextOffsets, type Work } from './work.ts'

function record(offset: number, partition = 0): ConsumedRecord {
  return { topic: 't', partition, offset, timestampMs: 0, key: '', value: new Uint8Array(), headers: {} }
}

/** A bus with one subscription that hands out `batches` and then aborts. */
function busWith(batches: readonly (readonly ConsumedRecord[])[], onEmpty: () => void) {
  const committed: (readonly TopicPartitionOffset[])[] = []
  let next = 0
  let closed = false
  const subscription: Subscription = {
    async poll() {
      if (next === batches.length) onEmpty()
      return batches[next++] ?? []
    },
    async commit(offsets) {
      committed.push(offsets)
    },
    async seek() {},
    assignment: () => [],
    async close() {
      closed = true
    },
  }
  const bus = { subscribe: async () => subscription } as unknown as Bus
  return { bus, committed, isClosed: () => closed }
}

const SUBSCRIPTION = { subscription: { groupId: 'g', topics: ['t'] }, limits: { maxRecords: 10, maxBytes: 1000, waitMs: 1 } }

describe('the at-least-once runner', () => {
  it('commits a batch only after its output is durable, in order, and counts after the commit', async () => {
    const stop = new AbortController()
    const { bus, committed, isClosed } = busWith([[record(0)], [record(1)]], () => stop.abort())
    const outputs: (() => void)[] = []
    const counted: number[] = []
    const work: Work = {
      ...SUBSCRIPTION,
      maxInFlight: 3,
      handle: ([first]) => new Promise(done => outputs.push(() => done(() => counted.push(first!.offset)))),
    }
    const running = runAtLeastOnce({ bus, clock: createFakeClock(), work, signal: stop.signal })
    await new Promise(setImmediate)
    expect(outputs.length).to.equal(2)
    outputs[1]!()
    await new Promise(setImmediate)
    expect(committed).to.deep.equal([])
    outputs[0]!()
    await running
    expect(committed.map(([only]) => only!.offset)).to.deep.equal([1, 2])
    expect(counted).to.deep.equal([0, 1])
    expect(isClosed()).to.equal(true)
  })

  it('a slow batch is overtaken, but for as many as may be uncommitted', async () => {
    const stop = new AbortController()
    const { bus, committed } = busWith(
      [0, 1, 2, 3, 4].map(offset => [record(offset)]),
      () => stop.abort(),
    )
    const outputs: (() => void)[] = []
    const handle = () => new Promise<undefined>(done => outputs.push(() => done(undefined)))
    const work: Work = { ...SUBSCRIPTION, maxInFlight: 2, maxUncommitted: 3, handle }
    const running = runAtLeastOnce({ bus, clock: createFakeClock(), work, signal: stop.signal })
    await new Promise(setImmediate)
    expect(outputs.length, 'under way').to.equal(2)
    outputs[1]!()
    await new Promise(setImmediate)
    expect(outputs.length, 'one goes on beside the slow one').to.equal(3)
    outputs[2]!()
    await new Promise(setImmediate)
    expect(outputs.length, 'three are uncommitted').to.equal(3)
    expect(committed).to.deep.equal([])
    outputs[0]!()
    await new Promise(setImmediate)
    for (const done of outputs) done()
    await running
    expect(committed.map(([only]) => only!.offset)).to.deep.equal([1, 2, 3, 4, 5])
  })

  it('commits nothing from the first failed batch on, and says why it ended', async () => {
    const stop = new AbortController()
    const { bus, committed, isClosed } = busWith([[record(0)], [record(1)], [record(2)]], () => stop.abort())
    const work: Work = {
      ...SUBSCRIPTION,
      async handle([first]) {
        if (first!.offset === 1) throw new Error('output failed')
        return undefined
      },
    }
    const outcome = await runAtLeastOnce({ bus, clock: createFakeClock(), work, signal: stop.signal }).catch(
      (error: Error) => error.message,
    )
    expect(outcome).to.equal('output failed')
    expect(committed.map(([only]) => only!.offset)).to.deep.equal([1])
    expect(isClosed()).to.equal(true)
  })

  it('hands nothing more to work that has failed', async () => {
    const { bus, committed } = busWith([[record(0)], [record(1)]], () => {})
    const handled: number[] = []
    let fail = () => {}
    const { subscribe } = bus
    // The failure comes while the next records are read.
    const late = {
      ...bus,
      async subscribe(config: Parameters<Bus['subscribe']>[0]) {
        const subscription = await subscribe(config)
        const poll: Subscription['poll'] = async limits => {
          const records = await subscription.poll(limits)
          if (records[0]?.offset === 1) {
            fail()
            await new Promise(setImmediate)
          }
          return records
        }
        return { ...subscription, poll }
      },
    } as Bus
    const work: Work = {
      ...SUBSCRIPTION,
      handle: ([first]) =>
        new Promise((_, reject) => {
          handled.push(first!.offset)
          fail = () => reject(new Error('output failed'))
        }),
    }
    const signal = new AbortController().signal
    const outcome = await runAtLeastOnce({ bus: late, clock: createFakeClock(), work, signal }).catch((error: Error) => error.message)
    expect(outcome).to.equal('output failed')
    expect(handled).to.deep.equal([0])
    expect(committed).to.deep.equal([])
  })

  it('ends without a failure where the work leaves batches undone as it stops: they are not committed', async () => {
    const stop = new AbortController()
    const { bus, committed } = busWith([[record(0)], [record(1)]], () => stop.abort())
    const leaves: (() => void)[] = []
    const work: Work = {
      ...SUBSCRIPTION,
      maxInFlight: 3,
      handle: async ([first]) => {
        if (first!.offset === 0) return undefined
        return new Promise((_, reject) => leaves.push(() => reject(new LeftUndone())))
      },
      leave: () => leaves.forEach(leave => void leave()),
    }
    await runAtLeastOnce({ bus, clock: createFakeClock(), work, signal: stop.signal })
    expect(committed.map(([only]) => only!.offset)).to.deep.equal([1])
  })

  it('goes on after partitions have moved with what was left undone', async () => {
    const stop = new AbortController()
    const batches = [[record(0)], [record(1)]]
    let next = 0
    let move = () => {}
    const committed: number[] = []
    const subscription: Subscription = {
      async poll() {
        if (next === 1) move()
        return batches[next++] ?? []
      },
      async commit(offsets) {
        committed.push(...offsets.map(({ offset }) => offset))
        if (committed.length === 1) stop.abort()
      },
      async seek() {
        next = 0
        move = () => {}
      },
      assignment: () => [{ topic: 't', partition: 0 }],
      async close() {},
    }
    const bus = {
      subscribe: async (config: Parameters<Bus['subscribe']>[0]) => {
        move = () => config.onAssigned?.([{ topic: 't', partition: 0 }])
        return subscription
      },
      committedOffsets: async () => [],
    } as unknown as Bus
    const leaves: (() => void)[] = []
    let hasMoved = false
    const work: Work = {
      ...SUBSCRIPTION,
      maxInFlight: 3,
      memory: {
        records: 1,
        reset() {
          hasMoved = true
        },
        restore: async () => {},
      },
      handle: async () => (hasMoved ? undefined : new Promise((_, reject) => leaves.push(() => reject(new LeftUndone())))),
      leave: () => leaves.forEach(leave => void leave()),
    }
    await runAtLeastOnce({ bus, clock: createFakeClock(), work, signal: stop.signal })
    expect(leaves).to.have.length(1)
    expect(committed[0]).to.equal(1)
  })

  it('commits, per partition, the offset after the last record', () => {
    expect(nextOffsets([record(4), record(9, 1), record(5)])).to.deep.equal([
      { topic: 't', partition: 0, offset: 6 },
      { topic: 't', partition: 1, offset: 10 },
    ])
  })
})
