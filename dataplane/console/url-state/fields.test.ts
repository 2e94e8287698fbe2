import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { choice, flag, list, optionalText, readFields, text, writeFields } from './fields.ts'

const SCHEMA = {
  q: text(),
  level: list(),
  sort: choice(['newest', 'oldest'], 'newest'),
  live: flag(),
  trace: optionalText(),
}
const DEFAULTS = { q: '', level: [], sort: 'newest', live: false, trace: undefined }

describe('state in the URL', () => {
  it('is the default where the URL says nothing, or what cannot be read', () => {
    expect(readFields(SCHEMA, '')).to.deep.equal(DEFAULTS)
    expect(readFields(SCHEMA, '?sort=sideways&live=maybe')).to.deep.equal(DEFAULTS)
  })

  it('comes back as it was written', () => {
    const values = fc.record({
      q: fc.string(),
      level: fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }),
      sort: fc.constantFrom('newest' as const, 'oldest' as const),
      live: fc.boolean(),
      trace: fc.option(fc.string(), { nil: undefined }),
    })
    fc.assert(
      fc.property(values, given => {
        expect(readFields(SCHEMA, writeFields(SCHEMA, '', given))).to.deep.equal(given)
      }),
      { seed: 7 },
    )
  })

  it('leaves parameters of others as they are, and defaults out', () => {
    expect(writeFields(SCHEMA, '?range=1h&q=old&live=1', { q: 'new', live: false })).to.equal('?range=1h&q=new')
    expect(writeFields(SCHEMA, '?q=old', { q: '' })).to.equal('')
  })
})
