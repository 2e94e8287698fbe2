import { expect } from 'chai'
import { describe, it } from 'mocha'
import { headerLengthAt, parseFrameHeader, stampFrame } from './frame.ts'
import { FrameLeases } from './frame-leases.ts'
import { encodeRecords, FrameRecords } from './record-batch.ts'

const PARTITIONS = 1

/** A frame of `count` records that starts at `baseOffset`. */
function frame(baseOffset: number, count: number): FrameRecords {
  const records = Array.from({ length: count }, (_, i) => ({ key: 'key', value: Buffer.alloc(1000, i) }))
  const { header, body } = encodeRecords(records, PARTITIONS)
  stampFrame(header, { timestampMs: 1, salt: 1, transactionId: 0 }, new Float64Array([baseOffset]))
  const bytes = Buffer.from(header)
  return new FrameRecords('topic', parseFrameHeader(bytes, 0, headerLengthAt(bytes, 0), 1)!, Buffer.from(body))
}

const isGone = ({ raw }: FrameRecords) => raw.length === 0

describe('leases on frames', () => {
  it('give a frame back once every record of it is committed, by every reader', () => {
    const [one, two] = [new FrameLeases(PARTITIONS), new FrameLeases(PARTITIONS)]
    for (const leases of [one, two]) leases.restart(0, 10)
    const frames = [frame(10, 5), frame(15, 5)]
    for (const each of frames) for (const leases of [one, two]) leases.add(each)
    one.commit(0, 20)
    two.commit(0, 14)
    expect(frames.map(isGone)).to.deep.equal([false, false])
    two.commit(0, 15)
    expect(frames.map(isGone)).to.deep.equal([true, false])
    two.commit(0, 20)
    expect(frames.map(isGone)).to.deep.equal([true, true])
  })

  it('leave alone what is out when the reader starts elsewhere, even if it is committed later', () => {
    const leases = new FrameLeases(PARTITIONS)
    leases.restart(0, 10)
    const before = frame(10, 5)
    leases.add(before)
    leases.restart(0, 10)
    const after = frame(10, 5)
    leases.add(after)
    leases.commit(0, 15)
    expect([before, after].map(isGone)).to.deep.equal([false, true])
  })
})
