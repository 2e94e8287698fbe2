import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KEY_MASKS, maskText } from './text-mask.ts'

describe('private keys and JWTs in a text that leaves the product', () => {
  const pem = (kind: string) => `-----BEGIN ${kind}PRIVATE KEY-----\nMIIEow\nabc\n-----END ${kind}PRIVATE KEY-----`
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0'

  for (const { name, text, masked } of [
    { name: 'a private key', text: `a ${pem('')} b`, masked: 'a [private key] b' },
    { name: 'one of an algorithm', text: `a ${pem('RSA ')} b`, masked: 'a [private key] b' },
    { name: 'two of them', text: `${pem('EC ')} and ${pem('')}.`, masked: '[private key] and [private key].' },
    { name: 'one that is cut', text: 'a -----BEGIN PRIVATE KEY-----\nMIIEow', masked: 'a [private key]' },
    { name: 'a JWT', text: `got ${jwt}.abc-def_ghi, refused`, masked: 'got [token], refused' },
    { name: 'one without a signature', text: `got ${jwt} refused`, masked: 'got [token] refused' },
  ])
    it(`are masked: ${name}`, () => expect(maskText(text, KEY_MASKS)).to.equal(masked))

  for (const text of [
    '-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----',
    'eyJ is how a JWT begins',
    'heyJude1.mp3',
    'eyJhbGciOiJIUzI1NiJ9',
  ])
    it(`leave alone: ${text.split('\n')[0]}`, () => expect(maskText(text, KEY_MASKS)).to.equal(text))

  it('are masked in the order of the table', () => {
    const masks = [
      { what: /a(b?)/g, by: 'b$1' },
      { what: /b/g, by: 'c' },
    ]
    expect(maskText('ab', masks)).to.equal('cc')
  })
})
