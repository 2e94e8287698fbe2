import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TOPICS } from './topics.ts'

const HOURS = { h: 1, days: 24 } as const

describe('the topics', () => {
  it("have the partitions and the retention of the specification's Limits", () => {
    const specification = readFileSync(new URL('../../docs/specification.md', import.meta.url), 'utf8')
    const rows = [...specification.matchAll(/^\| Topic `([a-z-]+)` \| (\d+) partitions?, (\d+) (h|days) retention \|$/gm)]
    const limits = rows.map(([, name, partitions, amount, unit]) => ({
      name,
      partitions: Number(partitions),
      retentionMs: Number(amount) * HOURS[unit as keyof typeof HOURS] * 3_600_000,
    }))
    expect(limits).to.have.length(4)
    expect(Object.values(TOPICS).map(({ name, partitions, retentionMs }) => ({ name, partitions, retentionMs }))).to.deep.equal(limits)
  })
})
