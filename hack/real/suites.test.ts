import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readNeeds } from './suites.ts'

describe('a suite for real back ends', () => {
  it('names the back ends that it needs', () => {
    expect(readNeeds('x.real.ts', `import a from 'a'\n\nexport const needs = ['opensearch', 'kafka-3']\n`)).to.deep.equal([
      'kafka-3',
      'opensearch',
    ])
  })

  it('needs none without that line', () => {
    expect(readNeeds('x.real.ts', `describe('x')`)).to.deep.equal([])
  })

  it('is refused when it names one that there is not', () => {
    expect(() => readNeeds('x.real.ts', `export const needs = ['oracle']`)).to.throw('needs oracle')
  })
})
