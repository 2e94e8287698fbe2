import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Incident, Severity } from '../../api/ticketing.ts'
import { readOpenIncidents } from './read-open-incidents.ts'

/** A storm of 340: the oldest three are critical, forty are high. */
const STORM = Array.from({ length: 340 }, (_, i) => ({
  id: String(i),
  severity: (i < 3 ? 'critical' : i < 43 ? 'high' : 'low') as Severity,
  createdAt: new Date(i * 1_000).toISOString(),
  status: i % 10 === 0 ? 'escalated' : 'open',
})) as unknown as readonly Incident[]

function storeOf(incidents: readonly Incident[]) {
  const newest = incidents.toReversed()
  let counted = 0
  return {
    list: async ({ status, severity, limit = 0 }: { status: string; severity?: Severity | undefined; limit?: number | undefined }) => {
      const all = newest.filter(each => each.status === status && (severity === undefined || each.severity === severity))
      return { incidents: all.slice(0, limit), nextCursor: all.length > limit ? 'next' : undefined }
    },
    count: async (status: string) => {
      counted++
      const own = Object.groupBy(
        incidents.filter(each => each.status === status),
        each => each.severity,
      )
      return { severity: Object.fromEntries(Object.entries(own).map(([name, list]) => [name, list.length])) }
    },
    counts: () => counted,
  }
}

describe('open incidents of the overview', () => {
  it('are counted whole in a storm, and the worst shown, however old', async () => {
    const { list, count } = storeOf(STORM)
    const { total, urgent, worst } = await readOpenIncidents(list, count)
    expect([total, urgent]).to.deep.equal([340, 43])
    expect(worst.map(({ id }) => id)).to.deep.equal(['2', '1', '0', '42', '41', '40', '39', '38'])
  })

  it('are counted from their list where that is whole', async () => {
    const { list, count, counts } = storeOf(STORM.slice(0, 60))
    const { total, urgent, worst } = await readOpenIncidents(list, count)
    expect([total, urgent, worst[0]?.id, worst.length, counts()]).to.deep.equal([60, 43, '2', 8, 0])
  })
})
