import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type BusDirectory, createBusDirectory, TOPIC, textRecord } from '../testing/bus-directory.ts'
import { FrameScanner, type ReadInto } from './frame-scanner.ts'
import { readSegmentHeader, segmentHeaderLength } from './segment.ts'

describe('the frames of a segment whose disk fails to read', () => {
  let directory: BusDirectory
  beforeEach(() => {
    directory = createBusDirectory()
  })
  afterEach(() => directory.remove())

  it('are all there once it reads again, and none is passed over as damaged', async function () {
    this.timeout(60_000)
    const bus = await directory.open()
    // Smaller and larger ones than what is read at a time.
    for (const bytes of [10, 200_000, 300_000, 10, 700_000, 20, 100_000, 10])
      await bus.send(TOPIC.name, [textRecord('key', randomBytes(bytes).toString('base64url'))])
    await bus.stop()
    const descriptor = openSync(directory.segments()[0]!, 'r')
    try {
      const { salt, baseOffsets } = readSegmentHeader(descriptor)!
      const start = segmentHeaderLength(baseOffsets.length)
      const limit = 3_000_000
      const passedOver: number[] = []
      const scan = (read: ReadInto): number[] => {
        const scanner = new FrameScanner(descriptor, salt, start, position => void passedOver.push(position), read)
        const ends: number[] = []
        for (;;)
          try {
            const frame = scanner.next(limit)
            if (frame === undefined) return ends
            ends.push(frame.end)
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
          }
      }
      const whole = scan(readSync)
      expect(whole).to.have.lengthOf(8)
      const told = passedOver.splice(0)
      let reads = Number.POSITIVE_INFINITY
      for (let failing = 0; failing < reads; failing++) {
        let count = 0
        const found = scan((fd, into, offset, length, position) => {
          if (count++ === failing) throw Object.assign(new Error('EIO: made to fail'), { code: 'EIO' })
          // Half of it at a time, so that some reads fail in the middle.
          return readSync(fd, into, offset, Math.ceil(length / 2), position)
        })
        reads = count
        expect(found, `read ${failing}`).to.deep.equal(whole)
        expect(passedOver.splice(0), `read ${failing}`).to.deep.equal(told)
      }
      expect(reads).to.be.above(40)
    } finally {
      closeSync(descriptor)
    }
  })
})
