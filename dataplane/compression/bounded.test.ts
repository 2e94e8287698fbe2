/** lz4 and Snappy against the compressors of a library. */
import { compressionsAlgorithms } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { decompressLz4 } from './lz4.ts'
import { decompressSnappy } from './snappy.ts'
import { TooLong } from './too-long.ts'

const FORMATS = { lz4: decompressLz4, snappy: decompressSnappy } as const
const XERIAL_HEADER = Buffer.from('82534e41505059000000000100000001', 'hex')

/** A sequence of numbers that is the same in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

/** Runs of what came before, of one byte, and of noise, of all lengths. */
function sample(random: (below: number) => number): Buffer {
  const parts: Buffer[] = []
  let whole = Buffer.alloc(0)
  for (let i = random(12); i >= 0; i--) {
    const length = random([3, 20, 300, 70_000][random(4)]!)
    const from = random(whole.length + 1)
    const kinds = [
      () => Buffer.alloc(length, random(256)),
      () => Buffer.from(Array.from({ length }, () => random(256))),
      () => whole.subarray(from, from + length),
    ]
    parts.push(kinds[random(3)]!())
    whole = Buffer.concat(parts)
  }
  return whole
}

for (const [name, decompress] of Object.entries(FORMATS)) {
  const { compressSync } = compressionsAlgorithms[name as keyof typeof FORMATS]

  describe(name, () => {
    it('gives back what the library packed', () => {
      const random = createRandom(1)
      for (let round = 0; round < 200; round++) {
        const raw = sample(random)
        const plain = decompress(compressSync(raw), raw.length)
        expect(Buffer.compare(plain, raw), `round ${round}`).to.equal(0)
      }
    })

    it('refuses more than is allowed before it takes memory for it', () => {
      const packed = compressSync(Buffer.alloc(10_000))
      expect(() => decompress(packed, 9_999)).to.throw(TooLong, `${name}: more than 9999 bytes come out`)
      expect(decompress(packed, 10_000)).to.have.length(10_000)
    })

    it('refuses bytes that were changed or cut off, or gives others back, within the bound and the time', () => {
      const random = createRandom(2)
      const packed = compressSync(Buffer.concat([sample(random), Buffer.alloc(5_000, 'abcdefg')]))
      for (let round = 0; round < 3_000; round++) {
        const changed = Buffer.from(packed.subarray(0, round % 2 === 0 ? packed.length : random(packed.length)))
        for (let i = random(4); i >= 0 && changed.length > 0; i--) changed[random(changed.length)] = random(256)
        try {
          expect(decompress(changed, 1_000_000).length).to.be.at.most(1_000_000)
        } catch (error) {
          expect(error).to.be.instanceOf(RangeError)
        }
      }
    })
  })
}

describe('snappy in the chunks of Java clients', () => {
  it('is the chunks one after the other', () => {
    const chunks = ['first ', 'second '.repeat(1_000), ''].map(text => compressionsAlgorithms.snappy.compressSync(Buffer.from(text)))
    const framed = chunks.flatMap(chunk => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(chunk.length)
      return [length, chunk]
    })
    const packed = Buffer.concat([XERIAL_HEADER, ...framed])
    expect(decompressSnappy(packed, 100_000).toString()).to.equal(`first ${'second '.repeat(1_000)}`)
    expect(() => decompressSnappy(packed.subarray(0, -1), 100_000)).to.throw(RangeError, 'ends within a chunk')
    expect(() => decompressSnappy(packed, 7_000)).to.throw(TooLong)
  })
})

describe('lz4 in several frames', () => {
  it('is the frames one after the other, without those for other uses', () => {
    const frame = (text: string) => compressionsAlgorithms.lz4.compressSync(Buffer.from(text))
    const skipped = Buffer.concat([Buffer.from('502a4d1803000000', 'hex'), Buffer.from('abc')])
    expect(decompressLz4(Buffer.concat([frame('one '), skipped, frame('two')]), 100).toString()).to.equal('one two')
  })
})
