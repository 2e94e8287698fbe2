import { expect } from 'chai'
import { describe, it } from 'mocha'
import { NOWHERE } from '../../json/bytes.ts'
import { EntryEnd, type EntryKind } from './entry-end.ts'

describe('the end of an entry', () => {
  const cases: readonly { readonly name: string; readonly kind: EntryKind; readonly chunks: readonly string[]; readonly end: number }[] = [
    { name: 'of a line: before the line feed', kind: 'line', chunks: ['oops {\n'], end: 6 },
    { name: 'of an element: before the comma', kind: 'element', chunks: ['{"a":[1,2]},'], end: 11 },
    { name: "of an element: before the list's bracket", kind: 'element', chunks: ['[1]]'], end: 3 },
    { name: 'of an object: behind its last bracket', kind: 'object', chunks: ['{"a":{}},'], end: 8 },
    { name: 'brackets in a string do not count', kind: 'object', chunks: ['{"a":"}"}'], end: 9 },
    { name: 'an escaped quote ends no string', kind: 'object', chunks: ['{"a":"\\"}"}'], end: 11 },
    { name: 'in a later chunk, counted from its start', kind: 'object', chunks: ['{"a":"\\', '"}', '"}'], end: 2 },
    { name: 'nowhere yet', kind: 'object', chunks: ['{"a":{}'], end: NOWHERE },
  ]
  for (const { name, kind, chunks, end } of cases)
    it(name, () => {
      const entry = new EntryEnd()
      expect(chunks.map(chunk => entry.find(Buffer.from(chunk), 0, kind)).at(-1)).to.equal(end)
    })

  it('an entry that broke off is open, until another begins', () => {
    const entry = new EntryEnd()
    entry.find(Buffer.from('{"a'), 0, 'line')
    expect([entry.isOpen, entry.mayGoOn]).to.deep.equal([true, false])
    entry.reset()
    expect(entry.isOpen).to.equal(false)
    entry.find(Buffer.from('{'), 0, 'line')
    expect([entry.isOpen, entry.mayGoOn]).to.deep.equal([true, true])
  })
})
