import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../testing/rounds.ts'
import { parseDate } from '../../../mapping/values.ts'
import { scanTimestamp } from './scan-timestamp.ts'

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
      { numRuns: rounds(1000), seed: 2 },
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
