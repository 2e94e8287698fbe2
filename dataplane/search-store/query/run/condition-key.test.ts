import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Condition } from '../bind/condition.ts'
import type { Field } from '../bind/field.ts'
import { conditionKey } from './condition-key.ts'

const field = (path: string): Field => ({ path, type: 'keyword' }) as Field
const term = (path: string, text: string): Condition => ({ op: 'terms', field: field(path), terms: new Set([text]) })
const anyField = (fields: number, text: string): Condition => ({
  op: 'or',
  of: Array.from({ length: fields }, (_none, at) => term(`f${at}`, text)),
  atLeast: 1,
  score: 'max',
})

/** CPU time of this thread that naming the condition takes, ms; the least of three. */
function namingMs(condition: () => Condition): number {
  const times = Array.from({ length: 3 }, () => {
    const fresh = condition()
    const before = process.threadCpuUsage()
    conditionKey(fresh)
    return process.threadCpuUsage(before).user / 1000
  })
  return Math.min(...times)
}

describe('the name of a condition', () => {
  it('does not take longer with each field that a long text is asked of', () => {
    let round = 0
    const text = (): string => `${round++} ${'* '.repeat(500_000)}`
    const oneMs = namingMs(() => anyField(2, text()))
    expect(namingMs(() => anyField(1_000, text()))).to.be.below(20 * oneMs + 20)
  })

  it('does not take longer with each field that a long phrase is asked of', () => {
    const phrase = (fields: number): Condition => {
      const words = Array.from({ length: 1_000 }, (_none, at) => `w${at}`)
      const of = Array.from(
        { length: fields },
        (_one, at): Condition => ({
          ...{ op: 'phrase', field: field(`f${at}`), words, slop: 0, lastIsPrefix: false },
        }),
      )
      return { op: 'or', of, atLeast: 1, score: 'max' }
    }
    const oneMs = namingMs(() => phrase(2))
    expect(namingMs(() => phrase(1_000))).to.be.below(20 * oneMs + 20)
  })

  it('tells long texts apart, and a long text from its hash', () => {
    const long = 'x'.repeat(1_000)
    const keys = [long, `${long}y`, 'x'].map(text => conditionKey(term('f', text))!)
    expect(new Set(keys).size).to.equal(3)
    const { 2: hash } = JSON.parse(keys[0]!) as [string, string, [string]]
    expect(hash).to.be.an('array')
    expect(conditionKey(term('f', hash[0]))).not.to.equal(keys[0])
    expect(conditionKey(term('f', long))).to.equal(keys[0])
  })
})
