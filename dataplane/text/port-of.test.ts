import { expect } from 'chai'
import { describe, it } from 'mocha'
import { portOf } from './port-of.ts'

describe('the port of an address', () => {
  for (const [address, port] of [
    ['https://example.com', 443],
    ['http://example.com/a', 80],
    ['https://example.com:443', 443],
    ['http://[::1]:9200', 9200],
    ['http://example.com:0', 0],
  ] as const)
    it(`${address}: ${port}`, () => expect(portOf(new URL(address))).to.equal(port))
})
