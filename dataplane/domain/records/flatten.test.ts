import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { AnyValue, KeyValue } from '../../otlp/payload.ts'
import { anyValueJson } from './any-value.ts'
import { flatText, flattenAttributes, flattenKey } from './flatten.ts'

const text = (key: string, stringValue: string): KeyValue => ({ key, value: { stringValue } })

describe('flatten: attribute keys are flattened with dots replaced by underscores', () => {
  it('service.name becomes service_name', () => expect(flattenKey('service.name')).to.equal('service_name'))

  const cases: readonly { name: string; levels: (readonly KeyValue[] | undefined)[]; expected: Record<string, string> }[] = [
    {
      name: 'resource, scope and record attributes are merged, the later wins',
      levels: [[text('a', '1'), text('b', '1')], [text('b', '2')], [text('c', '3')]],
      expected: { a: '"1"', b: '"2"', c: '"3"' },
    },
    { name: 'duplicate keys: the last wins', levels: [[text('a', '1'), text('a', '2')]], expected: { a: '"2"' } },
    { name: 'absent levels are empty', levels: [undefined, [], undefined], expected: {} },
    {
      name: 'nested maps flatten with dots',
      levels: [
        [
          {
            key: 'a',
            value: {
              kvlistValue: {
                values: [text('b', 'x'), { key: 'c', value: { kvlistValue: { values: [{ key: 'd', value: { intValue: '5' } }] } } }],
              },
            },
          },
        ],
      ],
      expected: { 'a.b': '"x"', 'a.c.d': '5' },
    },
    { name: 'an empty map stays', levels: [[{ key: 'a', value: { kvlistValue: {} } }]], expected: { a: '{}' } },
    {
      name: 'arrays are JSON values',
      levels: [
        [
          {
            key: 'a',
            value: { arrayValue: { values: [{ intValue: 1 }, { stringValue: 'x' }, { kvlistValue: { values: [text('k', 'v')] } }] } },
          },
        ],
      ],
      expected: { a: '[1,"x",{"k":"v"}]' },
    },
    {
      name: 'a missing key and a missing value',
      levels: [[{ value: { boolValue: false } }, { key: 'n' }]],
      expected: { '': 'false', n: 'null' },
    },
  ]
  for (const { name, levels, expected } of cases)
    it(name, () => expect(Object.fromEntries(flattenAttributes(...levels))).to.deep.equal(expected))

  it('__proto__ is a key like any other', () => {
    const flat = flattenAttributes([text('__proto__', 'x'), text('constructor', 'y')])
    expect([...flat]).to.deep.equal([
      ['__proto__', '"x"'],
      ['constructor', '"y"'],
    ])
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined)
  })

  it('keeps the count: as many values as distinct paths to a leaf', () => {
    const leaf: fc.Arbitrary<AnyValue> = fc.oneof(
      fc.string().map(stringValue => ({ stringValue })),
      fc.integer().map(intValue => ({ intValue })),
      fc.boolean().map(boolValue => ({ boolValue })),
    )
    const { list } = fc.letrec<{ list: KeyValue[]; value: AnyValue }>(tie => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        tie('list').map(values => ({ kvlistValue: { values } })),
      ),
      list: fc.array(fc.record({ key: fc.string(), value: tie('value') }), { maxLength: 5 }),
    }))
    const paths = (entries: readonly KeyValue[], prefix: string): string[] =>
      entries.flatMap(({ key = '', value }) => {
        const inner = value?.kvlistValue?.values
        return inner === undefined || inner.length === 0 ? [prefix + key] : paths(inner, `${prefix}${key}.`)
      })
    fc.assert(
      fc.property(list, attributes => {
        expect(flattenAttributes(attributes).size).to.equal(new Set(paths(attributes, '')).size)
      }),
      { seed: 3 },
    )
  })
})

describe('values as JSON text', () => {
  const cases: readonly { name: string; value: AnyValue | undefined; expected: string }[] = [
    { name: 'a string', value: { stringValue: 'a"b\n' }, expected: '"a\\"b\\n"' },
    { name: 'an integer as a string', value: { intValue: '42' }, expected: '42' },
    { name: 'a 64-bit integer without loss of precision', value: { intValue: '9223372036854775807' }, expected: '9223372036854775807' },
    { name: 'the smallest integer', value: { intValue: '-9223372036854775808' }, expected: '-9223372036854775808' },
    { name: 'an integer with leading zeros', value: { intValue: '-007' }, expected: '-7' },
    { name: 'negative zero', value: { intValue: '-0' }, expected: '0' },
    { name: 'a double', value: { doubleValue: 1.5 }, expected: '1.5' },
    { name: 'a whole double stays a double', value: { doubleValue: 345 }, expected: '345.0' },
    { name: 'a huge double', value: { doubleValue: 1e300 }, expected: '1e+300' },
    { name: 'a quoted double', value: { doubleValue: '2.5' }, expected: '2.5' },
    { name: 'NaN', value: { doubleValue: 'NaN' }, expected: '"NaN"' },
    { name: '-Infinity', value: { doubleValue: '-Infinity' }, expected: '"-Infinity"' },
    { name: 'a boolean', value: { boolValue: true }, expected: 'true' },
    { name: 'bytes in either alphabet, padded', value: { bytesValue: '-_8' }, expected: '"+/8="' },
    { name: 'an empty array', value: { arrayValue: {} }, expected: '[]' },
    {
      name: 'a map: duplicate keys, the last wins',
      value: { kvlistValue: { values: [text('a', '1'), text('a', '2')] } },
      expected: '{"a":"2"}',
    },
    { name: 'the empty value', value: {}, expected: 'null' },
    { name: 'no value', value: undefined, expected: 'null' },
  ]
  for (const { name, value, expected } of cases) it(name, () => expect(anyValueJson(value, 'typed')).to.equal(expected))

  it('a body is plain JSON', () => {
    expect(anyValueJson({ kvlistValue: { values: [{ key: 'a', value: { doubleValue: 1 } }] } }, 'plain')).to.equal('{"a":1}')
  })

  it('as a field: the string itself, anything else as text, nothing for null and empty', () => {
    expect([flatText('"x"'), flatText('5'), flatText('null'), flatText('""'), flatText(undefined)]).to.deep.equal([
      'x',
      '5',
      undefined,
      undefined,
      undefined,
    ])
  })
})
