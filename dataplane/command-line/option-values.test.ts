import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readChoice, readHttpAddress, readInteger, readNumber } from './option-values.ts'

describe('values of command-line options', () => {
  const problemsOf = (read: (problems: string[]) => unknown) => {
    const problems: string[] = []
    read(problems)
    return problems
  }

  it('are numbers within their bounds', () => {
    const problems: string[] = []
    expect(readInteger('--n', '256', { min: 1, max: 256 }, problems)).to.equal(256)
    expect(readNumber('--rate', '0.5', { min: 0.001, max: 10 }, problems)).to.equal(0.5)
    expect(problems).to.deep.equal([])
  })

  for (const text of ['', '0', '257', '1.5', '-1', '0x10', '1e2', ' 7', '٣'])
    it(`refuses ${JSON.stringify(text)} as a whole number from 1 to 256`, () => {
      const seen = text === '' ? 'nothing' : JSON.stringify(text)
      expect(problemsOf(problems => readInteger('--n', text, { min: 1, max: 256 }, problems))).to.deep.equal([
        `--n: expected a whole number from 1 to 256, seen ${seen}`,
      ])
    })

  for (const text of ['', 'fast', 'Infinity', '11', '0', '.5'])
    it(`refuses ${JSON.stringify(text)} as a number from 0.001 to 10`, () => {
      expect(problemsOf(problems => readNumber('--rate', text, { min: 0.001, max: 10 }, problems))).to.have.length(1)
    })

  it('are one of some names', () => {
    const problems: string[] = []
    expect(['b', 'B', ''].map(text => readChoice('--n', text, ['a', 'b'], problems))).to.deep.equal(['b', undefined, undefined])
    expect(problems).to.deep.equal(['--n: expected one of a, b, seen "B"', '--n: expected one of a, b, seen nothing'])
  })

  for (const text of ['', 'localhost:4318', 'ftp://x', '/v1/logs'])
    it(`refuses ${JSON.stringify(text)} as an address`, () => {
      expect(problemsOf(problems => readHttpAddress('--endpoint', text, problems))).to.have.length(1)
    })
})
