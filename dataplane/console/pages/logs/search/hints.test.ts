import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KNOWN_FIELDS } from './field-catalog.ts'
import { hintsFor } from './hints.ts'
import { parseSearch } from './parse-search.ts'

function hintsOf(search: string): readonly string[] {
  const parsed = parseSearch(search)
  if (!parsed.ok) throw new Error(parsed.problem.message)
  return hintsFor(parsed.expression, KNOWN_FIELDS)
}

describe('hints on a search that finds nothing', () => {
  it('name fields that no record has', () => {
    expect(hintsOf('svc:cart lvl:ERROR (svc:cart OR timeout)')).to.deep.equal(['No record has a field svc.', 'No record has a field lvl.'])
  })

  it('say how a value of a field is written', () => {
    expect(hintsOf('level=ERROR service=="a"')).to.deep.equal([
      'A value of a field is written with a colon: level:ERROR',
      'A value of a field is written with a colon: service:value',
    ])
  })

  for (const search of ['', 'timeout', 'service:cart', 'attributes.http.route:x', '-svc:cart', 'retries=3', '"level=ERROR"', 'level:*'])
    it(`are none on ${JSON.stringify(search)}`, () => expect(hintsOf(search)).to.deep.equal([]))
})
