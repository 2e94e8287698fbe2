import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseEntry, WholeDouble } from './parse-entry.ts'

const parsed = (json: string) => parseEntry(Buffer.from(json))

describe('an entry of an upload', () => {
  it('keeps integers beyond 2^53, and whole numbers written as doubles', () => {
    expect(parsed('{"a":9007199254740993,"b":2.0,"c":1e3,"d":1.5,"e":7,"f":"2.0"}')).to.deep.equal({
      entry: { a: 9007199254740993n, b: new WholeDouble(2), c: new WholeDouble(1000), d: 1.5, e: 7, f: '2.0' },
    })
  })

  it('is an object of not too many levels; anything else is told', () => {
    expect(parsed('[1]')).to.deep.equal({ problem: 'expected an object, seen a list' })
    expect(parsed('"a"')).to.deep.equal({ problem: 'expected an object, seen a string' })
    expect(parsed('2.0')).to.deep.equal({ problem: 'expected an object, seen a number' })
    expect(parsed('null')).to.deep.equal({ problem: 'expected an object, seen null' })
    expect(parsed(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`)).to.deep.equal({
      problem: 'expected at most 100 levels of nesting, seen more',
    })
  })
})
