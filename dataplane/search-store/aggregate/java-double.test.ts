import { expect } from 'chai'
import { it } from 'mocha'
import { javaDouble } from './java-double.ts'

it('numbers are shown in keys as Java writes doubles', () => {
  const shown: readonly (readonly [number, string])[] = [
    [0, '0.0'],
    [5, '5.0'],
    [-1.5, '-1.5'],
    [0.001, '0.001'],
    [0.0005, '5.0E-4'],
    [9_999_999, '9999999.0'],
    [10_000_000, '1.0E7'],
    [123_456_789.5, '1.234567895E8'],
    [-10_000_000.25, '-1.000000025E7'],
    [1_767_484_800_000, '1.7674848E12'],
    [1e21, '1.0E21'],
  ]
  for (const [value, text] of shown) expect(javaDouble(value)).to.equal(text)
})
