import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createCourses, meanSeconds } from './ticket-statistics.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString()

describe('statistics', () => {
  it('are means of the first acknowledgement and the last resolution; what is reopened is not resolved', () => {
    const courses = createCourses()
    for (const id of ['i1', 'i2', 'i3', 'i1']) courses.addIncident({ id, createdAt: at(0) })
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
    for (const [incident_id, action, seconds] of entries) courses.addEntry({ incident_id, action, timestamp: at(seconds) })
    const { acknowledged, resolved } = courses.result()
    expect(meanSeconds([acknowledged])).to.equal(35)
    expect(meanSeconds([resolved])).to.equal(60.25)
  })

  it('weigh each incident the same, and there are none without one', () => {
    expect(meanSeconds([])).to.equal(null)
    expect(meanSeconds([{ count: 0, totalMs: 0 }])).to.equal(null)
    expect(
      meanSeconds([
        { count: 3, totalMs: 3_000 },
        { count: 1, totalMs: 9_000 },
      ]),
    ).to.equal(3)
  })
})
