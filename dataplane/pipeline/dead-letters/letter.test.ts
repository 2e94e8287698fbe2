import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseLetter } from './letter.ts'

const record = (timestampMs: number, headers: Readonly<Record<string, string>> = {}) => ({
  ...{ topic: 'dead-letter-queue', partition: 1, offset: 2, timestampMs, key: 'shop/cart', value: Buffer.from('x') },
  headers: { 'dlq.topic': 'raw-logs', 'dlq.stage': 'etl', ...headers },
})

describe('a dead letter that is read', () => {
  it('is dated by its header, else by the bus', () => {
    expect(parseLetter(record(7, { 'dlq.time': '2026-11-21T00:00:00.000Z' }))!.time).to.equal('2026-11-21T00:00:00.000Z')
    expect(parseLetter(record(7))!.time).to.equal('1970-01-01T00:00:00.007Z')
  })

  it('hides no others where a client dated it beyond all dates', () => {
    for (const timestampMs of [4.6e18, -4.6e18, Number.NaN])
      expect(parseLetter(record(timestampMs))!.time, String(timestampMs)).to.equal('1970-01-01T00:00:00.000Z')
  })
})
