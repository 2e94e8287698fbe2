import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskMessage } from '../../records/pattern.ts'
import { MAX_STATEMENTS, OTHER, Statements } from './statements.ts'

describe('the statements of a service', () => {
  it('patterns that begin with the same words are one', () => {
    const statements = new Statements()
    const first = statements.numberOf(1, 'order 5 of city Rome')
    expect(statements.numberOf(2, 'order 6 of city Rome')).to.equal(first)
    expect(statements.numberOf(3, 'order refused')).to.not.equal(first)
    expect(statements.wordsOf(first)).to.equal('order * of city Rome')
  })

  it('a pattern that took the place of another is told apart again', () => {
    const statements = new Statements()
    const numbers = [statements.numberOf(1, 'one'), statements.numberOf(1 + 1024, 'two')]
    expect([statements.numberOf(1, 'one'), statements.numberOf(1 + 1024, 'two')]).to.deep.equal(numbers)
  })

  it('words come as bytes, and are told as text', () => {
    const statements = new Statements()
    const number = statements.numberOf(1, Buffer.from('größe').toString('latin1'))
    expect(statements.wordsOf(number)).to.equal('größe')
  })

  it('are told apart by the words behind the head of a line', () => {
    const statements = new Statements()
    const line = (level: string, words: string) => `<*>  ${level} <*> --- [nio-<*>-exec-<*>] com.shop.Orders : ${words}`
    const stored = statements.numberOf(1, line('INFO', 'order stored'))
    expect(statements.numberOf(2, line('INFO', 'order refused'))).to.not.equal(stored)
    expect(statements.wordsOf(stored)).to.equal('order stored')
  })

  it('say whether they are errors where only their words tell', () => {
    const statements = new Statements()
    const told = (hash: number, pattern: string) => {
      statements.numberOf(hash, pattern)
      return statements.saysError
    }
    const [error, info] = [[1, '<*> ERROR no charge'] as const, [2, '<*> INFO no charge'] as const]
    expect([told(...error), told(...info), told(...error), told(...info)]).to.deep.equal([true, false, true, false])
  })

  it('are read as their logger wrote them, not as they stand in JSON', () => {
    const statements = new Statements()
    const inJson = (line: string) => Buffer.from(JSON.stringify(maskMessage(line)).slice(1, -1)).toString('latin1')
    const told = (hash: number, line: string) => {
      const number = statements.numberOf(hash, inJson(line))
      return [statements.saysError, statements.wordsOf(number)]
    }
    expect(told(1, '2026-03-03T04:00:01Z\tERROR\tno charge for größe')).to.deep.equal([true, 'no charge for größe'])
    expect(told(2, '\u001b[31mERROR\u001b[0m [main] no room')).to.deep.equal([true, 'no room'])
    expect(told(3, '{"level":"error","msg":"no charge"}')[0]).to.equal(true)
    expect(told(4, '{"level":"info","msg":"charged"}')[0]).to.equal(false)
    expect(statements.numberOf(5, 'no escape \\x')).to.be.a('number')
  })

  it('are bounded: the others are one', () => {
    const statements = new Statements()
    for (let n = 0; n < MAX_STATEMENTS; n++) statements.numberOf(n + 1, `statement ${'x'.repeat(n + 1)}`)
    expect(statements.numberOf(777, 'one more')).to.equal(OTHER)
  })
})
