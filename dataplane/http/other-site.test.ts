import { expect } from 'chai'
import { describe, it } from 'mocha'
import { assertNoOtherSite } from './other-site.ts'

describe('a page of another site', () => {
  const isRefused = (method: string, headers: Record<string, string>, localAddress = '127.0.0.1'): boolean => {
    try {
      assertNoOtherSite({ method, headers: { host: '127.0.0.1:9200', ...headers }, socket: { localAddress } })
      return false
    } catch (error) {
      expect(error).to.include({ status: 403 })
      return true
    }
  }

  for (const { who, method = 'POST', headers, refused } of [
    { who: 'a form of another site', headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, refused: true },
    { who: 'the same, by a browser that does not say how it came', headers: { origin: 'https://evil.example' }, refused: true },
    { who: 'a page in a frame without an origin', headers: { origin: 'null' }, refused: true },
    { who: 'another site that deletes', method: 'DELETE', headers: { 'sec-fetch-site': 'cross-site' }, refused: true },
    {
      who: 'another site that reads',
      method: 'GET',
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      refused: false,
    },
    { who: 'a program', headers: {}, refused: false },
    { who: 'a page of this address', headers: { origin: 'http://127.0.0.1:9200' }, refused: false },
    {
      who: 'a page whose proxy keeps no host',
      headers: { origin: 'https://logs.example', 'sec-fetch-site': 'same-origin' },
      refused: false,
    },
    {
      who: 'a page whose proxy says for which host it stands',
      headers: { origin: 'http://logs.example', 'x-forwarded-host': 'Logs.example' },
      refused: false,
    },
    {
      who: 'a page behind two such proxies',
      headers: { origin: 'http://logs.example', 'x-forwarded-host': 'logs.example, inner.example' },
      refused: false,
    },
    {
      who: 'another site through such a proxy',
      headers: { origin: 'https://evil.example', 'x-forwarded-host': 'logs.example' },
      refused: true,
    },
    { who: 'a page of this machine', headers: { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, refused: false },
    {
      who: 'a page that came by the gateway, with a key',
      headers: { origin: 'https://app.example', 'sec-fetch-site': 'cross-site', 'x-service-tenant-id': 'acme' },
      refused: false,
    },
  ])
    it(`${refused ? 'is refused' : 'is not'}: ${who}`, () => expect(isRefused(method, headers)).to.equal(refused))

  describe('under a name that domain servers of others led to this machine', () => {
    const led = { host: 'evil.example:9200', origin: 'http://evil.example:9200' }
    for (const { who, method = 'POST', headers, localAddress, refused } of [
      { who: 'a page', headers: led, refused: true },
      { who: 'a page, at a server with both kinds of addresses', headers: led, localAddress: '::ffff:127.0.0.1', refused: true },
      { who: 'a page, at IPv6', headers: led, localAddress: '::1', refused: true },
      { who: 'a page that deletes', method: 'DELETE', headers: led, refused: true },
      { who: 'a page that names a tenant', headers: { ...led, 'x-service-tenant-id': 'acme' }, refused: true },
      { who: 'a page that plays a proxy', headers: { ...led, 'x-forwarded-host': 'evil.example:9200' }, refused: true },
      { who: 'a page that reads', method: 'GET', headers: { host: led.host }, refused: false },
      { who: 'a program', headers: { host: 'search.example:9200' }, refused: false },
      { who: 'a page whose proxy on this machine speaks TLS', headers: { ...led, 'sec-fetch-site': 'same-origin' }, refused: false },
      { who: 'a page of this machine', headers: { host: 'LOCALHOST:9200', origin: 'http://localhost:9200' }, refused: false },
      { who: 'a page of this machine, at IPv6', headers: { host: '[::1]:9200', origin: 'http://[::1]:9200' }, refused: false },
      { who: 'a page at an address of the network', headers: led, localAddress: '10.0.0.5', refused: false },
    ])
      it(`${refused ? 'is refused' : 'is not'}: ${who}`, () => expect(isRefused(method, headers, localAddress)).to.equal(refused))
  })
})
