import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createMapping } from '../../mapping/mapping.ts'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import { fieldsShown, parseFieldFormats } from './field-formats.ts'

const MAPPING = createMapping(mappingConfigOf({ properties: { at: { type: 'date' }, service: { type: 'keyword' } } }, 100))

/** The fields shown of a document, and how often a value of it is looked at. */
function shown(formats: readonly unknown[]) {
  let looks = 0
  const source = new Proxy(
    { at: 0, service: 'shop' },
    {
      get(target, name) {
        looks++
        return Reflect.get(target, name)
      },
    },
  )
  return { fields: fieldsShown(parseFieldFormats(formats, 'docvalue_fields'))(MAPPING, source, () => source), looks: () => looks }
}

describe('fields of a hit', () => {
  it('are looked at once, however many patterns name them', () => {
    const one = shown(['*'])
    const many = shown(Array.from({ length: 100 }, (_none, at) => (at % 2 === 0 ? '*' : 'serv*')))
    expect(many.fields).to.deep.equal(one.fields)
    expect(many.looks()).to.equal(one.looks()).and.above(0)
  })

  it('have the last format that names them', () => {
    const millis = { field: '*', format: 'epoch_millis' }
    expect(shown([millis, 'at', millis]).fields['at']).to.deep.equal(['0'])
    expect(shown([millis, 'at']).fields['at']).to.deep.equal(['1970-01-01T00:00:00.000Z'])
  })
})
