import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FlatMemory } from './flat-memory.ts'
import type { EncodedRecord } from './flat-record-layout.ts'
import { FlatRow } from './flat-row.ts'

const BYTES = Buffer.from('0123456789')
const OTHER_BYTES = Buffer.from('abcdefghij')

const record = (start: number, end: number, timeMs?: number): EncodedRecord => ({
  ...{ bytes: BYTES, start, end, layout: { canonicalEnd: end, attributesStart: start, topLevelEnd: start + 1, keySet: `set ${end}` } },
  ...(timeMs !== undefined && {
    known: {
      ...{ timeMs, level: 'WARN', features: {} as never, messageStart: start, messageEnd: end },
      ...{ isTelling: start > 1, pattern: { hash: end, text: `pattern ${end}` }, visitHash: timeMs },
    },
  }),
})

describe('lent rows', () => {
  for (const [before, after] of [
    [record(1, 4, 1_700_000_000_123), record(2, 9, 1_800_000_000_456)],
    [record(1, 4, 1_700_000_000_123), record(2, 9)],
    [record(1, 4), record(2, 9, 1_800_000_000_456)],
  ] as const)
    it(`become what a new row is: ${before.known === undefined ? 'without' : 'with'} known fields, ${after.known === undefined ? 'without' : 'with'}`, () => {
      const memory = new FlatMemory()
      const row = memory.row('a/b', before, BYTES, 3)
      Object.assign(row, { partition: 4, position: 5, replayed: 'then' })
      memory.giveBackRows([row])
      const again = memory.row('c/d', after, OTHER_BYTES, 1)
      expect(again).to.equal(row)
      expect(again).to.deep.equal(new FlatRow('c/d', after, OTHER_BYTES, 1))
      expect(memory.row('c/d', after, OTHER_BYTES, 1)).to.not.equal(again)
    })

  it('hold nothing of a record once they are given back', () => {
    const memory = new FlatMemory()
    const row = memory.row('a/b', record(1, 4, 1), BYTES, 3)
    memory.giveBackRows([row])
    expect(row.bytes).to.have.length(0)
    expect([row.key, row.layout.keySet, row.known!.pattern.text]).to.deep.equal(['', '', ''])
  })

  it('leave the record alone that they were made of', () => {
    const memory = new FlatMemory()
    const first = record(1, 4, 1)
    const row = memory.row('a/b', first, BYTES, 3)
    memory.giveBackRows([row])
    memory.row('a/b', record(2, 9, 2), BYTES, 3)
    expect(first).to.deep.equal(record(1, 4, 1))
  })
})
