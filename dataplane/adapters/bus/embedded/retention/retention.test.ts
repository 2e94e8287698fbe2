import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { BusError, ConsumedRecord, Subscription } from '../../../../ports/bus.ts'
import { createFakeClock, type FakeClock } from '../../../../testing/fake-clock.ts'
import { attachEmbeddedBus, type EmbeddedBus } from '../embedded-bus.ts'
import {
  type BusDirectory,
  createBusDirectory,
  drain,
  HOUR_MS,
  OUTPUT,
  readAll,
  TOPIC,
  textOf,
  textRecord,
} from '../testing/bus-directory.ts'

/** Turns of the event loop that a check may take. */
const MAX_TURNS = 20_000

describe('embedded bus: retention and size cap', () => {
  let directory: BusDirectory
  let clock: FakeClock
  beforeEach(() => {
    directory = createBusDirectory()
    clock = createFakeClock()
  })
  afterEach(() => directory.remove())

  const value = (i: number) => textRecord('k', `value ${i}`)
  const poll = (subscription: Subscription) => subscription.poll({ maxRecords: 5, maxBytes: 1 << 20, waitMs: 0 })
  const commitAll = (subscription: Subscription, records: readonly ConsumedRecord[]) =>
    subscription.commit(records.map(({ topic, partition, offset }) => ({ topic, partition, offset: offset + 1 })))
  const warnings: string[] = []
  const log = { info: () => undefined, warn: (_: object, message: string) => void warnings.push(message), error: () => undefined }
  /** The retention check runs in the background; it is over when as many sleep as before. */
  const passTime = async (
    bus: { send(topic: string, records: readonly ReturnType<typeof value>[]): Promise<void> },
    ms: number,
    i: number,
  ) => {
    const { sleepers } = clock
    clock.advance(ms)
    await new Promise(resolve => setImmediate(resolve))
    await bus.send(TOPIC.name, [value(i)])
    for (let turn = 0; turn < MAX_TURNS && (turn === 0 || clock.sleepers < sleepers); turn++)
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

  for (const days of [3, 3650])
    it(`a clock that is set ${days} days ahead takes no records of a running bus for a day, nor dates later ones once it is right again`, async () => {
      const bus = await directory.open({ clock, segmentBytes: 512 })
      await write(bus, 0, 20)
      await passTime(bus, 60_000, 20)
      clock.shiftTimeOfDay(days * 24 * HOUR_MS)
      for (let i = 21; i < 44; i++) await passTime(bus, HOUR_MS, i)
      clock.shiftTimeOfDay(-days * 24 * HOUR_MS)
      await passTime(bus, 60_000, 44)
      const read = await readAll(bus)
      expect(read.map(textOf)).to.deep.equal(Array.from({ length: 45 }, (_, i) => `value ${i}`))
      expect(read.at(-1)!.timestampMs).to.equal(clock.nowMs())
    })

  it('a segment that was begun while the clock was ahead goes with those around it', async () => {
    const bus = await directory.open({ clock, segmentBytes: 512 })
    await write(bus, 0, 10)
    clock.shiftTimeOfDay(3650 * 24 * HOUR_MS)
    await write(bus, 10, 20)
    clock.shiftTimeOfDay(-3650 * 24 * HOUR_MS)
    await write(bus, 20, 30)
    for (let i = 30; i < 36; i++) await passTime(bus, 13 * HOUR_MS, i)
    const read = (await readAll(bus)).map(textOf)
    expect(read).to.not.include('value 15')
    expect(read).to.include('value 35')
  })

  it('a clock that stays days ahead is believed after a day', async () => {
    const bus = await directory.open({ clock, segmentBytes: 512 })
    await write(bus, 0, 20)
    await passTime(bus, 60_000, 20)
    clock.shiftTimeOfDay(72 * HOUR_MS)
    for (let i = 21; i < 47; i++) await passTime(bus, HOUR_MS, i)
    expect((await readAll(bus)).map(textOf)).to.not.include('value 0')
  })

  it('a bus that is opened long after its last record takes its records only after a day, so that readers get them', async () => {
    const first = await directory.open({ clock, segmentBytes: 512 })
    await write(first, 0, 20)
    await first.stop()
    clock.advance(60 * 24 * HOUR_MS)
    const bus = await directory.open({ clock, segmentBytes: 512 })
    for (let i = 20; i < 30; i++) await passTime(bus, HOUR_MS, i)
    expect((await readAll(bus)).map(textOf)).to.include('value 0')
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

    it('the last records of each topic go after those that are older in another, and the cap holds', async () => {
      const keptReadBytes = 1000
      const bus = await directory.open({ clock, ...CAP, keptReadBytes })
      for (let i = 0; i < 40; i++) await bus.send(OUTPUT.name, [value(i)])
      clock.advance(HOUR_MS)
      await write(bus, 0, 300)
      const sizes = bus.sizes()
      expect(sizes.get(OUTPUT.name)).to.be.within(keptReadBytes, keptReadBytes + 2 * CAP.segmentBytes)
      expect([...sizes.values()].reduce((a, b) => a + b)).to.be.at.most(CAP.maxBytes)
      expect((await readAll(bus, OUTPUT.name)).map(textOf))
        .to.include('value 39')
        .and.not.include('value 0')
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

    /** Sends until the bus is full, and returns what it says then. */
    const fill = async (bus: Pick<EmbeddedBus, 'send'>, topic = TOPIC.name) => {
      for (let i = 0; i < 2000; i++) {
        const failure = await bus.send(topic, [value(i)]).then(
          () => undefined,
          (error: BusError) => error,
        )
        if (failure !== undefined) return failure
      }
      throw new Error('it is never full')
    }
    const first = { ...TOPIC, readers: ['reader'] }
    const topics = [first, OUTPUT]

    it('keeps what a group has not read while its runner is away, for as long as the topic keeps records', async () => {
      const bus = await directory.open({ clock, ...CAP })
      await write(bus, 0, 5)
      const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
      await commitAll(subscription, await drain(subscription))
      await subscription.close()
      await passTime(bus, 47 * HOUR_MS, 5)
      const failure = await fill(bus)
      expect(failure.reason).to.equal('full')
      expect(failure.message).to.match(/^logs: .*group g has not read \d+ bytes of logs/)
      const rest = (await drain(await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] }))).map(textOf)
      expect(rest[0]).to.equal('value 5')
    })

    it('says that it is full, and what holds it, until that is read, also where nobody sends any more', async () => {
      const bus = await directory.open({ clock, ...CAP })
      const other = attachEmbeddedBus(bus.share())
      const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
      expect((await other.describe()).problem).to.equal(undefined)
      await fill(bus)
      expect((await other.describe()).problem).to.match(/^logs: .*group g has not read \d+ bytes of logs/)
      await commitAll(subscription, await drain(subscription))
      expect((await other.describe()).problem).to.equal(undefined)
      await other.stop()
    })

    it('forgets a group that nobody has seen for as long as the topic keeps records', async () => {
      const bus = await directory.open({ clock, ...CAP })
      await write(bus, 0, 5)
      const subscription = await bus.subscribe({ groupId: 'old version', topics: [TOPIC.name] })
      await commitAll(subscription, await drain(subscription))
      await subscription.close()
      expect((await fill(bus)).reason).to.equal('full')
      await passTime(bus, 49 * HOUR_MS, 1).catch(() => undefined)
      await write(bus, 0, 300)
    })

    it('a group with a member is seen, also when it has nothing to commit, and after a restart', async () => {
      const bus = await directory.open({ clock, ...CAP })
      await write(bus, 0, 5)
      const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
      await commitAll(subscription, await drain(subscription))
      const untilMs = clock.nowMs() + 60 * HOUR_MS
      while (bus.groups()[0]!.lastSeenMs < untilMs) {
        clock.advance(HOUR_MS / 60)
        await new Promise(resolve => setImmediate(resolve))
      }
      await bus.stop()
      const again = await directory.open({ clock, ...CAP })
      expect((await fill(again)).message).to.include('group g has not read')
    })

    it('keeps what the groups of the product have not read, also when they were never there', async () => {
      const bus = await directory.open({ clock, topics, ...CAP })
      const failure = await fill(bus)
      expect(failure.message).to.include('group reader has not read')
      const read = (await drain(await bus.subscribe({ groupId: 'reader', topics: [TOPIC.name] }))).map(textOf)
      expect(read[0]).to.equal('value 0')
    })

    it('leaves room for what is made of the records that fill it', async () => {
      const bus = await directory.open({ clock, topics, ...CAP })
      await fill(bus)
      const subscription = await bus.subscribe({ groupId: 'reader', topics: [TOPIC.name] })
      for (let left = await poll(subscription); left.length > 0; left = await poll(subscription)) {
        await bus.send(
          OUTPUT.name,
          left.map(record => textRecord(record.key, textOf(record))),
        )
        await commitAll(subscription, left)
      }
      await write(bus, 0, 10)
    })

    it('goes on once a group is removed by hand', async () => {
      const bus = await directory.open({ clock, ...CAP })
      await write(bus, 0, 5)
      const subscription = await bus.subscribe({ groupId: 'old version', topics: [TOPIC.name] })
      await commitAll(subscription, await drain(subscription))
      expect(await bus.removeGroup('old version').catch((error: BusError) => error.message)).to.equal(
        'group old version has members: stop them first',
      )
      await subscription.close()
      await fill(bus)
      const [group] = bus.groups()
      expect(group).to.include({ groupId: 'old version', lastSeenMs: clock.nowMs() })
      expect(group!.unread.get(TOPIC.name)).to.be.above(0)
      await bus.removeGroup('old version')
      expect(bus.groups()).to.deep.equal([])
      await write(bus, 0, 300)
      await bus.stop()
      expect((await directory.open({ clock, ...CAP })).groups()).to.deep.equal([])
    })
  })
})
