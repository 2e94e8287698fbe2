import { expect } from 'chai'
import { describe, it } from 'mocha'
import { bracketed } from './bracketed.ts'

describe('a host before a port', () => {
  it('stands in brackets where it is an address of IPv6', () => {
    expect(['::', 'fd00::1', '127.0.0.1', 'localhost'].map(bracketed)).to.deep.equal(['[::]', '[fd00::1]', '127.0.0.1', 'localhost'])
  })
})
