import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import { parseBigInts } from '../../json/exact-numbers.ts'
import { createMapping } from '../../mapping/mapping.ts'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import { fieldsShown, parseFieldFormats } from './field-formats.ts'
import { applySourceFilter, parseSourceFilter, plainNamesOf } from './source-filter.ts'
import { keyReader, memberReader } from './stored-members.ts'

const KEYS = ['a', 'b', 'a.b', 'a.b.c', 'b.c', 'c', 'é', '__proto__'] as const
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ maxLength: 5, unit: 'grapheme' }),
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const document = fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 6, selector: ([key]) => key })
const textOf = (members: readonly (readonly [string, unknown])[]) =>
  `{${members.map(([key, each]) => `${JSON.stringify(key)}: ${JSON.stringify(each)}`).join(' , ')}}`

describe('members taken out of a stored document', () => {
  it('are what the _source filter shows of the parsed document', () => {
    let settled = 0
    fc.assert(
      fc.property(document, fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'é'), { minLength: 1 }), (members, names) => {
        const text = textOf(members)
        const filter = parseSourceFilter(names)
        const found = memberReader(plainNamesOf(filter)!)(Buffer.from(text))
        if (found === undefined) return
        settled++
        expect(JSON.parse(found.text(new Set(names)))).to.deep.equal(
          applySourceFilter(JSON.parse(text), filter as Exclude<typeof filter, boolean>),
        )
      }),
      { numRuns: rounds(2_000) },
    )
    expect(settled).to.be.above(rounds(500))
  })

  it('have the field values that the parsed document has', () => {
    const properties = Object.fromEntries(['a.b', 'b.c', 'c', 'é'].map(name => [name, { type: 'keyword' }]))
    const mapping = createMapping(mappingConfigOf({ properties }, 1_000))
    let settled = 0
    fc.assert(
      fc.property(document, fc.uniqueArray(fc.constantFrom('a.b', 'b.c', 'c', 'é'), { minLength: 1 }), (members, names) => {
        const text = textOf(members)
        const found = memberReader([], names)(Buffer.from(text))
        if (found === undefined) return
        settled++
        const show = fieldsShown(parseFieldFormats(names, 'docvalue_fields'))
        const exact = () => parseBigInts(text)
        expect(show(mapping, found.value(new Set(names)), exact)).to.deep.equal(show(mapping, JSON.parse(text), exact))
      }),
      { numRuns: rounds(2_000) },
    )
    expect(settled).to.be.above(rounds(500))
  })

  it('are those of the keys that are asked for, with all that stands below them', () => {
    fc.assert(
      fc.property(document, fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1 }), (members, keys) => {
        const wanted = Object.entries(JSON.parse(textOf(members))).filter(([key]) => keys.includes(key as (typeof KEYS)[number]))
        expect(keyReader(keys)(Buffer.from(textOf(members)))?.value(new Set(keys))).to.deep.equal(Object.fromEntries(wanted))
      }),
      { numRuns: rounds(1_000) },
    )
  })

  const unsettled = [
    { what: 'a key that is written with an escape', text: '{"\\u0061":1}' },
    { what: 'a key that stands twice', text: '{"a":1,"a":2}' },
    { what: 'a key below the name', text: '{"a.x":1}' },
    { what: 'text that is no object', text: '[1]' },
    { what: 'text that breaks off', text: '{"a":1' },
  ]
  for (const { what, text } of unsettled)
    it(`leaves ${what} to the parsed document`, () => {
      expect(memberReader(['a'])(Buffer.from(text))).to.equal(undefined)
    })

  it('takes a field out of a document that has another below its name', () => {
    const text = '{"code.function":"f","code.function.name":"g"}'
    expect(memberReader([], ['code.function'])(Buffer.from(text))?.value(new Set(['code.function']))).to.deep.equal({
      'code.function': 'f',
    })
  })

  it('keeps the digits of numbers', () => {
    const found = memberReader(['a'])(Buffer.from('{"a":9007199254740993,"b":1.10}'))
    expect(found?.text(new Set(['a']))).to.equal('{"a":9007199254740993}')
  })
})
