import { expect } from 'chai'
import { describe, it } from 'mocha'
import { escapeHidden, findHidden, textParts, visibleText } from './visible-text.ts'

const kept = (texts: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(texts)) expect(visibleText(text), name).to.equal(text)
}

describe('text of others', () => {
  it('shows characters that turn round what follows them', () => {
    expect(visibleText('user \u202egnp.exe\u202c logged in')).to.equal('user [U+202E]gnp.exe[U+202C] logged in')
    for (const code of [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x61c])
      expect(visibleText(`a${String.fromCodePoint(code)}b`)).to.equal(`a[U+${code.toString(16).toUpperCase().padStart(4, '0')}]b`)
  })

  it('shows characters that no one sees', () => {
    const codes = [
      0, 7, 8, 0x1b, 0x7f, 0x85, 0x9b, 0xad, 0x34f, 0x115f, 0x200b, 0x200c, 0x200d, 0x2028, 0x2060, 0x3164, 0xfe0f, 0xfeff, 0xfff9, 0xe0041,
    ]
    for (const code of codes)
      expect(visibleText(`pay${String.fromCodePoint(code)}pal`), code.toString(16)).to.equal(
        `pay[U+${code.toString(16).toUpperCase().padStart(4, '0')}]pal`,
      )
  })

  it('keeps those by which a script or a picture is written', () => {
    kept({
      plain: 'GET /a 200 in 3 ms',
      'lines, of Windows too': 'a\r\n\tb\n\tc\r',
      'German, Chinese, spaces': 'größer 你好\u00a0x\u3000y',
      Hebrew: 'שגיאה בתשלום\u200f!',
      'Arabic, with a mark of direction': '٢٠٢٦\u200f/١١ خطأ في الدفع',
      'Persian, which parts words without a space': 'نمی\u200cخواهم',
      'Hindi, which joins letters': 'क्\u200dष',
      Mongolian: 'ᠠ\u180bᠨ',
      'a family': '👨\u200d👩\u200d👧\u200d👦',
      'skin and sex': '🏃🏽\u200d♀\ufe0f',
      'a heart, a key': '❤\ufe0f 1\ufe0f\u20e3',
      'the flag of Wales': '🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}',
    })
  })

  it('says how many of the same follow each other', () => {
    expect(visibleText('a\0\0\0b\u200b')).to.equal('a[U+0000 × 3]b[U+200B]')
  })

  it('is all there: the parts together are the text', () => {
    const text = '\u202eab\u200d\u200d\r\rc שלום\u200f \u{e0041}'
    expect(
      textParts(text)
        .map(part => part.text)
        .join(''),
    ).to.equal(text)
    expect(textParts('')).to.deep.equal([])
  })

  it('is told of where it is edited, and shown as it is', () => {
    expect(findHidden('service:checkout "שלום"')).to.equal(undefined)
    expect(findHidden('service:pay\u202etnem\u200b\u200b')).to.deep.equal({
      names: ['U+202E', 'U+200B'],
      around: 'service:pay[U+202E]tnem[U+200B × 2]',
    })
    const long = `${'a'.repeat(3_000)}\u200b${'b'.repeat(3_000)}`
    expect(findHidden(long)?.around).to.equal(`${'a'.repeat(40)}[U+200B]${'b'.repeat(39)}`)
    const many = findHidden(Array.from({ length: 12 }, (_, at) => String.fromCodePoint(0xe0061 + at)).join('x'))
    expect(many?.names).to.have.length(6)
    expect(many?.names.at(-1)).to.equal('7 more')
  })

  it('remains the same JSON with escapes', () => {
    const value = { message: 'a\u202eb\u{e0041}\0', 'n\u200bame': ['\ufeff', 'שלום'] }
    const escaped = escapeHidden(JSON.stringify(value, null, 2))
    expect(escaped).to.include('a\\u202eb\\udb40\\udc41\\u0000').and.to.include('n\\u200bame').and.to.include('שלום')
    expect(JSON.parse(escaped)).to.deep.equal(value)
  })

  it('of 100 KB without a visible character is read in time that grows with its length', () => {
    const text = '\u200b\u202e'.repeat(50_000)
    expect(textParts(text)).to.have.length(100_000)
  })
})
