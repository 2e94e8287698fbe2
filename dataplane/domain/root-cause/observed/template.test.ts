import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildTemplate, firstWords, statementWords } from './template.ts'

const of = (attributes: Readonly<Record<string, unknown>>, message = 'order 17 stored') =>
  buildTemplate(firstWords(message), key => attributes[key])

describe('template of a record', () => {
  it('is the call site where one is named with its line', () => {
    expect(of({ 'code.file.path': 'src/orders.ts', 'code.line.number': 35 })).to.equal('src/orders.ts#35')
    expect(of({ 'code.filepath': 'orders.py', 'code.lineno': '35' })).to.equal('orders.py#35')
    expect(of({ 'code.namespace': 'shop.Orders', 'code.lineno': 35 })).to.equal('shop.Orders#35')
    expect(of({ 'code.logger': 's.o.OrderService#35' })).to.equal('s.o.OrderService#35')
  })

  it('is logger or function and the first words where the line is not known', () => {
    expect(of({ 'logger.name': 'shop.Orders' })).to.equal('shop.Orders order * stored')
    expect(of({ 'code.namespace': 'shop.Orders', 'code.function': 'store' })).to.equal('shop.Orders#store order * stored')
  })

  it('is the first eight words of the message else, with values masked', () => {
    expect(of({})).to.equal('order * stored')
    expect(firstWords('[Get Route][id: <*>] user7 took 3.5 ms')).to.equal('Get Route id * took * ms')
    expect(firstWords('one two three four five six seven eight nine')).to.equal('one two three four five six seven eight')
    expect(firstWords('订单 17 已保存')).to.equal('订单 * 已保存')
  })

  it('is made of the words behind the head of a line: all lines of a logger began alike', () => {
    const line = (words: string) => `<*>  INFO <*> --- [nio-<*>-exec-<*>] com.shop.Orders : ${words}`
    expect([line('order <*> stored'), line('order <*> refused')].map(statementWords)).to.deep.equal(['order * stored', 'order * refused'])
    expect(statementWords('\u001b[<*>mERROR\u001b[<*>m [main] no room')).to.equal('no room')
  })

  it('does not care for values of other kinds, and for empty messages', () => {
    expect(of({ 'code.logger': {}, 'code.lineno': null }, '')).to.equal('')
  })

  it('takes no longer for a message of a megabyte', () => {
    for (const text of ['a'.repeat(1e6), '<'.repeat(1e6), '1.'.repeat(5e5), ' '.repeat(1e6)]) {
      const startedMs = performance.now()
      for (let i = 0; i < 1000; i++) buildTemplate(firstWords(text), () => text)
      expect(performance.now() - startedMs).to.be.below(1_000)
      expect(firstWords(text).length).to.be.below(401)
    }
  })
})
