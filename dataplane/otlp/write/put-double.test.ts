/** Doubles as text: the fewest digits that read back, as `String` has them. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { rounds } from '../../testing/rounds.ts'
import { putDouble } from './put-double.ts'
import { NOT_PLAIN } from './put-json.ts'

/** Undefined for what is left to `String`. */
function textOf(value: number): string | undefined {
  const input = new DataView(new ArrayBuffer(8))
  input.setFloat64(0, value, true)
  const out = new DataView(new ArrayBuffer(64))
  const end = putDouble(input, 0, out, 0)
  return end === NOT_PLAIN ? undefined : Buffer.from(out.buffer, 0, end).toString('latin1')
}

describe('doubles as text', () => {
  const written = [
    { kind: 'short fractions', values: [0.1, 0.3, 1.5, 12.75, -273.15, 99.9, 0.008, 1234567.25] },
    { kind: 'whole numbers', values: [3, 10, -999, 100_000, 2 ** 31 - 1] },
    { kind: 'all seventeen digits', values: [0.1 + 0.2, 895.3826112318784, 0.9999999999999999, 0.009680322385580599] },
    { kind: 'zeros behind the point', values: [1.000001, 7.000000000000001, 42.000000000001] },
    { kind: 'nines that round up', values: [1.9999999999999998, 0.29999999999999993, 999.9999999999999] },
  ]
  for (const { kind, values } of written)
    it(`writes ${kind} as String does`, () => {
      deepEqual(
        values.map(textOf),
        values.map(value => String(value)),
      )
    })

  const left = [0, -0, 0.5, 64, 1e-3, 2 ** 31, 1e21, 5e-324, Number.MAX_VALUE, Number.NaN, Number.POSITIVE_INFINITY]
  for (const value of left)
    it(`leaves ${Object.is(value, -0) ? '-0' : value} to String`, () => {
      equal(textOf(value), undefined)
    })

  it('leaves a value in the middle between two texts of equal length to String', () => {
    equal(textOf(2 ** 30 + 1 / 256), undefined)
  })

  it('writes any double as String does, where it writes it', () => {
    const inRange = fc.double({ min: -(2 ** 31), max: 2 ** 31, noNaN: true })
    const decimal = fc.tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 9 }))
    const fromDecimal = decimal.map(([digits, places]) => digits / 10 ** places)
    const neighbour = fc.tuple(fromDecimal, fc.integer({ min: -4, max: 4 })).map(([value, steps]) => value * (1 + steps * Number.EPSILON))
    let count = 0
    const check = (value: number) => {
      const text = textOf(value)
      if (text === undefined) return
      count++
      equal(text, String(value))
    }
    fc.assert(fc.property(fc.oneof(inRange, fromDecimal, neighbour), check), { numRuns: rounds(20_000) })
    ok(count > rounds(5_000))
  })
})
