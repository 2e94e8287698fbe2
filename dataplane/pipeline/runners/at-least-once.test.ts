import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Bus, ConsumedRecord, Subscription, TopicPartitionOffset } from '../../ports/bus.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { runAtLeastOnce } from './at-least-once.ts'
import { nextOffsets, type Work } from './work.ts'

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

  it('commits, per partition, the offset after the last record', () => {
    expect(nextOffsets([record(4), record(9, 1), record(5)])).to.deep.equal([
      { topic: 't', partition: 0, offset: 6 },
      { topic: 't', partition: 1, offset: 10 },
    ])
  })
})
