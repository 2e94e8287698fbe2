import { expect } from 'chai'
import { describe, it } from 'mocha'
import { keepUnless } from './keep-shown.ts'

describe('the answer of the question before', () => {
  const keep = (rows: readonly string[] | undefined) => keepUnless(rows, ({ length }) => length === 0)

  it('stays until the next one is there', () => {
    expect(keep(['a'])).to.deep.equal(['a'])
  })

  it('goes where it has nothing, which is not said of the next question', () => {
    expect(keep([])).to.equal(undefined)
    expect(keep(undefined)).to.equal(undefined)
  })
})
