import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { AnyValue } from '../../otlp/payload.ts'
import { anyValueJson, doubleJson } from './any-value.ts'

describe('the compact JSON text of an OTLP value', () => {
  const cases: readonly { name: string; value: AnyValue | undefined; expected: string }[] = [
    { name: 'a string', value: { stringValue: 'a"b' }, expected: '"a\\"b"' },
    { name: 'a 64-bit integer without loss', value: { intValue: '9223372036854775807' }, expected: '9223372036854775807' },
    { name: 'an integer in another spelling', value: { intValue: '007' }, expected: '7' },
    { name: 'a boolean', value: { boolValue: false }, expected: 'false' },
    { name: 'bytes in the standard alphabet with padding', value: { bytesValue: '-_8' }, expected: '"+/8="' },
    { name: 'a list', value: { arrayValue: { values: [{ intValue: '1' }, {}] } }, expected: '[1,null]' },
    { name: 'an empty list', value: { arrayValue: {} }, expected: '[]' },
    {
      name: 'a map, of equal keys the last',
      value: {
        kvlistValue: { values: [{ key: 'a', value: { intValue: 1 } }, { key: '__proto__' }, { key: 'a', value: { boolValue: true } }] },
      },
      expected: '{"a":true,"__proto__":null}',
    },
    { name: 'an empty value', value: {}, expected: 'null' },
    { name: 'no value', value: undefined, expected: 'null' },
  ]
  for (const { name, value, expected } of cases) it(name, () => expect(anyValueJson(value, 'plain')).to.equal(expected))

  it('doubles NaN and the infinities stay strings', () => {
    expect(['NaN', 'Infinity', '-Infinity'].map(value => doubleJson(value, 'typed'))).to.deep.equal(['"NaN"', '"Infinity"', '"-Infinity"'])
  })

  it('a double without a fraction has one in a field, and none in a message', () => {
    expect([doubleJson(12, 'typed'), doubleJson(12, 'plain'), doubleJson(0.5, 'typed'), doubleJson(1e21, 'typed')]).to.deep.equal([
      '12.0',
      '12',
      '0.5',
      '1e+21',
    ])
  })
})
