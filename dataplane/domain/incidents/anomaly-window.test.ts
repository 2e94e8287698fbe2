import { expect } from 'chai'
import { describe, it } from 'mocha'
import { GROUP_WINDOW_MS } from './anomaly-config.ts'
import { type WindowMember, windowAround } from './anomaly-window.ts'

const MINUTE_MS = 60_000

function member(minute: number): WindowMember {
  const at = new Date(minute * MINUTE_MS).toISOString()
  const anomaly = {
    id: String(minute),
    log_id: 'l',
    timestamp: at,
    tenant_id: 't',
    service: 's',
    level: 'ERROR',
    pattern_id: 'p',
    pattern: 'p',
    score: 0.5,
  } as const
  return { anomaly, atMs: minute * MINUTE_MS, incidentId: undefined }
}

function around(minute: number, minutes: readonly number[]): readonly number[] {
  const members = minutes.map(member)
  return windowAround(members[minutes.indexOf(minute)]!, members).map(({ atMs }) => atMs / MINUTE_MS)
}

describe('the 5-minute window of event time', () => {
  it('is five minutes long', () => expect(GROUP_WINDOW_MS).to.equal(5 * MINUTE_MS))

  const cases = [
    { name: 'holds anomalies up to exactly five minutes away', minute: 0, minutes: [0, 5], expected: [0, 5] },
    { name: 'and none further away', minute: 0, minutes: [0, 5.01], expected: [0] },
    { name: 'is the fullest of those that hold the anomaly', minute: 10, minutes: [6, 10, 11, 12, 13], expected: [10, 11, 12, 13] },
    { name: 'of equally full ones the earliest', minute: 10, minutes: [6, 10, 14], expected: [6, 10] },
    { name: 'keeps the order of arrival', minute: 2, minutes: [4, 2, 3], expected: [4, 2, 3] },
  ]
  for (const { name, minute, minutes, expected } of cases) it(name, () => expect(around(minute, minutes)).to.deep.equal(expected))
})
