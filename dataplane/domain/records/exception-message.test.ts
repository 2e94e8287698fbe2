import { expect } from 'chai'
import { describe, it } from 'mocha'
import { exceptionMessage, MAX_EXCEPTION_MESSAGE } from './exception-message.ts'

describe('what a record without a text says by its exception', () => {
  const cases: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>>; readonly expected: string }[] = [
    { name: 'nothing without one', attributes: { 'exception.stacktrace': 'at a.js:1', error: 'x' }, expected: '' },
    {
      name: 'its type and its message',
      attributes: { 'exception.message': 'x is "undefined"', 'exception.type': 'TypeError' },
      expected: 'TypeError: x is "undefined"',
    },
    { name: 'its type alone', attributes: { 'exception.type': 'KeyError', 'exception.message': '' }, expected: 'KeyError' },
    { name: 'its message alone', attributes: { 'exception.type': 7, 'exception.message': 'refused' }, expected: 'refused' },
    {
      name: 'no more than that of a long message',
      attributes: { 'exception.message': `${'a'.repeat(MAX_EXCEPTION_MESSAGE - 1)}😀` },
      expected: `${'a'.repeat(MAX_EXCEPTION_MESSAGE - 1)}\ufffd`,
    },
  ]
  for (const { name, attributes, expected } of cases)
    it(name, () => {
      const flat = new Map(Object.entries(attributes).map(([key, value]) => [key, JSON.stringify(value)]))
      expect(exceptionMessage(flat)).to.equal(expected)
    })
})
