import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDate } from '../mapping/values.ts'
import { scanNumber, scanTimestamp } from './json-scan.ts'

function scan(text: string) {
  const out = { position: 0, value: 0, isWhole: true }
  scanNumber(Buffer.from(`${text} `), 0, out)
  return out
}

describe('numbers from bytes', () => {
  it('are exactly those of JSON.parse', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer(),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.integer({ min: -99_999, max: 99_999 }).map(n => n / 1000),
          fc.nat().map(n => n / 2 ** 21),
        ),
        number => {
          const text = JSON.stringify(number)
          const { position, value, isWhole } = scan(text)
          expect(position).to.equal(text.length)
          expect(isWhole).to.equal(/^-?\d+$/.test(text))
          if (!Number.isNaN(value)) expect(value === 0 ? 0 : value).to.equal(JSON.parse(text) === 0 ? 0 : JSON.parse(text))
        },
      ),
      { numRuns: 2000, seed: 1 },
    ))

  it('of sixteen digits are read where a double holds them', () => {
    expect(scan('524.3039585119113').value).to.equal(524.3039585119113)
    expect(scan('9007199254740991').value).to.equal(9007199254740991)
    for (const text of ['9007199254740993', '90071992547409.93', '0.00000000000000000000001']) expect(scan(text).value).to.be.NaN
  })

  for (const text of ['01', '-', '1.', '.5', '+1', '1e', '1e+', 'x']) {
    it(`refuses ${text}`, () => {
      const { position } = scan(text)
      expect(position === -1 || position < text.length).to.equal(true)
    })
  }
})

describe('timestamps from bytes', () => {
  it('are exactly those of the date field', () =>
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('2200-01-01T00:00:00Z'), noInvalidDate: true }),
        fc.stringMatching(/^(\.\d{1,9})?$/),
        (date, fraction) => {
          const text = `${date.toISOString().slice(0, 19)}${fraction}Z`
          expect(scanTimestamp(Buffer.from(text), 0, text.length), text).to.equal(parseDate(text))
        },
      ),
      { numRuns: 1000, seed: 2 },
    ))

  for (const text of [
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:00+01:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01 00:00:00Z',
  ])
    it(`leaves ${text} to the date field`, () => expect(scanTimestamp(Buffer.from(text), 0, text.length)).to.deep.equal(Number.NaN))
})
