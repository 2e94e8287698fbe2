/** Log records as texts whose numbers, names and repetitions are spelled in every way that JSON allows. */
import fc from 'fast-check'

const NUMBERS = [
  '0',
  '-0',
  '0.0',
  '-0.0',
  '0e0',
  '0E-5',
  '0.5e1',
  '5',
  '5.0',
  '50e-1',
  '1.7e18',
  '1700000000123456789',
  '1700000000123456789.0',
  '18446744073709551615',
  '18446744073709551616',
  '-1',
  '-1.0',
  '-9223372036854775808',
  '-9223372036854775809',
  '9007199254740993',
  '2147483648',
  '4294967295',
  '1.5',
  '1E400',
  '-1E400',
  '1e999999999999',
  '0e999999999999',
  '1e-999999999999',
  `1${'0'.repeat(60)}e-60`,
  `0.${'0'.repeat(40)}1e41`,
]
const TEXTS = [
  '',
  'a',
  'INFO',
  '\\ud800',
  '\\ud83d\\ude00',
  '\\udc00x',
  'a\\"b\\\\',
  '\\u0000',
  '\\u0035',
  '-\\u0031',
  '\\u0030.0',
  'é😀',
  '}',
  ',',
]

const number = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...NUMBERS).map(text => `"${text}"`),
  fc.constantFrom(...TEXTS).map(text => `"${text}"`),
)
const string = fc.constantFrom(...TEXTS).map(text => `"${text}"`)
const orNull = (value: fc.Arbitrary<string>) => fc.oneof({ arbitrary: value, weight: 9 }, { arbitrary: fc.constant('null'), weight: 1 })

const snakeCase = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
const escaped = (name: string) => `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`
const nameOf = (name: string) => fc.constantFrom(name, name, name, snakeCase(name), escaped(name), escaped(snakeCase(name)))

function member(name: string, value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(nameOf(name), orNull(value), fc.constantFrom('', ' ', '\n'))
    .map(([spelling, text, space]) => `"${spelling}"${space}:${space}${text}`)
}
const object = (members: fc.Arbitrary<string>, maxLength: number) =>
  fc.tuple(fc.array(members, { maxLength }), fc.constantFrom('', ' ')).map(([all, space]) => `{${space}${all.join(`${space},`)}${space}}`)

const anyValue = object(
  fc.oneof(member('stringValue', string), member('intValue', number), member('doubleValue', number), member('bytesValue', string)),
  1,
)
const attributes = fc
  .array(object(fc.oneof(member('key', string), member('value', anyValue)), 3), { maxLength: 2 })
  .map(entries => `[${entries.join(',')}]`)

/** Most of them are valid; every one is JSON. */
export const oddRecord: fc.Arbitrary<string> = object(
  fc.oneof(
    { arbitrary: member('timeUnixNano', number), weight: 3 },
    { arbitrary: member('observedTimeUnixNano', number), weight: 4 },
    member('severityNumber', number),
    member('flags', number),
    member('droppedAttributesCount', number),
    member('severityText', string),
    member('traceId', string),
    member('body', anyValue),
    member('attributes', attributes),
    member('unknown\\ud800', fc.oneof(number, anyValue)),
  ),
  5,
)
