import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type BusDirectory, createBusDirectory, drain, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'

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

  it('leaves aside what lies before a missing segment, and goes on', async () => {
    const bus = await directory.open({ segmentBytes: 256 })
    for (let i = 0; i < 9; i++) await bus.send(TOPIC.name, [textRecord('k', `value ${i}`)])
    await bus.stop()
    const { unlinkSync } = await import('node:fs')
    unlinkSync(directory.segments()[2]!)
    const again = await directory.open()
    const read = (await readAll(again)).map(textOf)
    expect(read.at(-1)).to.equal('value 8')
    expect(read.length).to.be.within(1, 8)
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
