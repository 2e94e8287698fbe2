import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { LentBuffers } from '../../../memory/lent-buffers.ts'
import { readBody } from './request-body.ts'

const MIB = 1024 * 1024
const ENCODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync }

/** Growth of memory outside the heap, MiB, before any collection. */
async function heldAfter(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers
  await work()
  return (process.memoryUsage().arrayBuffers - before) / MIB
}

function read(body: Buffer, encoding: string, maxBytes: number) {
  const request = Object.assign(new PassThrough(), { headers: { 'content-encoding': encoding } }) as unknown as PassThrough &
    IncomingMessage
  request.end(body)
  const lease = { grow: () => undefined, shrink: () => undefined } as unknown as Parameters<typeof readBody>[3]
  return readBody(request, { maxBytes, status: 413 }, new LentBuffers(), lease)
}

describe('a body that is unpacked', () => {
  for (const [encoding, compress] of Object.entries(ENCODINGS)) {
    const packed = compress(Buffer.alloc(24 * MIB, 'a'))

    it(`holds its bytes once, not in pieces as well: ${encoding}`, async () => {
      let body: Buffer | undefined
      const heldMib = await heldAfter(async () => {
        body = await read(packed, encoding, 32 * MIB)
      })
      expect(body).to.have.length(24 * MIB)
      expect(heldMib).to.be.below(30)
    })

    it(`and refused holds nothing any more: ${encoding}`, async () => {
      const heldMib = await heldAfter(() => read(packed, encoding, 20 * MIB).catch(() => undefined))
      expect(heldMib).to.be.below(6)
    })
  }
})
