import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogPipelineStatus } from '../api/status.ts'
import { createStatusPace, PIPELINE_SUMMARY } from './status-pace.ts'

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
    const pace = createStatusPace(PIPELINE_SUMMARY)
    const first = statusOf('False', 0)
    expect(pace.waitMs(KEY, undefined, first, 0)).to.equal(0)
    pace.noteWritten(KEY, undefined, first, 0)
    expect(pace.waitMs(KEY, first, statusOf('True', 9), 1)).to.equal(0)
    expect(pace.waitMs(KEY, first, statusOf('False', 0, 2), 1)).to.equal(0)
    expect(pace.waitMs(KEY, first, statusOf('False', 1), 1)).to.equal(4999)
  })

  it('pods on their way are told of after 5 s, 10 s, 20 s, and then each 30 s, until Ready turns', () => {
    const pace = createStatusPace(PIPELINE_SUMMARY)
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

  it('pods of many pipelines on their way are told of at one a second together, after ten at once; why Ready is False is not held up by that', () => {
    const pace = createStatusPace(PIPELINE_SUMMARY)
    const keys = Array.from({ length: 400 }, (_, i) => `shop/p${i}`)
    const before = statusOf('False', 0)
    const after = statusOf('False', 1)
    for (const key of keys) pace.noteWritten(key, undefined, before, 0)
    const waits = keys.map(key => pace.waitMs(key, before, after, 5000) / 1000)
    expect(waits.slice(0, 13)).to.deep.equal([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3])
    expect(waits.at(-1), 'nobody waits for more than five minutes').to.equal(300)
    // A resource that asks again keeps the turn that it had.
    expect(pace.waitMs(keys[12]!, before, after, 7000)).to.equal(1000)
    const broken: LogPipelineStatus = { ...after, conditions: [{ ...after.conditions![0]!, reason: 'ImagePullFailed' }] }
    expect(pace.waitMs(keys[50]!, before, broken, 7000)).to.equal(0)
  })

  it('knows nothing of a pipeline that is gone', () => {
    const pace = createStatusPace(PIPELINE_SUMMARY)
    pace.noteWritten(KEY, undefined, statusOf('False', 0), 0)
    pace.forget(KEY)
    expect(pace.waitMs(KEY, statusOf('False', 0), statusOf('False', 1), 1)).to.equal(0)
  })

  it('the same status that somebody else replaces again and again is put back at growing intervals, and another one at once', () => {
    const pace = createStatusPace(PIPELINE_SUMMARY)
    const ours = (second: number): LogPipelineStatus => {
      const status = statusOf('True', 9)
      return { ...status, conditions: [{ ...status.conditions![0]!, lastTransitionTime: `2026-01-01T00:10:${second}Z` }] }
    }
    const theirs = statusOf('False', 0)
    const writtenAt: number[] = []
    for (let second = 0; second < 300; second++) {
      if (pace.waitMs(KEY, theirs, ours(second), second * 1000) > 0) continue
      pace.noteWritten(KEY, theirs, ours(second), second * 1000)
      writtenAt.push(second)
    }
    expect(writtenAt).to.deep.equal([0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131, 251])
    expect(pace.waitMs(KEY, theirs, statusOf('True', 8), 300_000)).to.equal(0)
    expect(pace.waitMs(KEY, theirs, ours(1), 251_000 + 300_000), 'after five minutes of peace').to.equal(0)
  })
})
