import { expect } from 'chai'
import { describe, it } from 'mocha'
import { hasLink, hidesText, plainText, withoutLinks } from './plain-text.ts'

describe('plain text', () => {
  it('is one line without hidden characters, in the usual form of letters', () => {
    expect(plainText('a\r\n\tb\u0000\u200bc\u202ed')).to.equal('a bcd')
    expect(plainText('ｈｔｔｐ：／／ｘ')).to.equal('http://x')
    expect(plainText('\u{E0041}\u{E0042}ok')).to.equal('ok')
  })
  it('tells of hidden text', () => {
    for (const text of ['\u202etxt', '\u{E0041}', '\u2066x']) expect(hidesText(text), JSON.stringify(text)).to.equal(true)
    expect(hidesText('größe 👩‍💻')).to.equal(false)
  })

  const links = [
    'see https://evil.example/x',
    'mailto:a@b',
    'javascript:alert(1)',
    'www.evil.example',
    'go to evil.com',
    'evil.io/fix',
    '[fix](evil)',
    'ftp://x',
  ]
  for (const text of links)
    it(`finds the link: ${text}`, () => {
      expect(hasLink(text)).to.equal(true)
      if (!text.includes('](')) expect(withoutLinks(text)).to.include('[url]')
    })
  for (const text of ['com.shop.OrderService failed', 'checkout: slow', 'port 8080 of db.internal', 'e.g. retries', 'node.js', 'ratio 3:1'])
    it(`no link: ${text}`, () => expect(hasLink(text)).to.equal(false))
})
