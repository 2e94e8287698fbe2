import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { decompress, type Encoding } from './decompress.ts'
import { MemoryBudget } from './memory-budget.ts'

const MIB = 1024 * 1024
const CODECS: readonly (readonly [Encoding, string, (body: Buffer) => Buffer])[] = [
  ['gzip', 'gzip', gzipSync],
  ['deflate', 'zlib', deflateSync],
  ['deflate', 'deflate', deflateRawSync],
  ['zstd', 'zstd', zstdCompressSync],
]

/** Growth of memory outside the heap, MiB, before any collection. */
async function heldAfter(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers
  await work()
  return (process.memoryUsage().arrayBuffers - before) / MIB
}

describe('a request that is unpacked', () => {
  for (const [encoding, name, compress] of CODECS) {
    const packed = compress(Buffer.alloc(24 * MIB, 'a'))
    const unpack = (limitBytes: number) => decompress(packed, encoding, limitBytes, new MemoryBudget(1_000 * MIB).lease())

    it(`holds its bytes once, not in pieces as well: ${name}`, async () => {
      let body: Uint8Array | undefined
      const heldMib = await heldAfter(async () => {
        body = await unpack(32 * MIB)
      })
      expect(Buffer.alloc(24 * MIB, 'a').equals(body!)).to.equal(true)
      expect(heldMib).to.be.below(30)
    })

    it(`and refused holds nothing any more: ${name}`, async () => {
      const heldMib = await heldAfter(() => unpack(20 * MIB).catch(() => undefined))
      expect(heldMib).to.be.below(6)
    })
  }
})
