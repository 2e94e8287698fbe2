import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseDateFormat } from './date-format.ts'
import { UTC } from './time-zone.ts'

describe('a format of dates', () => {
  const parse = (format: string, text: string) => parseDateFormat(format).parse(text, false, UTC)

  it('may leave the width of each letter open, once', () => {
    expect(parse('d.M.yyyy H:m:s.SX', '1.2.2026 3:4:5.6Z')).to.equal(Date.UTC(2026, 1, 1, 3, 4, 5, 600))
    expect(parse('yyyyMdHmsS', `20261${'1'.repeat(200)}x`)).to.equal(undefined)
  })

  it('may repeat letters of a fixed width', () => expect(parse('yyyy-MM-dd MM', '2026-02-03 02')).to.equal(Date.UTC(2026, 1, 3)))

  for (const [format, letter] of [
    ['SMSMSMSMSMSM', 'S'],
    ["d'a'dd'a'd", 'd'],
    ['HHmHm', 'm'],
    ["X' 'Z", 'X'],
  ] as const)
    it(`that leaves the width of ${letter} open twice is refused: digits could be divided in more ways than can be tried (${format})`, () => {
      expect(() => parse(format, `${'1'.repeat(24)}x`)).to.throw(`pattern letter [${letter}] stands twice without a width`)
    })

  it('is one of at most 50', () => {
    expect(parse(Array(50).fill('yyyy').join('||'), '2026')).to.equal(Date.UTC(2026, 0, 1))
    expect(() => parse(Array(51).fill('yyyy').join('||'), '2026')).to.throw('at most 50 formats, found 51')
  })

  it('shows a year of more than four digits with a sign, as OpenSearch does', () => {
    const print = (format: string) => parseDateFormat(format).print(Date.UTC(57_974, 2, 28), UTC)
    expect(['yyyy/MM/dd', 'yy', 'strict_date_optional_time'].map(print)).to.deep.equal(['+57974/03/28', '74', '+57974-03-28T00:00:00.000Z'])
  })
})
