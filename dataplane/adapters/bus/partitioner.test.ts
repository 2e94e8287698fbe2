import { expect } from 'chai'
import { describe, it } from 'mocha'
import { murmur2, partitionOf } from './partitioner.ts'

describe('partitioner', () => {
  // The vectors of Kafka's own UtilsTest.
  const VECTORS = [
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ] as const
  for (const [key, hash] of VECTORS) it(`hashes "${key}" as Kafka does`, () => expect(murmur2(Buffer.from(key))).to.equal(hash))

  it('maps a key to one partition within range, whatever its bytes', () => {
    for (const key of ['', 'default/cart', 'ключ', '\u0000', '😀'.repeat(100)]) {
      const partition = partitionOf(key, 6)
      expect(partition).to.be.within(0, 5)
      expect(partitionOf(key, 6)).to.equal(partition)
    }
    expect(partitionOf('foobar', 6)).to.equal((-790332482 & 0x7fffffff) % 6)
  })
})
