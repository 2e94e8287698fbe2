import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ConsumedRecord } from '../ports/bus.ts'
import { divideByTenant, LIGHT_SHARE, MIN_DIVIDED_BYTES } from './light-tenants.ts'

let offset = 0
const record = (key: string, bytes: number): ConsumedRecord => ({
  topic: 'raw-logs',
  partition: 0,
  offset: offset++,
  timestampMs: 0,
  key,
  value: Buffer.alloc(bytes),
  headers: {},
})
const keysOf = (records: readonly ConsumedRecord[]) => records.map(({ key }) => key)

describe('tenants that bring little', () => {
  it('are told from those that bring much, each with its records in their order', () => {
    const records = [
      record('loud/a', MIN_DIVIDED_BYTES),
      record('quiet/b', 100),
      record('loud/a', 10),
      record('quiet/a', 200),
      record('', 50),
    ]
    const { light, heavy } = divideByTenant(records)
    expect(light).to.deep.equal([records[1], records[3], records[4]])
    expect(heavy).to.deep.equal([records[0], records[2]])
  })

  it('have a share of the batch at most, however many they are', () => {
    const records = Array.from({ length: 1_000 }, (_, i) => record(`t-${i}/a`, 1_000 + i))
    const { light, heavy } = divideByTenant(records)
    const bytes = (part: readonly ConsumedRecord[]) => part.reduce((sum, { value }) => sum + value.length, 0)
    expect(bytes(light)).to.be.within(LIGHT_SHARE * bytes(records) - 2_000, LIGHT_SHARE * bytes(records))
    expect(keysOf([...light, ...heavy])).to.deep.equal(keysOf(records))
  })

  it('are nobody in a batch of one tenant, and all in a small one', () => {
    const one = [record('loud/a', MIN_DIVIDED_BYTES), record('loud/b', 1)]
    expect(divideByTenant(one)).to.deep.equal({ light: [], heavy: one })
    const small = [record('a/a', MIN_DIVIDED_BYTES - 100), record('b/a', 10)]
    expect(divideByTenant(small)).to.deep.equal({ light: small, heavy: [] })
  })
})
