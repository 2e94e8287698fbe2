import { expect } from 'chai'
import { describe, it } from 'mocha'
import { claim, conclude, isClaimable, LEASE_MS, manualRun, RUN_ID_PATTERN, scheduledRun } from './feature-run.ts'

const HOUR = Date.UTC(2026, 10, 21, 15)
const NOW = Date.UTC(2026, 10, 21, 16, 20, 30, 5)

describe('runs of feature_compute', () => {
  it('a scheduled run is named for its hour, so that there is one of it', () => {
    expect(scheduledRun(HOUR, NOW)).to.include({
      dag_run_id: 'scheduled__2026-11-21T15:00:00+00:00',
      run_type: 'scheduled',
      state: 'queued',
      logical_date: '2026-11-21T15:00:00.000Z',
      data_interval_start: '2026-11-21T15:00:00.000Z',
      data_interval_end: '2026-11-21T16:00:00.000Z',
      run_after: '2026-11-21T16:00:00.000Z',
    })
  })

  it('a run by hand computes the last full hour before its logical date', () => {
    expect(manualRun({}, NOW)).to.include({
      dag_run_id: 'manual__2026-11-21T16:20:30.005+00:00',
      logical_date: '2026-11-21T16:20:30.005Z',
      data_interval_start: '2026-11-21T15:00:00.000Z',
    })
    expect(manualRun({ logicalMs: HOUR }, NOW)).to.include({ data_interval_start: '2026-11-21T14:00:00.000Z' })
    expect(manualRun({ hourMs: HOUR - 7_200_000, id: 'mine' }, NOW)).to.include({
      dag_run_id: 'mine',
      data_interval_start: '2026-11-21T13:00:00.000Z',
    })
  })

  it('its own ids are ones that a caller may give', () => {
    for (const run of [scheduledRun(HOUR, NOW), manualRun({}, NOW)]) expect(run.dag_run_id).to.match(RUN_ID_PATTERN)
  })

  it('a run that somebody works on is left alone until its lease ends', () => {
    const queued = scheduledRun(HOUR, NOW)
    const running = claim(queued, NOW)
    expect(isClaimable(queued, NOW)).to.equal(true)
    expect(isClaimable(running, NOW + LEASE_MS - 1)).to.equal(false)
    expect(isClaimable(running, NOW + LEASE_MS)).to.equal(true)
    expect(isClaimable(conclude(running, NOW), NOW + LEASE_MS)).to.equal(false)
    expect(claim(running, NOW + LEASE_MS)).to.include({ tries: 2, start_date: running.start_date })
  })

  it('a failed try is repeated after longer and longer pauses, ten times; then the run has failed', () => {
    let run = scheduledRun(HOUR, NOW)
    const pauses: number[] = []
    while (run.state !== 'failed') {
      run = conclude(claim(run, NOW), NOW, 'no store')
      if (run.state === 'running') pauses.push((Date.parse(run.lease_until!) - NOW) / 1_000)
    }
    expect(pauses).to.deep.equal([5, 10, 20, 40, 80, 160, 300, 300, 300])
    expect(run).to.include({ tries: 10, error: 'no store', end_date: new Date(NOW).toISOString() })
  })

  it('success clears what went wrong before', () => {
    const run = conclude(claim(conclude(claim(scheduledRun(HOUR, NOW), NOW), NOW, 'no store'), NOW), NOW)
    expect(run).to.include({ state: 'success', error: null, tries: 2 })
  })
})
