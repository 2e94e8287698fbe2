import { expect } from 'chai'
import { describe, it } from 'mocha'
import { applyFilterPath, parseFilterPath } from './filter-path.ts'

const VALUE = {
  took: 1,
  errors: true,
  items: [
    { create: { _id: 'a', status: 201 } },
    { index: { _id: 'b', status: 400, error: { type: 't', reason: 'r', caused_by: { type: 'c', reason: 'x' } } } },
  ],
}

const CASES: readonly { filter: string; expected: unknown }[] = [
  { filter: 'took', expected: { took: 1 } },
  { filter: 'took,errors', expected: { took: 1, errors: true } },
  { filter: 'items.*.status', expected: { items: [{ create: { status: 201 } }, { index: { status: 400 } }] } },
  { filter: 'items.*.error', expected: { items: [{ index: { error: VALUE.items[1]!.index!.error } }] } },
  { filter: '**.reason', expected: { items: [{ index: { error: { reason: 'r', caused_by: { reason: 'x' } } } }] } },
  { filter: 'items.create._*', expected: { items: [{ create: { _id: 'a' } }] } },
  { filter: 't*', expected: { took: 1 } },
  { filter: '-items', expected: { took: 1, errors: true } },
  { filter: 'items.*.error,-**.reason', expected: { items: [{ index: { error: { type: 't', caused_by: { type: 'c' } } } }] } },
  { filter: '**.caused_by.**', expected: { items: [{ index: { error: { caused_by: { type: 'c', reason: 'x' } } } }] } },
  { filter: '**.error.**.reason', expected: { items: [{ index: { error: { reason: 'r', caused_by: { reason: 'x' } } } }] } },
  { filter: 'items.**', expected: { items: VALUE.items } },
  { filter: '**.**', expected: VALUE },
  { filter: 'nothing', expected: {} },
]

describe('filter_path', () => {
  for (const { filter, expected } of CASES)
    it(filter, () => expect(applyFilterPath(VALUE, parseFilterPath(filter)!)).to.deep.equal(expected))

  it('keeps a member named __proto__ as data', () => {
    const value = JSON.parse('{"a":{"__proto__":{"x":1},"b":2}}')
    expect(JSON.stringify(applyFilterPath(value, parseFilterPath('a.__proto__')!))).to.equal('{"a":{"__proto__":{"x":1}}}')
  })

  it('takes time in proportion to its parts, however many of them are double stars', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`)
    const filter = `${'**.a.'.repeat(60)}**.reason,${'**.'.repeat(80)}x`
    expect(applyFilterPath(deep, parseFilterPath(filter)!)).to.deep.equal({})
  })

  it('is refused with more parts than anybody writes', () => {
    expect(() => parseFilterPath('a.'.repeat(300))).to.throw(/at most 256 members, found 301/)
  })
})
