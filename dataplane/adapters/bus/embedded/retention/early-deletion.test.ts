import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { BusError, type ConsumedRecord, type Subscription } from '../../../../ports/bus.ts'
import { createFakeClock, type FakeClock } from '../../../../testing/fake-clock.ts'
import type { EmbeddedBus, EmbeddedBusOptions } from '../embedded-bus.ts'
import { type BusDirectory, createBusDirectory, drain, HOUR_MS, OUTPUT, TOPIC, textOf, textRecord } from '../testing/bus-directory.ts'
import { createFaultyFiles, type FaultyFiles } from '../testing/faulty-files.ts'

const DISK_BYTES = 128_000
const RESERVE_BYTES = DISK_BYTES / 4
const SEGMENT_BYTES = 4096
const KEPT_BYTES = 8000
const RAW = { ...TOPIC, readers: ['reader'] }
const EVENTS = { ...OUTPUT, readers: ['watcher'] }
const LETTERS = { name: 'letters', partitions: 1, retentionMs: 720 * HOUR_MS, readers: [] }

describe('embedded bus: a disk that runs low', () => {
  let directory: BusDirectory
  let clock: FakeClock
  let files: FaultyFiles
  /** Bytes on the disk that are not the bus's. */
  let othersBytes: number
  let said: { readonly level: string; readonly message: string }[]
  beforeEach(() => {
    directory = createBusDirectory()
    clock = createFakeClock()
    othersBytes = 0
    said = []
    files = Object.assign(createFaultyFiles(), {
      space: async () => ({ freeBytes: DISK_BYTES - othersBytes - bytesIn(directory.path), sizeBytes: DISK_BYTES }),
    })
  })
  afterEach(() => directory.remove())

  const open = (options: Partial<EmbeddedBusOptions> = {}) =>
    directory.open({
      ...{ files, clock, topics: [RAW, EVENTS, LETTERS], segmentBytes: SEGMENT_BYTES, minFreeBytes: 1e9, keptReadBytes: KEPT_BYTES },
      log: { info: say('info'), warn: say('warn'), error: say('error') },
      ...options,
    })
  const say = (level: string) => (_: object, message: string) => void said.push({ level, message })
  const value = (i: number) => textRecord('k', `value ${i} ${randomBytes(600).toString('latin1')}`)
  const numberOf = (record: ConsumedRecord) => Number(textOf(record).split(' ')[1])
  /** A second later, so that the disk is looked at. */
  const send = async (bus: EmbeddedBus, i: number, topic = RAW.name) => {
    clock.advance(1000)
    await bus.send(topic, [value(i)])
  }
  const sendAll = async (bus: EmbeddedBus, from: number, to: number, topic = RAW.name) => {
    for (let i = from; i < to; i++) await send(bus, i, topic)
  }
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: unknown) => (error instanceof BusError ? error.reason : String(error)),
    )
  const subscribe = (bus: EmbeddedBus, groupId = 'reader', topic = RAW.name) => bus.subscribe({ groupId, topics: [topic] })
  /** Reads and commits all there is. */
  const readOn = async (subscription: Subscription) => {
    const records = await drain(subscription)
    const numbers = records.map(numberOf)
    await subscription.commit(records.map(({ topic, partition, offset }) => ({ topic, partition, offset: offset + 1 })))
    return numbers
  }
  /** Sends until the bus refuses; the number that was refused. */
  const fill = async (bus: EmbeddedBus, from: number) => {
    for (let i = from; i < from + 5000; i++) {
      const reason = await refusal(send(bus, i))
      if (reason === 'none') continue
      expect(reason).to.equal('full')
      return i
    }
    throw new Error('it is never full')
  }
  const freeBytes = async () => (await files.space(directory.path)).freeBytes

  it('what every group has read goes before its time, the oldest first, and no record is refused', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    const read: number[] = []
    for (let i = 0; i < 250; i++) {
      await send(bus, i)
      if (i % 10 === 0) read.push(...(await readOn(subscription)))
    }
    read.push(...(await readOn(subscription)))
    expect(read).to.deep.equal(Array.from({ length: 250 }, (_, i) => i))
    expect(await freeBytes()).to.be.within(RESERVE_BYTES - SEGMENT_BYTES, RESERVE_BYTES + 2 * SEGMENT_BYTES)
    expect((await bus.describe()).deletedEarlyBytes).to.be.above(DISK_BYTES / 2)
    const left = (await drain(await subscribe(bus, 'another'))).map(numberOf)
    expect(left).to.deep.equal(Array.from({ length: left.length }, (_, i) => 250 - left.length + i))
  })

  it('what one group has not read stays, and records are refused until it has', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    const late = await subscribe(bus, 'late')
    const refused = await fill(bus, 0)
    await readOn(subscription)
    expect(await refusal(send(bus, refused))).to.equal('full')
    expect(await readOn(late)).to.deep.equal(Array.from({ length: refused }, (_, i) => i))
    await sendAll(bus, refused, refused + 60)
  })

  it('a group that has left keeps what it has not read, and one that is removed nothing', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    const leaving = await subscribe(bus, 'leaving')
    await send(bus, 0)
    await readOn(leaving)
    await leaving.close()
    const refused = await fill(bus, 1)
    await readOn(subscription)
    expect(await refusal(send(bus, refused))).to.equal('full')
    await bus.removeGroup('leaving')
    await send(bus, refused)
  })

  it('all that may goes where it is not enough: the search store indexes with that room what the bus has taken', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    await sendAll(bus, 0, 80)
    await readOn(subscription)
    const before = directory.segments()
    othersBytes = DISK_BYTES
    expect(await refusal(send(bus, 80))).to.equal('full')
    expect((await bus.describe()).problem).to.match(/ bytes free, the bus keeps 32000 in reserve$/)
    const left = directory.segments()
    expect(left.length).to.be.below(before.length / 2)
    expect(left).to.deep.equal(before.slice(-left.length))
  })

  it('the last records that were read stay: readers go back in them', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    await sendAll(bus, 0, 80)
    await readOn(subscription)
    othersBytes = DISK_BYTES
    expect(await refusal(send(bus, 80))).to.equal('full')
    othersBytes = 0
    const { partition, offset } = (await bus.committedOffsets('reader'))[0]!
    await subscription.seek([{ topic: RAW.name, partition, offset: 0 }])
    const again = await drain(subscription)
    expect(again.reduce((bytes, { value }) => bytes + value.length, 0)).to.be.within(KEPT_BYTES, KEPT_BYTES + 4 * SEGMENT_BYTES)
    expect(again.at(-1)!.offset).to.equal(offset - 1)
  })

  it('dead letters stay, though nobody reads them', async () => {
    const bus = await open()
    await sendAll(bus, 0, 50, LETTERS.name)
    await fill(bus, 0)
    expect((await drain(await subscribe(bus, 'dlq', LETTERS.name))).map(numberOf)).to.deep.equal(Array.from({ length: 50 }, (_, i) => i))
  })

  it('a later topic, which may take more of the disk, finds room as well', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    await sendAll(bus, 0, 80)
    await readOn(subscription)
    othersBytes = (await freeBytes()) - RESERVE_BYTES / 2 + 100
    await send(bus, 0, EVENTS.name)
    expect(await freeBytes()).to.be.within(RESERVE_BYTES / 2 - 200, RESERVE_BYTES / 2 + SEGMENT_BYTES)
  })

  it('writers at once free the disk once', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    await sendAll(bus, 0, 80)
    await readOn(subscription)
    othersBytes = (await freeBytes()) - RESERVE_BYTES / 2
    clock.advance(1000)
    await Promise.all([bus.describe(), ...[RAW, EVENTS, LETTERS].map(({ name }) => bus.send(name, [value(80)]))])
    expect(await freeBytes()).to.be.within(RESERVE_BYTES - 3 * SEGMENT_BYTES, RESERVE_BYTES + 2 * SEGMENT_BYTES)
  })

  it('is no problem of the bus while something may go, and is said once an hour', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    for (let i = 0; i < 200; i++) {
      await send(bus, i)
      await readOn(subscription)
    }
    const sentence = 'the disk is low: records of the bus that every group has read go before their time'
    expect(said).to.deep.equal([{ level: 'warn', message: sentence }])
    othersBytes += 2 * SEGMENT_BYTES
    expect((await bus.describe()).problem).to.equal(undefined)
    clock.advance(HOUR_MS)
    for (let i = 0; i < 50; i++) {
      await send(bus, i)
      await readOn(subscription)
    }
    expect(said.map(({ message }) => message)).to.deep.equal([sentence, sentence])
  })

  it('a file that cannot be deleted fails the write, goes later, and nothing that is unread with it', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    const { remove } = files
    await sendAll(bus, 0, 80)
    await readOn(subscription)
    othersBytes = (await freeBytes()) - RESERVE_BYTES + 100
    const before = directory.segments().length
    files.remove = () => Promise.reject(Object.assign(new Error('EIO: made to fail'), { code: 'EIO' }))
    expect(await refusal(send(bus, 80))).to.equal('unavailable')
    expect(directory.segments()).to.have.length(before)
    files.remove = remove
    await send(bus, 80)
    expect(directory.segments().length).to.be.below(before)
    expect(await readOn(subscription)).to.deep.equal([80])
  })

  it('a process that ends amid the deletion finds the rest, and each group what it has not read', async () => {
    const bus = await open()
    const subscription = await subscribe(bus)
    await sendAll(bus, 0, 80)
    await readOn(subscription)
    await sendAll(bus, 80, 90)
    const { remove } = files
    const copies: BusDirectory[] = []
    files.remove = async path => {
      copies.push(directory.copy())
      await remove(path)
      copies.push(directory.copy())
    }
    othersBytes = (await freeBytes()) - RESERVE_BYTES + 3 * SEGMENT_BYTES
    await send(bus, 90)
    expect(copies.length).to.be.at.least(6)
    for (const copy of copies) {
      said = []
      const again = await copy.open({
        clock,
        topics: [RAW, EVENTS, LETTERS],
        log: { info: say('info'), warn: say('warn'), error: say('error') },
      })
      expect(await readOn(await subscribe(again))).to.deep.equal(Array.from({ length: 10 }, (_, i) => 80 + i))
      const all = (await drain(await subscribe(again, 'another'))).map(numberOf)
      expect(all.at(-1)).to.equal(89)
      expect(all).to.deep.equal(Array.from({ length: all.length }, (_, i) => all[0]! + i))
      // A deletion does not wait until the journal knows of it. A process that ended between the two is told of with a warning.
      expect(said.filter(({ message }) => !message.startsWith('one of the oldest bus segments is missing'))).to.deep.equal([])
    }
  })

  it('is seen although the clock was set back', async () => {
    const bus = await open()
    await send(bus, 0)
    othersBytes = DISK_BYTES
    clock.advance(-HOUR_MS)
    expect(await refusal(bus.send(RAW.name, [value(1)]))).to.equal('full')
  })
})

describe('embedded bus: a small disk', () => {
  it('has small segments, so that the one being written, which stays, is the lesser part of it', async () => {
    const directory = createBusDirectory()
    const files = createFaultyFiles()
    files.size = 64 << 20
    try {
      const bus = await directory.open({ files })
      const payload = () => ({ key: 'k', value: randomBytes(60_000) })
      for (let i = 0; i < 40; i++) await bus.send(TOPIC.name, [payload()])
      const largest = Math.max(...directory.segments().map(path => statSync(path).size))
      expect(largest).to.be.within(900_000, 1 << 20)
    } finally {
      await directory.remove()
    }
  })
})

/** The segments alone: the journal of offsets is small. */
function bytesIn(path: string): number {
  let bytes = 0
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }))
    if (entry.name.endsWith('.log')) bytes += statSync(join(entry.parentPath, entry.name)).size
  return bytes
}
