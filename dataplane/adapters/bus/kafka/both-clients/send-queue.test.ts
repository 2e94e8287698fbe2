import { expect } from 'chai'
import { describe, it } from 'mocha'
import { BusError, type BusRecord } from '../../../../ports/bus.ts'
import { partitionOf } from '../../partitioner.ts'
import { ByteBudget, type PartitionBatches, SendQueue, splitRecords, toRounds } from './send-queue.ts'

const TOPIC = { name: 'logs', partitions: 3, maxMessageBytes: 1_048_588, compressionType: 'producer' }
const record = (key: string, bytes: number): BusRecord => ({ key, value: Buffer.alloc(bytes) })
const textRecord = (key: string, text: string): BusRecord => ({ key, value: Buffer.from(text) })

/** A queue whose writes are ended by hand. */
function makeQueue(limitBytes = 1 << 20, deliveryTimeoutMs = 5_000) {
  const writes: { readonly batches: PartitionBatches; readonly end: (error?: Error) => void }[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const queue = new SendQueue({
    topic: TOPIC,
    budget: new ByteBudget(limitBytes),
    deliveryTimeoutMs,
    produce: (_topic, batches) =>
      new Promise((done, fail) => {
        writes.push({ batches, end: error => (error === undefined ? done() : fail(error)) })
        resolve()
      }),
  })
  return { queue, writes, firstWrite: promise }
}

const nextTurn = () => new Promise(resolve => setImmediate(resolve))
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error as BusError).reason,
  )
const textsIn = (batches: PartitionBatches) => [...batches.values()].flat().map(({ value }) => Buffer.from(value).toString())

describe('send queue', () => {
  it('writes sends of one turn together, and what comes meanwhile in the next write', async () => {
    const { queue, writes, firstWrite } = makeQueue()
    const sends = [queue.send([textRecord('k', 'a')]), queue.send([textRecord('k', 'b')])]
    await firstWrite
    sends.push(queue.send([textRecord('k', 'c')]), queue.send([textRecord('k', 'd')]))
    await nextTurn()
    expect(writes.map(({ batches }) => textsIn(batches))).to.deep.equal([['a', 'b']])
    writes[0]!.end()
    await nextTurn()
    expect(writes.map(({ batches }) => textsIn(batches))).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ])
    writes[1]!.end()
    await Promise.all(sends)
  })

  it('a write that fails fails the sends in it, and no others', async () => {
    const { queue, writes, firstWrite } = makeQueue()
    const failing = reasonOf(queue.send([textRecord('k', 'a')]))
    await firstWrite
    const fine = queue.send([textRecord('k', 'b')])
    writes[0]!.end(new BusError('unavailable', 'no'))
    expect(await failing).to.equal('unavailable')
    await nextTurn()
    writes[1]!.end()
    await fine
  })

  it('is overloaded beyond its limit, until something is written', async () => {
    const { queue, writes, firstWrite } = makeQueue(10_000)
    const first = queue.send([record('k', 8_000)])
    expect(await reasonOf(queue.send([record('k', 8_000)]))).to.equal('overloaded')
    await firstWrite
    writes[0]!.end()
    await first
    const second = queue.send([record('k', 20_000)])
    await nextTurn()
    writes[1]!.end()
    await second
  })

  it('a send that is not written in time is unavailable, and is not written later', async () => {
    const { queue, writes, firstWrite } = makeQueue(1 << 20, 20)
    const first = reasonOf(queue.send([textRecord('k', 'a')]))
    await firstWrite
    const second = reasonOf(queue.send([textRecord('k', 'b')]))
    expect(await Promise.all([first, second])).to.deep.equal(['unavailable', 'unavailable'])
    writes[0]!.end()
    await nextTurn()
    expect(writes).to.have.length(1)
  })

  it('close waits for what is under way, and takes no more', async () => {
    const { queue, writes, firstWrite } = makeQueue()
    const send = queue.send([textRecord('k', 'a')])
    const closed = queue.close()
    expect(await reasonOf(queue.send([textRecord('k', 'b')]))).to.equal('closed')
    await firstWrite
    writes[0]!.end()
    await Promise.all([send, closed])
  })
})

describe('splitting records into batches', () => {
  it('keeps the order of each partition, and no batch is larger than the broker takes', () => {
    const records = Array.from({ length: 60 }, (_, i) => record(`key ${i % 7}`, 50_000 + i))
    const pieces = splitRecords(TOPIC, records)
    for (const { partition, records: part, bytes } of pieces) {
      expect(part.every(({ key }) => partitionOf(key, 3) === partition)).to.equal(true)
      expect(bytes).to.be.below(TOPIC.maxMessageBytes)
    }
    for (let partition = 0; partition < 3; partition++)
      expect(pieces.filter(piece => piece.partition === partition).flatMap(piece => piece.records)).to.deep.equal(
        records.filter(({ key }) => partitionOf(key, 3) === partition),
      )
  })

  it('refuses a record that no batch can hold', () => {
    expect(() => splitRecords(TOPIC, [record('k', 2_000_000)]))
      .to.throw(BusError)
      .with.property('reason', 'record-too-large')
  })

  it('rounds hold one batch per partition each, in order', () => {
    const pieces = splitRecords(
      TOPIC,
      Array.from({ length: 5 }, () => record('k', 600_000)),
    )
    const rounds = toRounds(pieces)
    expect(rounds).to.have.length(5)
    expect(rounds.flatMap(round => [...round.values()].flat())).to.deep.equal(pieces.flatMap(({ records }) => records))
  })
})
