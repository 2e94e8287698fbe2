import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { duplicateName } from './duplicate-name.ts'

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
  })
})
