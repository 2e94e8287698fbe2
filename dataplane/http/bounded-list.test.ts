import { expect } from 'chai'
import { describe, it } from 'mocha'
import { z } from 'zod'
import { boundedList } from './bounded-list.ts'
import { validate } from './control-request.ts'
import type { HttpError } from './http-error.ts'

describe('a list of a request', () => {
  const schema = z.strictObject({ ids: boundedList(z.string(), { least: 1, most: 3 }) })
  const problem = (ids: unknown) => {
    try {
      return validate(schema, { ids }, 'body')
    } catch (error) {
      return (error as HttpError).message
    }
  }

  it('is taken with as many elements as it may have', () => {
    expect(problem(['a', 'b', 'c'])).to.deep.equal({ ids: ['a', 'b', 'c'] })
  })

  it('names elements that are wrong, and what is no list', () => {
    expect(problem(['a', 2])).to.equal('ids.1: expected string, seen 2')
    expect(problem('a')).to.equal('ids: expected array, seen "a"')
    expect(problem([])).to.equal('ids: expected array to have >=1 items, seen an array of 0')
  })

  it('that is too long is refused by its length alone', () => {
    expect(problem([1, 2, 3, 4])).to.equal('ids: expected array to have <=3 items, seen an array of 4')
  })
})
