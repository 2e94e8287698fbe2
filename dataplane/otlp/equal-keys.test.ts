import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../testing/rounds.ts'
import { findEqualKeys } from './equal-keys.ts'
import { keyOfDigits, keyOfWords } from './time-key.ts'

const digitsKey = (time: bigint | string) => {
  const digits = new TextEncoder().encode(String(time))
  return keyOfDigits(new DataView(digits.buffer), 0, digits.length)
}
const wordsKey = (time: bigint) => keyOfWords(Number(time >> 32n), Number(time & 0xffffffffn))
const START = 1767225600000000000n

describe('records of equal time', () => {
  it('are all marked, and with real keys no others', () => {
    for (const keyOf of [digitsKey, wordsKey])
      for (const step of [1n, 1_000n, 1_000_000n, 1_000_000_000n]) {
        const times = Array.from({ length: 10_000 }, (_, i) => START + BigInt(i) * step)
        expect(findEqualKeys(times.map(keyOf)), `${step} ns apart`).to.equal(undefined)
        const marked = findEqualKeys([...times, START + 5n * step].map(keyOf))!
        expect([...marked.keys()].filter(i => marked[i] === 1)).to.deep.equal([5, 10_000])
      }
  })

  it('are all marked, whatever the keys', () => {
    const keys = fc.array(
      fc.oneof(
        fc.nat(40),
        fc.nat(40).map(i => i * 2 ** 20),
        fc.nat(2 ** 31 - 1),
      ),
      { maxLength: 200 },
    )
    fc.assert(
      fc.property(keys, all => {
        const marked = findEqualKeys(all)
        for (const [i, key] of all.entries()) if (all.indexOf(key) !== i || all.lastIndexOf(key) !== i) expect(marked?.[i]).to.equal(1)
      }),
      { seed: 8, numRuns: rounds(500) },
    )
  })

  it('keys that all want the same place take no longer than others', () => {
    const keys = Array.from({ length: 300_000 }, (_, i) => (i * 2 ** 20) & 0x7fffffff)
    const before = process.threadCpuUsage()
    expect(findEqualKeys(keys)).not.to.equal(undefined)
    expect(process.threadCpuUsage(before).user / 1000, 'CPU time, ms').to.be.below(500)
  })
})
