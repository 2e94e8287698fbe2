import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { FrameRecords } from '../log/record-batch.ts'
import { FrameCache } from './frame-cache.ts'

function frame(topic: string, bytes: number): FrameRecords & { holders: number } {
  const records = {
    topic,
    raw: Buffer.alloc(bytes),
    holders: 0,
    retain() {
      records.holders++
    },
    release() {
      records.holders--
    },
  }
  return records as unknown as FrameRecords & { holders: number }
}
const ANYWHERE = Number.POSITIVE_INFINITY

describe('frame cache', () => {
  it('keeps frames of a topic only while two readers follow it', () => {
    const cache = new FrameCache(1000)
    cache.join('logs')
    cache.add(frame('logs', 10), 1, 40, 50)
    expect(cache.find('logs', 1, 40, ANYWHERE)).to.equal(undefined)
    cache.join('logs')
    cache.add(frame('logs', 10), 1, 40, 50)
    expect(cache.find('logs', 1, 40, ANYWHERE)?.end).to.equal(50)
    expect(cache.find('logs', 2, 40, ANYWHERE)).to.equal(undefined)
    cache.leave('logs')
    expect(cache.find('logs', 1, 40, ANYWHERE)).to.equal(undefined)
  })

  it('lets the oldest go over its bound, and takes nothing that would push out most of the others', () => {
    const cache = new FrameCache(1000)
    cache.join('logs')
    cache.join('logs')
    for (let at = 0; at < 6; at++) cache.add(frame('logs', 200), 1, at, at + 1)
    cache.add(frame('logs', 300), 1, 6, 7)
    const kept = [0, 1, 2, 3, 4, 5, 6].filter(at => cache.find('logs', 1, at, ANYWHERE) !== undefined)
    expect(kept).to.deep.equal([1, 2, 3, 4, 5])
  })

  it('lets a frame go once each reader had it, when the last one has taken hold of it', () => {
    const cache = new FrameCache(1000)
    for (let reader = 0; reader < 3; reader++) cache.join('logs')
    const records = frame('logs', 200)
    cache.add(records, 1, 40, 50)
    expect(cache.find('logs', 1, 40, 49)).to.equal(undefined)
    for (let reader = 1; reader < 3; reader++) {
      expect(cache.find('logs', 1, 40, 50)?.records).to.equal(records)
      expect(records.holders).to.equal(1)
    }
    expect(cache.find('logs', 1, 40, 50)).to.equal(undefined)
    expect(records.holders).to.equal(0)
  })

  it('holds nothing once a reader has left', () => {
    const cache = new FrameCache(1000)
    for (let reader = 0; reader < 2; reader++) cache.join('logs')
    const frames = [frame('logs', 200), frame('logs', 200)]
    for (const [at, records] of frames.entries()) cache.add(records, 1, at, at + 1)
    cache.find('logs', 1, 0, ANYWHERE)
    cache.leave('logs')
    expect(frames.map(({ holders }) => holders)).to.deep.equal([0, 0])
  })
})
