import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createStatistics } from './ticket-statistics.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString()
const incident = (id: string) => ({ id, severity: 'high' as const, service: 'checkout', createdAt: at(0) })

describe('statistics', () => {
  it('count incidents by severity and service', () => {
    const statistics = createStatistics()
    statistics.addIncident(incident('i1'))
    statistics.addIncident({ ...incident('i2'), severity: 'low', service: 'cart' })
    statistics.addIncident(incident('i1'))
    expect(statistics.result()).to.deep.equal({
      incidents: 2,
      bySeverity: { critical: 0, high: 1, medium: 0, low: 1 },
      byService: { checkout: 1, cart: 1 },
      mttaSeconds: null,
      mttrSeconds: null,
    })
  })

  it('are means of the first acknowledgement and the last resolution; what is reopened is not resolved', () => {
    const statistics = createStatistics()
    for (const id of ['i1', 'i2', 'i3']) statistics.addIncident(incident(id))
    const entries = [
      ['i1', 'acknowledged', 10],
      ['i2', 'acknowledged', 20],
      ['i1', 'resolved', 30],
      ['i2', 'resolved', 40],
      ['i2', 'reopened', 50],
      ['i3', 'resolved', 60],
      ['i3', 'reopened', 70],
      ['i3', 'acknowledged', 75],
      ['i3', 'resolved', 90.5],
      ['other', 'resolved', 9_999],
    ] as const
    for (const [incident_id, action, seconds] of entries) statistics.addEntry({ incident_id, action, timestamp: at(seconds) })
    expect(statistics.result()).to.include({ mttaSeconds: 35, mttrSeconds: 60.25 })
  })
})
