import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { Column } from '../../index-storage.ts'
import { countByMinute, RunningMinuteCounts } from './minute-counts.ts'

const document = fc.record({
  ms: fc.integer({ min: -200_000, max: 2_000_000 }),
  tenant: fc.nat(2),
  service: fc.nat(5),
  level: fc.nat(3),
})

function columnsOf(documents: readonly { ms: number; tenant: number; service: number; level: number }[]) {
  const keyword = (codes: readonly number[]): Column => ({
    kind: 'keyword',
    codes: Uint8Array.from(codes),
    dictionary: ['', 'a', 'b', 'c', 'd', 'e', 'f'],
  })
  return {
    timestamp: { kind: 'number', values: Float64Array.from(documents, ({ ms }) => ms) } as Column,
    tenant: keyword(documents.map(({ tenant }) => tenant)),
    service: keyword(documents.map(({ service }) => service)),
    level: keyword(documents.map(({ level }) => level)),
  }
}

describe('counts by minute of a tail', () => {
  it('are the same where they are added to as documents come', () =>
    fc.assert(
      fc.property(fc.array(document, { maxLength: 200 }), fc.array(fc.nat(200), { maxLength: 10 }), (documents, sizes) => {
        const running = new RunningMinuteCounts()
        let largest = 0
        for (const size of sizes.map(each => Math.min(each, documents.length))) {
          const counted = running.upTo(columnsOf(documents), size)
          if (size < largest) expect(counted).to.equal(undefined)
          else expect(counted).to.deep.equal(countByMinute(columnsOf(documents), size, () => true))
          largest = Math.max(largest, size)
        }
      }),
    ))

  it('cannot tell once a document has no time', () => {
    const running = new RunningMinuteCounts()
    const timed = { ms: 1, tenant: 1, service: 1, level: 1 }
    const columns = columnsOf([timed, { ...timed, ms: Number.NaN }, timed])
    expect(running.upTo(columns, 1)).to.have.length(1)
    expect(running.upTo(columns, 2)).to.equal(undefined)
    expect(running.upTo(columns, 3)).to.equal(undefined)
  })
})
