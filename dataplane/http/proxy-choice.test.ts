import { expect } from 'chai'
import { describe, it } from 'mocha'
import { proxyFor } from './proxy-choice.ts'

const PROXY = 'http://proxy:3128'

describe('The proxy for the API server', () => {
  const cases: readonly (readonly [name: string, server: string, noProxy: string, isUsed: boolean])[] = [
    ['is used where nothing speaks against it', 'https://10.96.0.1:443', '', true],
    ['is not used for what is on this machine', 'https://localhost:6443', '', false],
    ['is not used for a loopback address', 'https://127.0.0.2:6443', '', false],
    ['is not used for a loopback address of IPv6', 'https://[::1]:6443', '', false],
    ['is not used at all after *', 'https://api.example.com', '*', false],
    ['is not used for an address', 'https://10.96.0.1', 'x, 10.96.0.1', false],
    ['is used for another address', 'https://10.96.0.2', '10.96.0.1', true],
    ['is not used for addresses of a block', 'https://10.96.0.1', '10.0.0.0/8', false],
    ['is used beyond the block', 'https://11.0.0.1', '10.0.0.0/8', true],
    ['is not used for addresses of a block of IPv6', 'https://[fd00::1]', 'fd00::/8', false],
    ['is not used for an address of IPv6', 'https://[fd00::1]:6443', 'fd00::1', false],
    ['is not used for the port that is named', 'https://[fd00::1]:6443', '[fd00::1]:6443', false],
    ['is used for another port', 'https://api.example.com:6443', 'api.example.com:443', true],
    ['is not used for the usual port', 'https://api.example.com', 'api.example.com:443', false],
    ['is not used for a domain itself', 'https://Example.com', 'example.com', false],
    ['is not used for names below a domain', 'https://api.example.com', 'example.com', false],
    ['is not used for names below .domain', 'https://api.example.com', '.example.com', false],
    ['is used for the domain itself after .domain', 'https://example.com', '.example.com', true],
    ['is not used for names below *.domain', 'https://api.example.com', '*.example.com', false],
    ['is used for a name that only ends alike', 'https://myexample.com', 'example.com', true],
    ['is used where an exception makes no sense', 'https://10.0.0.1', '10.0.0.0/99,/8,:443,[,.', true],
  ]
  for (const [name, server, noProxy, isUsed] of cases)
    it(`${name}: ${server}, NO_PROXY=${noProxy}`, () => {
      expect(proxyFor(server, { HTTPS_PROXY: PROXY, NO_PROXY: noProxy })).to.equal(isUsed ? PROXY : undefined)
    })

  it('is that of the scheme, in capitals first', () => {
    expect(proxyFor('http://api', { HTTPS_PROXY: PROXY })).to.equal(undefined)
    expect(proxyFor('http://api', { http_proxy: 'proxy:1', HTTPS_PROXY: PROXY })).to.equal('http://proxy:1')
    expect(proxyFor('https://api', { HTTPS_PROXY: PROXY, https_proxy: 'http://other' })).to.equal(PROXY)
    expect(proxyFor('https://api', { HTTPS_PROXY: '', https_proxy: 'socks5://other' })).to.equal('socks5://other')
    expect(proxyFor('https://api', { HTTPS_PROXY: PROXY, no_proxy: 'api' })).to.equal(undefined)
  })
})
