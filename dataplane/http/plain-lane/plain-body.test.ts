import { expect } from 'chai'
import { describe, it } from 'mocha'
import { PlainBody } from './plain-body.ts'
import type { PlainHead } from './plain-head.ts'

const CHUNK_BYTES = 64 * 1024
const CHUNKS = 16
const HEAD = 'POST /v1/logs HTTP/1.1\r\n\r\n'

const heldBytes = () => process.memoryUsage().arrayBuffers

describe('the body of a plain request', () => {
  it('is handed over with its head as it came, in one piece and with nothing left behind', () => {
    const chunks = Array.from({ length: CHUNKS }, (_none, k) => {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES).fill(k)
      if (k === 0) chunk.write(HEAD)
      return chunk
    })
    const expected = Buffer.concat(chunks)
    const before = heldBytes()
    const body = new PlainBody({ bodyStart: HEAD.length, bodyBytes: 2 * expected.length } as PlainHead)
    for (const chunk of chunks.slice(0, -1)) expect(body.add(chunk)).to.equal(undefined)
    const all = body.handOver(chunks.at(-1)!)
    // All chunks but the last one are gone, and the memory that they were gathered in.
    expect(heldBytes() - before).to.equal(all.length - (CHUNKS - 1) * CHUNK_BYTES)
    expect(all.equals(expected)).to.equal(true)
  })

  it('is handed over in chunks of any size', () => {
    const bytes = Buffer.concat([Buffer.from(HEAD), Buffer.from(Array.from({ length: 1_500_000 }, (_none, i) => i % 251))])
    for (const step of [65_536, 16_384, 999])
      for (const chunks of [1, 2, 3, 4]) {
        const body = new PlainBody({ bodyStart: HEAD.length, bodyBytes: 3_000_000 } as PlainHead)
        const chunk = (k: number) => Buffer.from(bytes.subarray(k * step, (k + 1) * step))
        for (let k = 0; k < chunks; k++) body.add(chunk(k))
        expect(body.handOver(chunk(chunks)).equals(bytes.subarray(0, (chunks + 1) * step))).to.equal(true)
      }
  })

  it('is handed over where nothing or a single chunk has come', () => {
    const head = { bodyStart: HEAD.length, bodyBytes: 100 } as PlainHead
    const [first, second] = [Buffer.from(`${HEAD}a`), Buffer.from('b')]
    expect(new PlainBody(head).handOver(first)).to.equal(first)
    const body = new PlainBody(head)
    body.add(first)
    expect(`${body.handOver(second)}`).to.equal(`${HEAD}ab`)
  })
})
