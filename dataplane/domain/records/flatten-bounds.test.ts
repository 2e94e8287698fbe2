import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { AnyValue, KeyValue } from '../../otlp/payload.ts'
import { fieldPaths } from '../documents/field-paths.ts'
import { flattenAttributes, MAX_PATH_LENGTH, MAX_PATHS_LENGTH, MAX_VALUE_TEXT_LENGTH } from './flatten.ts'

const map = (values: readonly KeyValue[]): AnyValue => ({ kvlistValue: { values } })
const leaves = (count: number, keyLength = 1): KeyValue[] =>
  Array.from({ length: count }, (_, i) => ({ key: String(i).padStart(keyLength, 'k'), value: { intValue: i } }))
/** Maps inside each other, each with a key of `keyLength`. */
const nested = (depth: number, keyLength: number, inner: AnyValue): AnyValue => {
  let value = inner
  for (let i = 0; i < depth; i++) value = map([{ key: 'p'.repeat(keyLength), value }])
  return value
}
const sizeOf = (flat: ReadonlyMap<string, string>) => [...flat].reduce((sum, [key, json]) => sum + key.length + json.length, 0)
const inputSize = (attributes: readonly KeyValue[]) => JSON.stringify(attributes).length

describe('flattening is bounded by what comes out', () => {
  const hostile: readonly { readonly name: string; readonly attributes: readonly KeyValue[] }[] = [
    { name: 'a long key above many leaves', attributes: [{ key: 'x'.repeat(60_000), value: map(leaves(3_000)) }] },
    { name: 'a key of 500 characters above many leaves', attributes: [{ key: 'x'.repeat(500), value: map(leaves(10_000)) }] },
    { name: '90 maps inside each other with long keys', attributes: [{ key: 'a', value: nested(90, 1_000, map(leaves(5_000))) }] },
    { name: '90 maps inside each other with short keys', attributes: [{ key: 'a', value: nested(90, 5, map(leaves(8_000))) }] },
    {
      name: 'leaves at every depth',
      attributes: [
        {
          key: 'a',
          value: Array.from({ length: 80 }).reduce<AnyValue>(
            value => map([...leaves(80), { key: 'p'.repeat(200), value }]),
            map(leaves(80)),
          ),
        },
      ],
    },
    {
      name: 'maps in a list',
      attributes: [{ key: 'x'.repeat(500), value: { arrayValue: { values: [nested(40, 400, map(leaves(6_000)))] } } }],
    },
    {
      name: 'many attributes, each with a map that is too large',
      attributes: Array.from({ length: 40 }, (_, i) => ({ key: `${i}${'x'.repeat(500)}`, value: map(leaves(600)) })),
    },
  ]
  for (const { name, attributes } of hostile)
    it(`${name}: in time and size of the input`, () => {
      const startMs = performance.now()
      const flat = flattenAttributes(attributes)
      for (const [key, json] of flat) fieldPaths(key, json)
      expect(performance.now() - startMs).to.be.lessThan(1_000)
      expect(sizeOf(flat)).to.be.lessThan(3 * inputSize(attributes) + 2 * MAX_PATHS_LENGTH)
    })

  it('a map below a path that is too long stands there as its JSON text', () => {
    const key = 'k'.repeat(MAX_PATH_LENGTH + 1)
    const flat = flattenAttributes([{ key, value: map([{ key: 'a', value: { intValue: 1 } }]) }])
    expect([...flat]).to.deep.equal([[key, JSON.stringify('{"a":1}')]])
  })

  it('a map too large to be fields stands as its JSON text; the other attributes are fields as ever', () => {
    const flat = flattenAttributes([
      { key: 'huge', value: map(leaves(2_000, 300)) },
      { key: 'user', value: map([{ key: 'id', value: { stringValue: 'u1' } }]) },
    ])
    expect([...flat.keys()]).to.deep.equal(['huge', 'user.id'])
    expect(JSON.parse(flat.get('huge')!)).to.match(/^\{"k+0":0,/)
  })

  it('JSON text that is too long is cut, says so, and still tells different values apart', () => {
    const flat = (last: number) =>
      flattenAttributes([{ key: 'huge', value: map([...leaves(30_000, 10), { key: 'last', value: { intValue: last } }]) }]).get('huge')!
    const text = JSON.parse(flat(1)) as string
    expect(text.length).to.be.lessThan(MAX_VALUE_TEXT_LENGTH + 100)
    expect(text).to.match(/… \(cut: \d{6} characters, sha256 [0-9a-f]{16}\)$/)
    expect(flat(1)).not.to.equal(flat(2))
  })

  it('a list of objects stays a list, unless paths to its fields would be a burden', () => {
    const list = (count: number, keyLength: number): AnyValue => ({
      arrayValue: { values: Array.from({ length: count }, () => map(leaves(1, keyLength))) },
    })
    const flat = flattenAttributes([
      { key: 'items', value: list(5_000, 20) },
      { key: 'long', value: list(2_000, 600) },
    ])
    expect([...flat.values()].map(json => json[0])).to.deep.equal(['[', '"'])
  })

  it('what is usual is as it was', () => {
    const flat = flattenAttributes([{ key: 'a', value: map([{ key: 'b', value: map(leaves(3)) }]) }])
    expect(Object.fromEntries(flat)).to.deep.equal({ 'a.b.0': '0', 'a.b.1': '1', 'a.b.2': '2' })
  })
})
