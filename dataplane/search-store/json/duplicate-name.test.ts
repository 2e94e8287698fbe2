import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { duplicateName, duplicateNameOf } from './duplicate-name.ts'

const find = (json: string) => duplicateName(Buffer.from(json), JSON.parse(json))

describe('a name that an object of JSON has twice', () => {
  for (const [json, name] of [
    ['{"a":1,"a":2}', 'a'],
    ['{"a":{"b":1},"c":[{"x":1},{"x":1,"y":{"z":1,"\\u007a":2}}]}', 'z'],
    ['[{"":1,"":1}]', ''],
    ['{"a:b":"c:\\"d","e":1,"a:b":2}', 'a:b'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"1":1,"a":2,"1":3}', '1'],
    ['{"x":{"a":1},"x":{"b":1,"c":2,"d":3}}', 'x'],
  ] as const)
    it(`is found: ${json}`, () => {
      expect(find(json)).to.equal(name)
      expect(duplicateNameOf(Buffer.from(json))).to.equal(name)
    })

  it('is found in documents with many names, many levels and spaces', () => {
    const names = (count: number) => Array.from({ length: count }, (_, k) => `"n${k}" :\n ${k}`)
    for (const count of [3, 255, 256, 257, 2_000]) {
      expect(duplicateNameOf(Buffer.from(`{${names(count).join()}}`)), `${count}`).to.equal(undefined)
      expect(duplicateNameOf(Buffer.from(`{${[...names(count), '"n2":0'].join()}}`)), `${count}`).to.equal('n2')
    }
    for (const depth of [3, 63, 64, 65, 200]) {
      expect(duplicateNameOf(Buffer.from(`${'{"a":'.repeat(depth)}{"b":1}${'}'.repeat(depth)}`))).to.equal(undefined)
      expect(duplicateNameOf(Buffer.from(`${'{"a":'.repeat(depth)}{"b":1,"b":2}${'}'.repeat(depth)}`))).to.equal('b')
    }
    // Names whose hashes are alike.
    expect(duplicateNameOf(Buffer.from('{"Aa":1,"BB":2}'))).to.equal(undefined)
  })

  it('is looked for in bytes that are no JSON', () => {
    for (const text of ['', '{', '"', '{"a', '{"a":1', '}}}', ':', '{"\\x":1}', '{:1,"a":2}', '[[', '{"a":"\\', '{"a":1}}{"a"'])
      expect(duplicateNameOf(Buffer.from(text)), text).to.equal(undefined)
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'{}[]":,\\a1 ')),
        parts => typeof (duplicateNameOf(Buffer.from(parts.join(''))) ?? '') === 'string',
      ),
    )
  })

  it('is found nowhere else', () => {
    const key = fc.constantFrom('a', 'b', '__proto__', 'a:b', '"', '1')
    const tree = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(1, 'x:y', '"', '{', null),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value'), { noNullPrototype: true }),
      ),
    })).value
    fc.assert(fc.property(tree, value => find(JSON.stringify(value)) === undefined))
    fc.assert(fc.property(tree, value => duplicateNameOf(Buffer.from(JSON.stringify(value))) === undefined))
  })
})
