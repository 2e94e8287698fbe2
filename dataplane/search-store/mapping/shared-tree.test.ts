import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createMapping, type MutableMapping } from './mapping.ts'
import { SharedTree } from './shared-tree.ts'

const propertiesOf = (count: number, prefix = 'field') =>
  Object.fromEntries(Array.from({ length: count }, (_none, at) => [`${prefix}${at}`, { type: 'keyword' }]))

const sorted = (mapping: MutableMapping) => [...mapping.paths()].sort()

describe('fields of all indices', () => {
  it('count once where indices have the same', () => {
    const before = SharedTree.fieldsOfAll
    const mappings = Array.from({ length: 500 }, () => createMapping({ properties: propertiesOf(300) }))
    expect(SharedTree.fieldsOfAll - before).to.equal(300)
    expect(new Set(mappings.map(({ root }) => root)).size).to.equal(1)
    for (const each of mappings) each.release()
    expect(SharedTree.fieldsOfAll).to.equal(before)
  })

  it('are shared again where documents bring the same fields in another order', () => {
    const before = SharedTree.fieldsOfAll
    const [a, b] = [createMapping({}), createMapping({})]
    for (const name of ['x', 'y', 'z']) a.parse(Buffer.from(`{"${name}":1,"o":{"${name}":"text"}}`))
    b.parse(Buffer.from('{"z":1,"o":{"x":"t","z":"t","y":"t"},"y":1,"x":1}'))
    expect(b.toJson()).to.deep.equal(a.toJson())
    expect(b.root).to.equal(a.root)
    expect(SharedTree.fieldsOfAll - before).to.equal(a.paths().length + 1)
    for (const each of [a, b]) each.release()
  })

  it('of one index change without those of another, whatever adds them', () => {
    const [a, b] = [
      createMapping({ properties: { o: { properties: propertiesOf(3) } } }),
      createMapping({ properties: { o: { properties: propertiesOf(3) } } }),
    ]
    const stale = a.root.children.get('o')!
    expect(b.root).to.equal(a.root)
    a.transaction(() => {
      a.resolve(a.root, 'new', 'long')
      // The node was that of the shared tree.
      a.resolve(stale, 'inner', 'long')
      expect(a.resolve(stale, 'inner', 'long')?.path).to.equal('o.inner')
      a.resolve(stale, 'deep.er', 'long')
    })
    expect(sorted(b)).to.deep.equal(['o.field0', 'o.field1', 'o.field2'])
    expect(sorted(a)).to.deep.equal(['new', 'o.deep.er', 'o.field0', 'o.field1', 'o.field2', 'o.inner'])
    b.put({ o: { properties: { field0: { type: 'keyword', fields: { t: { type: 'text' } } } } }, 'o.field9': { type: 'long' } })
    expect(b.field('o.field0.t')?.type).to.equal('text')
    expect(a.field('o.field0.t')).to.equal(undefined)
    expect(() => a.parse(Buffer.from('{"later":1,"o":5}'))).to.throw(/object/)
    expect(sorted(a)).to.not.include('later')
    for (const each of [a, b]) each.release()
  })

  it('of one index do not come to another after a document that was refused', () => {
    const create = () => createMapping({ properties: { emptied: { type: 'object' } } })
    const a = create()
    expect(() => a.parse(Buffer.from('{"emptied":{"x":1,"y":[1,"text"]}}'))).to.throw(/text/)
    const b = create()
    b.parse(Buffer.from('{"emptied":{"x":"text"}}'))
    expect(sorted(a)).to.deep.equal([])
    a.parse(Buffer.from('{"emptied":{"x":5}}'))
    expect(a.field('emptied.x')?.type).to.equal('long')
    expect(b.field('emptied.x')?.type).to.equal('text')
    const c = create()
    expect(sorted(c)).to.deep.equal([])
    for (const each of [a, b, c]) each.release()
  })

  it('are bounded: what is beyond is refused, and what is there stays in use', () => {
    const mappings: MutableMapping[] = []
    const add = (at: number) => mappings.push(createMapping({ properties: propertiesOf(900, `of${at}-`) }))
    expect(() => {
      for (let at = 0; at < 300; at++) add(at)
    }).to.throw(/Limit of total fields of all indices \[200000\] has been exceeded/)
    expect(mappings.length).to.be.above(150)
    mappings[0]!.parse(Buffer.from('{"of0-1":"a"}'))
    expect(() => createMapping({ properties: propertiesOf(900, 'more-') })).to.throw(/all indices/)
    const same = createMapping({})
    for (const each of mappings) each.release()
    const again = createMapping({ properties: propertiesOf(900, 'of1-') })
    for (const each of [same, again]) each.release()
  }).timeout(60_000)
})
