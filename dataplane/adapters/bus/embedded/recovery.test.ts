import { closeSync, openSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { headerLengthAt, SALT_AT } from './log/bus-frame.ts'
import { readSegmentHeader, segmentHeaderLength } from './log/segment.ts'
import { type BusDirectory, createBusDirectory, drain, HOUR_MS, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'

describe('embedded bus: recovery', () => {
  let directory: BusDirectory
  beforeEach(() => {
    directory = createBusDirectory()
  })
  afterEach(() => directory.remove())

  /** Writes three frames; returns the file and where each frame ends. */
  async function writeThreeFrames(size = 20) {
    const bus = await directory.open()
    const ends: number[] = []
    for (const text of ['first', 'second', 'third']) {
      await bus.send(TOPIC.name, [textRecord('k', text.padEnd(size, '.'))])
      ends.push(statSync(directory.segments()[0]!).size)
    }
    await bus.stop()
    return { path: directory.segments()[0]!, ends }
  }
  const flip = (path: string, position: number) => {
    const descriptor = openSync(path, 'r+')
    writeSync(descriptor, Uint8Array.of(readFileSync(path)[position]! ^ 0x10), 0, 1, position)
    closeSync(descriptor)
  }
  const texts = async () => {
    const bus = await directory.open()
    const read = (await readAll(bus)).map(r => textOf(r).replaceAll('.', ''))
    await bus.send(TOPIC.name, [textRecord('k', 'next')])
    const subscription = await bus.subscribe({ groupId: 'all', topics: [TOPIC.name] })
    const all = (await drain(subscription)).map(r => textOf(r).replaceAll('.', ''))
    await bus.stop()
    expect(all).to.deep.equal([...read, 'next'])
    return read
  }

  it('cuts a tail that is torn at any byte of the last frame, and goes on writing there', async () => {
    const { path, ends } = await writeThreeFrames()
    const whole = readFileSync(path)
    for (let length = ends[1]!; length < ends[2]!; length++) {
      writeFileSync(path, whole.subarray(0, length))
      expect(await texts(), `cut at ${length}`).to.deep.equal(['first', 'second'])
    }
    writeFileSync(path, whole)
    expect(await texts()).to.deep.equal(['first', 'second', 'third'])
  })

  it('cuts a tail of garbage behind the last frame', async () => {
    const { path } = await writeThreeFrames()
    for (const garbage of [Buffer.alloc(5000), Buffer.alloc(3000, 0xff), readFileSync(path)]) {
      const whole = readFileSync(path)
      writeFileSync(path, Buffer.concat([whole, garbage.subarray(0, garbage.length - 1)]))
      expect((await texts()).slice(0, 3)).to.deep.equal(['first', 'second', 'third'])
      writeFileSync(path, whole)
    }
  })

  it('passes over a frame with a flipped bit, wherever it is, and keeps all others', async () => {
    const { path, ends } = await writeThreeFrames()
    const whole = readFileSync(path)
    for (let position = ends[0]!; position < ends[1]!; position++) {
      writeFileSync(path, whole)
      flip(path, position)
      expect(await texts(), `bit at ${position}`).to.deep.equal(['first', 'third'])
    }
  })

  it('notices a flipped bit that appears while it runs', async () => {
    const bus = await directory.open()
    const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    for (const text of ['first', 'second', 'third']) await bus.send(TOPIC.name, [textRecord('k', text)])
    flip(directory.segments()[0]!, Math.floor(statSync(directory.segments()[0]!).size / 2))
    expect((await drain(subscription)).map(textOf)).to.deep.equal(['first', 'third'])
  })

  it('does not take bytes of a record for a frame', async () => {
    const { path, ends } = await writeThreeFrames()
    const frame = readFileSync(path).subarray(ends[0]!, ends[1]!)
    const bus = await directory.open({ topics: [{ ...TOPIC, name: 'other' }] })
    await bus.send('other', [{ key: 'k', value: Buffer.concat([frame, Buffer.alloc(10)]) }])
    await bus.stop()
    const other = directory.segments('other')[0]!
    truncateSync(other, statSync(other).size - 1)
    const again = await directory.open({ topics: [{ ...TOPIC, name: 'other' }] })
    expect(await readAll(again, 'other')).to.deep.equal([])
  })

  it('removes a newest segment that has no whole header, and reads the ones before', async () => {
    const { path } = await writeThreeFrames()
    for (const length of [0, 10, 40]) {
      writeFileSync(path.replace('0000000001', '0000000002'), readFileSync(path).subarray(0, length))
      expect((await texts()).slice(0, 3)).to.deep.equal(['first', 'second', 'third'])
    }
  })

  describe('without the journal of committed offsets', () => {
    const said: string[] = []
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (fields: object, message: string) => void said.push(`${JSON.stringify(fields)} ${message}`),
    }
    const journal = () => join(directory.path, 'groups.journal')
    beforeEach(async () => {
      said.length = 0
      const bus = await directory.open({ log })
      await bus.send(TOPIC.name, [textRecord('k', 'outside')])
      const transaction = await bus.beginTransaction()
      await transaction.send(TOPIC.name, [textRecord('k', 'inside')])
      await transaction.commit()
      await bus.stop()
      const again = await directory.open({ log })
      await again.stop()
      expect(said).to.deep.equal([])
    })

    for (const [what, lose] of [
      ['missing', () => unlinkSync(journal())],
      ['empty', () => truncateSync(journal())],
    ] as const)
      it(`(${what}) says so with the file, once, and gives all records`, async () => {
        lose()
        const bus = await directory.open({ log })
        expect((await readAll(bus)).map(textOf)).to.deep.equal(['outside', 'inside'])
        await bus.stop()
        const again = await directory.open({ log })
        await again.stop()
        expect(said).to.have.length(1)
        expect(said[0]).to.contain(journal()).and.to.contain('read from the oldest record on').and.to.contain('backup')
      })
  })

  describe('of a log with a gap', () => {
    const all = Array.from({ length: 24 }, (_, i) => `value ${i}`)
    const SMALL = { segmentBytes: 256 }
    const said: string[] = []
    const log = { info: () => undefined, warn: () => undefined, error: (_: object, message: string) => void said.push(message) }
    beforeEach(async () => {
      said.length = 0
      const bus = await directory.open(SMALL)
      for (const text of all) await bus.send(TOPIC.name, [textRecord('k', text)])
      await bus.stop()
    })
    const readHeader = (path: string) => {
      const descriptor = openSync(path, 'r')
      try {
        return readSegmentHeader(descriptor)!
      } finally {
        closeSync(descriptor)
      }
    }
    /** The records for a new group; checks that the log goes on, also after the next start. */
    const textsAfterwards = async () => {
      const bus = await directory.open({ ...SMALL, log })
      const read = (await readAll(bus)).map(textOf)
      await bus.send(TOPIC.name, [textRecord('k', 'next')])
      expect((await readAll(bus)).map(textOf)).to.deep.equal([...read, 'next'])
      await bus.stop()
      const again = await directory.open({ ...SMALL, log })
      expect((await readAll(again)).map(textOf)).to.deep.equal([...read, 'next'])
      await again.stop()
      return read
    }
    for (const places of [[2], [2, 3], [2, 5]])
      it(`passes over the records of missing segments ${places.join(' and ')}, and keeps those on both sides`, async () => {
        const paths = directory.segments()
        for (const place of places) unlinkSync(paths[place]!)
        const read = await textsAfterwards()
        expect(all).to.include.members(read)
        expect(read.slice(0, 2).concat(read.slice(-1))).to.deep.equal([all[0], all[1], all.at(-1)])
        expect(all.length - read.length).to.be.within(1, 3 * places.length)
        expect(said.filter(message => message.startsWith('a bus segment'))).to.deep.equal(
          places.map(
            () =>
              'a bus segment is missing or empty, and its records are passed over: with a backup, stop, put the file back and start again',
          ),
        )
      })

    for (const [name, place] of [
      ['the oldest', 0],
      ['one between', 3],
      ['the last but one', -2],
    ] as const)
      it(`makes a damaged header of ${name} anew, and loses nothing`, async () => {
        flip(directory.segments().at(place)!, 20)
        expect(await textsAfterwards()).to.deep.equal(all)
        expect(said).to.deep.equal(['a bus segment has a damaged header, which is made anew'])
      })

    it('keeps a damaged segment before a newest one that holds nothing', async () => {
      flip(directory.segments().at(-2)!, 20)
      truncateSync(directory.segments().at(-1)!, 10)
      const read = await textsAfterwards()
      expect(read).to.deep.equal(all.slice(0, read.length))
      expect(all.length - read.length).to.be.within(1, 3)
    })

    it('does not take a write that failed for the records that were sent in its place', async () => {
      const [first, second] = directory.segments()
      const size = statSync(first!).size
      const frames = readFileSync(second!).subarray(segmentHeaderLength(readHeader(second!).baseOffsets.length))
      const failed = Buffer.from(frames.subarray(0, headerLengthAt(frames, 0) + frames.readUInt32LE(12)))
      failed.writeUInt32LE(readHeader(first!).salt, SALT_AT)
      failed.writeUInt32LE(crc32(failed.subarray(9, headerLengthAt(frames, 0))), 4)
      writeFileSync(first!, Buffer.concat([readFileSync(first!), failed]))
      flip(second!, 20)
      expect(await textsAfterwards()).to.deep.equal(all)
      expect(readHeader(second!).previousLength).to.equal(size)
    })

    it('is deleted by retention on both sides', async () => {
      const clock = createFakeClock(Date.now())
      const paths = directory.segments()
      unlinkSync(paths[2]!)
      flip(paths[4]!, 20)
      const bus = await directory.open({ ...SMALL, clock })
      clock.advance(TOPIC.retentionMs + HOUR_MS)
      await new Promise(resolve => setImmediate(resolve))
      await bus.send(TOPIC.name, [textRecord('k', 'new')])
      expect(directory.segments()).to.have.length.below(3)
    })
  })

  it('never gives an offset a second time that a group has already passed', async () => {
    const { path, ends } = await writeThreeFrames()
    const bus = await directory.open()
    const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const last = (await drain(subscription)).at(-1)!
    await subscription.commit([{ topic: last.topic, partition: last.partition, offset: last.offset + 1 }])
    await bus.stop()
    truncateSync(path, ends[1]!)
    const again = await directory.open()
    await again.send(TOPIC.name, [textRecord('k', 'new')])
    expect((await drain(await again.subscribe({ groupId: 'g', topics: [TOPIC.name] }))).map(textOf)).to.deep.equal(['new'])
  })

  it('opens a log of many segments by the headers alone, and reads it in order', async () => {
    const bus = await directory.open({ segmentBytes: 2048 })
    const all = Array.from({ length: 2000 }, (_, i) => textRecord('k', `value ${i} ${'x'.repeat(i % 40)}`))
    for (let i = 0; i < all.length; i += 10) await bus.send(TOPIC.name, all.slice(i, i + 10))
    await bus.stop()
    expect(directory.segments().length).to.be.above(10)
    const again = await directory.open()
    const subscription = await again.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const read = await drain(subscription)
    expect(read.map(textOf)).to.deep.equal(all.map(r => Buffer.from(r.value).toString()))
    const { topic, partition, offset } = read[1234]!
    await subscription.seek([{ topic, partition, offset }])
    expect(textOf((await subscription.poll({ maxRecords: 1, maxBytes: 1, waitMs: 0 }))[0]!)).to.equal(textOf(read[1234]!))
  })

  it('takes more partitions than before; keys may move, what was written stays', async () => {
    await writeThreeFrames()
    const bus = await directory.open({ topics: [{ ...TOPIC, partitions: 8 }] })
    await bus.send(
      TOPIC.name,
      Array.from({ length: 64 }, (_, i) => textRecord(`key ${i}`, 'more')),
    )
    expect((await bus.describe()).partitions).to.have.length(8)
    expect(await readAll(bus)).to.have.length(67)
    await bus.stop()
    const again = await directory.open({ topics: [TOPIC] })
    expect((await again.describe()).partitions).to.have.length(8)
    expect(await readAll(again)).to.have.length(67)
  })
})
