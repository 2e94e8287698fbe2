import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Piece, pieceOf } from './piece.ts'

describe('pieces of records', () => {
  it('are written whole, whatever their length and place', () => {
    for (const length of [0, 1, 2, 3, 4, 5, 31, 95, 96, 97, 300])
      for (const at of [0, 1, 6, 7]) {
        const bytes = Buffer.from(Array.from({ length }, (_, k) => 32 + (k % 200)))
        const target = Buffer.alloc(320, 1)
        const piece = new Piece(bytes)
        expect(piece.put(target, new DataView(target.buffer, target.byteOffset, target.length), at)).to.equal(at + length)
        expect(target.subarray(at, at + length).equals(bytes)).to.equal(true)
        expect(target.subarray(0, at).every(byte => byte === 1)).to.equal(true)
        expect(target.subarray(at + length + 3).every(byte => byte === 1)).to.equal(true)
      }
  })

  it('are made of texts', () => {
    expect(pieceOf('ä').bytes).to.deep.equal(Buffer.from('ä'))
  })
})
