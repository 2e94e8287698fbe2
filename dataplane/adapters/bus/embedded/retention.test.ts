import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { BusError } from '../../../ports/bus.ts'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { type BusDirectory, createBusDirectory, drain, HOUR_MS, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'

describe('embedded bus: retention and size cap', () => {
  let directory: BusDirectory
  let clock: FakeClock
  beforeEach(() => {
    directory = createBusDirectory()
    clock = createFakeClock()
  })
  afterEach(() => directory.remove())

  const value = (i: number) => textRecord('k', `value ${i}`)
  const warnings: string[] = []
  const log = { info: () => undefined, warn: (_: object, message: string) => void warnings.push(message), error: () => undefined }
  /** The retention check runs in the background; its deletions are over when another write went through. */
  const passTime = async (
    bus: { send(topic: string, records: readonly ReturnType<typeof value>[]): Promise<void> },
    ms: number,
    i: number,
  ) => {
    clock.advance(ms)
    await new Promise(resolve => setImmediate(resolve))
    await bus.send(TOPIC.name, [value(i)])
    await new Promise(resolve => setImmediate(resolve))
  }
  const write = async (
    bus: { send(topic: string, records: readonly ReturnType<typeof value>[]): Promise<void> },
    from: number,
    to: number,
  ) => {
    for (let i = from; i < to; i++) await bus.send(TOPIC.name, [value(i)])
  }

  it('deletes segments past the retention of their topic, never younger records', async () => {
    const bus = await directory.open({ clock, segmentBytes: 512 })
    await write(bus, 0, 20)
    const before = directory.segments().length
    await passTime(bus, 47 * HOUR_MS, 20)
    expect(directory.segments().length).to.be.at.least(before)
    await passTime(bus, 2 * HOUR_MS, 21)
    await passTime(bus, 60_000, 22)
    const read = (await readAll(bus)).map(textOf)
    expect(read).to.not.include('value 0')
    expect(read.slice(-3)).to.deep.equal(['value 20', 'value 21', 'value 22'])
  })

  it('closes an ageing active segment, so that a quiet topic loses its old records too', async () => {
    const bus = await directory.open({ clock })
    await write(bus, 0, 3)
    for (let i = 0; i < 6; i++) await passTime(bus, 13 * HOUR_MS, 100 + i)
    const read = (await readAll(bus)).map(textOf)
    expect(read).to.not.include('value 0')
    expect(read).to.include('value 105')
  })

  it('moves a consumer that is behind the start to it, and says so', async () => {
    warnings.length = 0
    const bus = await directory.open({ clock, log, segmentBytes: 512 })
    await write(bus, 0, 20)
    const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const [first] = await subscription.poll({ maxRecords: 1, maxBytes: 1, waitMs: 0 })
    await subscription.commit([{ topic: TOPIC.name, partition: first!.partition, offset: first!.offset + 1 }])
    await subscription.close()
    for (let i = 0; i < 6; i++) await passTime(bus, 13 * HOUR_MS, 100 + i)
    const read = (await drain(await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] }))).map(textOf)
    expect(read).to.not.include('value 1')
    expect(read.at(-1)).to.equal('value 105')
    expect(warnings).to.deep.equal(['a bus consumer was behind what is kept and misses records'])
  })

  it('lets a reader that has a deleted segment open go on', async () => {
    const bus = await directory.open({ clock, segmentBytes: 512 })
    await write(bus, 0, 20)
    const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const [first] = await subscription.poll({ maxRecords: 1, maxBytes: 1, waitMs: 0 })
    expect(textOf(first!)).to.equal('value 0')
    for (let i = 0; i < 6; i++) await passTime(bus, 13 * HOUR_MS, 100 + i)
    const rest = (await drain(subscription)).map(textOf)
    expect(rest.slice(-2)).to.deep.equal(['value 104', 'value 105'])
    expect(new Set(rest).size).to.equal(rest.length)
  })

  describe('over the size cap', () => {
    const CAP = { maxBytes: 8192, segmentBytes: 512 }

    it('deletes the oldest segments when no group reads the topic', async () => {
      const bus = await directory.open({ clock, ...CAP })
      await write(bus, 0, 300)
      const read = (await readAll(bus)).map(textOf)
      expect(read.at(-1)).to.equal('value 299')
      expect(read).to.not.include('value 0')
      expect([...bus.sizes().values()].reduce((a, b) => a + b)).to.be.at.most(CAP.maxBytes)
    })

    it('refuses as full rather than delete what a group has not read, and goes on as it reads', async () => {
      const bus = await directory.open({ clock, ...CAP })
      const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
      const got: string[] = []
      let refusals = 0
      for (let i = 0; i < 300; ) {
        try {
          await bus.send(TOPIC.name, [value(i)])
          i++
        } catch (error) {
          expect((error as BusError).reason).to.equal('full')
          refusals++
          const read = await drain(subscription)
          got.push(...read.map(textOf))
          const last = read.at(-1)!
          await subscription.commit([{ topic: TOPIC.name, partition: last.partition, offset: last.offset + 1 }])
        }
      }
      got.push(...(await drain(subscription)).map(textOf))
      expect(got).to.deep.equal(Array.from({ length: 300 }, (_, i) => `value ${i}`))
      expect(refusals).to.be.above(1)
    })
  })
})
