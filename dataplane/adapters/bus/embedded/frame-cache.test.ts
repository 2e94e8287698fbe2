import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FrameCache } from './frame-cache.ts'
import type { FrameRecords } from './record-batch.ts'

function frame(topic: string, bytes: number): FrameRecords {
  return { topic, raw: Buffer.alloc(bytes), retain() {}, release() {} } as unknown as FrameRecords
}

describe('frame cache', () => {
  it('keeps frames of a topic only while two readers follow it', () => {
    const cache = new FrameCache(1000)
    cache.join('logs')
    cache.add(frame('logs', 10), 1, 40, 50)
    expect(cache.find('logs', 1, 40)).to.equal(undefined)
    cache.join('logs')
    cache.add(frame('logs', 10), 1, 40, 50)
    expect(cache.find('logs', 1, 40)?.end).to.equal(50)
    expect(cache.find('logs', 2, 40)).to.equal(undefined)
    cache.leave('logs')
    expect(cache.find('logs', 1, 40)).to.equal(undefined)
  })

  it('lets the oldest go over its bound, and takes nothing that would push out most of the others', () => {
    const cache = new FrameCache(1000)
    cache.join('logs')
    cache.join('logs')
    for (let at = 0; at < 6; at++) cache.add(frame('logs', 200), 1, at, at + 1)
    cache.add(frame('logs', 300), 1, 6, 7)
    const kept = [0, 1, 2, 3, 4, 5, 6].filter(at => cache.find('logs', 1, at) !== undefined)
    expect(kept).to.deep.equal([1, 2, 3, 4, 5])
  })
})
