import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KnownBytes, type Place } from './known-bytes.ts'

const CHUNK_BYTES = 262_144
const viewOf = (text: string) => {
  const bytes = Uint8Array.from(Buffer.from(text))
  return new DataView(bytes.buffer)
}
const bytesOf = (number: number, length: number) => viewOf(`pod-${number}`.padEnd(length, '.'))

const DEFAULTS = { length: 400, madeLength: 600, heldBytes: 100 }

/** Texts by bytes of `length`, of which so many senders have been added; room for four chunks. */
function known(count: number, config: Partial<typeof DEFAULTS> = {}) {
  const { length, madeLength, heldBytes } = { ...DEFAULTS, ...config }
  const table = new KnownBytes<Place>(4 * CHUNK_BYTES)
  for (let i = 0; i < count; i++) {
    const bytes = Buffer.from(`made of ${i}`.padEnd(madeLength))
    table.add(bytesOf(i, length), 0, length, 'acme', { bytes, heldBytes, valueAt: place => place })
  }
  const find = (i: number, owner = 'acme') => textAt(table.find(bytesOf(i, length), 0, length, owner))
  return { table, find, found: Array.from({ length: count }, (_, i) => find(i)).filter(Boolean).length }
}

const textAt = (place: Place | undefined) => place?.memory.toString('latin1', place.start, place.end).trim()

describe('known bytes', () => {
  it('what was made of bytes is found by all of them and their owner, wherever they stand', () => {
    const { table, find } = known(500)
    for (let i = 0; i < 500; i++) expect(find(i)).to.equal(`made of ${i}`)
    expect(find(500)).to.equal(undefined)
    expect(find(1, 'globex')).to.equal(undefined)
    expect(textAt(table.find(viewOf(`before${'pod-2'.padEnd(400, '.')}behind`), 6, 406, 'acme'))).to.equal('made of 2')
    expect(table.find(bytesOf(2, 401), 0, 401, 'acme')).to.equal(undefined)
  })

  it('bytes that differ in the last one alone are others', () => {
    const { table } = known(1, { length: 7 })
    expect(textAt(table.find(viewOf('pod-0..'), 0, 7, 'acme'))).to.equal('made of 0')
    expect(table.find(viewOf('pod-0.,'), 0, 7, 'acme')).to.equal(undefined)
  })

  it('as many are known as the memory holds, those of the entries counted in; the oldest are forgotten', () => {
    const inFourChunks = (bytes: number) => 4 * Math.floor(CHUNK_BYTES / bytes)
    expect(known(900).found).to.equal(900)
    const { find, found } = known(2_000)
    expect(found).to.be.within(inFourChunks(1_100) - Math.floor(CHUNK_BYTES / 1_100), inFourChunks(1_100))
    expect(find(0)).to.equal(undefined)
    expect(find(1_999)).to.equal('made of 1999')
    expect(known(20_000, { length: 12, madeLength: 20, heldBytes: 1_000 }).found).to.be.at.most(inFourChunks(1_032))
  })

  it('what a chunk does not hold is not remembered, and costs nobody else', () => {
    const { find, found } = known(2, { madeLength: CHUNK_BYTES })
    expect(found).to.equal(0)
    expect(find(0)).to.equal(undefined)
  })
})
