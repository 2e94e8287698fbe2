import { expect } from 'chai'
import { describe, it } from 'mocha'
import { addedBytes, parseAddedBytes } from './added-bytes.ts'

describe('bytes that a proxy adds to a body', () => {
  it('are told where the body is too large with them', () => {
    expect(addedBytes(100, 150, 150)).to.equal(undefined)
    expect(addedBytes(100, 151, 150)).to.equal('51')
    expect(addedBytes(151, 151, 150)).to.equal(undefined)
    expect(addedBytes(160, 151, 150)).to.equal(undefined)
  })

  it('are read as a number of bytes, bounded, else as none', () => {
    expect(parseAddedBytes('51')).to.equal(51)
    expect(parseAddedBytes('99999999999')).to.equal(16 << 20)
    for (const value of [undefined, '', '-1', '1.5', 'x', '1e999', ['5', '6']]) expect(parseAddedBytes(value), String(value)).to.equal(0)
  })
})
