import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogPipelineStatus } from '../api/status.ts'
import { createStatusPace } from './status-pace.ts'

const KEY = 'shop/a'

function statusOf(ready: 'True' | 'False', podsReady: number, observedGeneration = 1): LogPipelineStatus {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  return {
    observedGeneration,
    conditions: [{ type: 'Ready', status: ready, reason: 'RolloutInProgress', message: `${podsReady} pods`, lastTransitionTime }],
    components: { collector: { desired: 9, ready: podsReady, updated: 9 } },
  }
}

describe('Pace of the status', () => {
  it('the first word on a pipeline, a new generation and a Ready that turns are told at once', () => {
    const pace = createStatusPace()
    const first = statusOf('False', 0)
    expect(pace.waitMs(KEY, undefined, first, 0)).to.equal(0)
    pace.noteWritten(KEY, undefined, first, 0)
    expect(pace.waitMs(KEY, first, statusOf('True', 9), 1)).to.equal(0)
    expect(pace.waitMs(KEY, first, statusOf('False', 0, 2), 1)).to.equal(0)
    expect(pace.waitMs(KEY, first, statusOf('False', 1), 1)).to.equal(4999)
  })

  it('pods on their way are told of after 5 s, 10 s, 20 s, and then each 30 s, until Ready turns', () => {
    const pace = createStatusPace()
    let status = statusOf('False', 0)
    pace.noteWritten(KEY, undefined, status, 0)
    let nowMs = 0
    for (const [pods, seconds] of [5, 10, 20, 30, 30].entries()) {
      const next = statusOf('False', pods + 1)
      expect(pace.waitMs(KEY, status, next, nowMs)).to.equal(seconds * 1000)
      nowMs += seconds * 1000
      expect(pace.waitMs(KEY, status, next, nowMs)).to.equal(0)
      pace.noteWritten(KEY, status, next, nowMs)
      status = next
    }
    const ready = statusOf('True', 9)
    pace.noteWritten(KEY, status, ready, nowMs)
    expect(pace.waitMs(KEY, ready, statusOf('True', 8), nowMs)).to.equal(5000)
  })

  it('knows nothing of a pipeline that is gone', () => {
    const pace = createStatusPace()
    pace.noteWritten(KEY, undefined, statusOf('False', 0), 0)
    pace.forget(KEY)
    expect(pace.waitMs(KEY, statusOf('False', 0), statusOf('False', 1), 1)).to.equal(0)
  })
})
