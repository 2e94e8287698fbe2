import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createMapping } from '../../../mapping/mapping.ts'
import { openIndex, withDirectory } from '../testing/temporary-index.ts'
import { createFieldSlots } from './field-slots.ts'

const create = (id: string, source: object) => ({ action: 'create' as const, id, source: Buffer.from(JSON.stringify(source)) })
const MAPPING = {
  dynamicTemplates: [{ texts: { match_mapping_type: 'string', mapping: { type: 'keyword' } } }],
  properties: { known: { type: 'long' }, attributes: { type: 'flat_object' } },
}

describe('a document that is refused', () => {
  it('leaves nothing of the fields that it brought, which the next document may bring as others', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, MAPPING)
      const outcomes = await index.apply([
        create('first', { known: 1, a: 'x' }),
        create('refused', { b: 5, c: { d: 'x' }, known: 'no number' }),
        create('second', { b: 'text', c: 'text', known: 2, a: 'x' }),
        create('third', { b: 'text', known: 3, a: 'x' }),
      ])
      expect(outcomes.map(outcome => 'error' in outcome)).to.deep.equal([false, true, false, false])
      const ids = (field: string, term: string) =>
        index.segments().flatMap(segment => [...segment.postings(field, term)!].map(doc => segment.id(doc)))
      expect(ids('b', 'text')).to.deep.equal(['second', 'third'])
      expect(ids('c', 'text')).to.deep.equal(['second'])
      expect(ids('a', 'x')).to.deep.equal(['first', 'second', 'third'])
      await index.close()
    }))

  it('lets all that was learned of the other fields stay', () => {
    const mapping = createMapping(MAPPING)
    const { revision, generation } = mapping
    const mark = mapping.mark()
    mapping.resolve(mapping.root, 'b.c', 'string', 'x')
    expect(mapping.takeBack(mark).map(({ path }) => path)).to.deep.equal(['b', 'b.c'])
    expect(mapping.field('b')).to.equal(undefined)
    expect(mapping.revision).to.equal(revision)
    expect(mapping.generation).to.be.above(generation)
  })
})

describe('the leaves of a flat_object', () => {
  it('beyond those that have a number are remembered, too, up to a bound', () => {
    let asked = 0
    const slots = createFieldSlots(path => {
      asked++
      return path.startsWith('attributes.') ? 'attributes' : undefined
    })
    const leaf = (i: number) => slots.of(`attributes.key${i}`, { type: 'keyword' })
    for (let i = 0; i < 12_000; i++) leaf(i)
    expect(leaf(11_999).number).to.equal(-1)
    asked = 0
    for (let i = 0; i < 12_000; i++) leaf(i)
    expect(asked).to.equal(0)
    for (let i = 0; i < 100_000; i++) leaf(i)
    asked = 0
    leaf(12_000)
    expect(asked).to.be.above(0)
  })
})
