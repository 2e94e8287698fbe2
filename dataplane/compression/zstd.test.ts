import { buffer } from 'node:stream/consumers'
import { createZstdCompress, createZstdDecompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../testing/rounds.ts'
import { compress, compressShared, contentBytes, contextOf, createCompressor, decompress } from './zstd.ts'

async function packedInSteps(...parts: readonly string[]): Promise<Buffer> {
  const stream = createZstdCompress()
  for (const part of parts) stream.write(part)
  return buffer(stream.end())
}

describe('zstd with contexts that are used again', () => {
  it('finds the context inside the zlib streams of this Node', () => {
    expect(contextOf(createZstdCompress())).not.to.equal(undefined)
    expect(contextOf(createZstdDecompress())).not.to.equal(undefined)
    expect(contextOf({})).to.equal(undefined)
  })

  it('gives back what was packed, whatever came before', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 5_000 }),
      fc.string({ maxLength: 300 }).map(text => Buffer.from(text.repeat(900))),
    )
    fc.assert(
      fc.property(bytes, raw => {
        const packed = compress(raw)
        expect(Buffer.from(raw).equals(decompress(packed, raw.length))).to.equal(true)
        expect(Buffer.from(raw).equals(zstdDecompressSync(packed))).to.equal(true)
        expect(Buffer.from(raw).equals(decompress(zstdCompressSync(raw), raw.length))).to.equal(true)
      }),
      { numRuns: rounds(200) },
    )
  })

  it('keeps memory of its own per result', () => {
    const first = compress(Buffer.from('a'.repeat(1000)))
    compress(Buffer.from('b'.repeat(1000)))
    expect(decompress(first, 1000).toString()).to.equal('a'.repeat(1000))
    expect(first.buffer.byteLength).to.equal(first.length)
  })

  it('shares memory where that is asked for, until the next call', () => {
    const [first, second] = ['first', 'second'].map(text => Buffer.from(text.repeat(900))) as [Buffer, Buffer]
    const shared = compressShared(first)
    expect(decompress(shared, first.length).equals(first)).to.equal(true)
    expect(compressShared(second).buffer).to.equal(shared.buffer)
    expect(compress(second).buffer).not.to.equal(shared.buffer)
  })

  it('gives back what was packed with another number of places, which changes nothing for others', () => {
    const raw = Buffer.from(Array.from({ length: 9_000 }, (_, i) => `${i * i} a line of log ${i % 77}`).join('\n'))
    const usual = Buffer.from(compress(raw))
    const other = Buffer.from(createCompressor({ hashLog: 10 })(raw))
    expect(other.equals(usual)).to.equal(false)
    expect(decompress(other, raw.length).equals(raw)).to.equal(true)
    expect(contentBytes(other)).to.equal(raw.length)
    expect(usual.equals(compress(raw))).to.equal(true)
  })

  it('a frame says how much it holds, whatever that is', () => {
    for (const size of [0, 1, 255, 256, 257, 65_791, 65_792, 200_000]) {
      const raw = Buffer.alloc(size, 'a line of log ')
      expect(contentBytes(Buffer.from(compress(raw))), `${size} bytes`).to.equal(size)
      expect(contentBytes(zstdCompressSync(raw, { pledgedSrcSize: size })), `${size} bytes, by Node`).to.equal(size)
    }
  })

  it('does not know the size of a frame that leaves it out, nor of what is none', async () => {
    const unsized = await packedInSteps('begins', ' and ends')
    expect(zstdDecompressSync(unsized).toString()).to.equal('begins and ends')
    expect(contentBytes(unsized)).to.equal(undefined)
    for (const none of [Buffer.alloc(0), Buffer.from('no zstd at all'), packed.subarray(0, 5)])
      expect(contentBytes(none)).to.equal(undefined)
  })

  const packed = zstdCompressSync(Buffer.from('a line of log '.repeat(100)))
  const REFUSED = [
    { name: 'what is no zstd', bytes: Buffer.from('not compressed at all'), size: 21 },
    { name: 'a frame that is cut off', bytes: packed.subarray(0, packed.length - 4), size: 1400 },
    { name: 'more bytes than stated', bytes: packed, size: 1399 },
    { name: 'fewer bytes than stated', bytes: packed, size: 1401 },
    { name: 'nothing', bytes: new Uint8Array(0), size: 1 },
  ]
  for (const { name, bytes, size } of REFUSED)
    it(`refuses ${name}, and works on`, () => {
      expect(() => decompress(bytes, size)).to.throw('zstd')
      expect(decompress(packed, 1400).toString()).to.equal('a line of log '.repeat(100))
    })
})
