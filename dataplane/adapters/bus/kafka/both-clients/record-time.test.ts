import { expect } from 'chai'
import { describe, it } from 'mocha'
import { withSoundTimes } from './record-time.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const record = (timestampMs: number) => ({ topic: 't', partition: 0, offset: 1, timestampMs, key: '', value: Buffer.alloc(0), headers: {} })

describe('the time of a record', () => {
  it('is what Kafka says', () => {
    const records = [record(NOW_MS - 40 * 86_400_000), record(NOW_MS + 3_600_000)]
    expect(withSoundTimes(records, NOW_MS)).to.equal(records)
  })

  for (const [name, timestampMs] of [
    ['none', -1],
    ['0', 0],
    ['one in seconds', NOW_MS / 1_000],
    ['one in nanoseconds', NOW_MS * 1e6],
    ['the least there is', -9.2e18],
  ] as const)
    it(`is now where its producer says ${name}`, () => {
      const sound = record(NOW_MS - 5)
      expect(withSoundTimes([sound, record(timestampMs)], NOW_MS)).to.deep.equal([sound, record(NOW_MS)])
    })
})
