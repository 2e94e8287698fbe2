import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { IndexHealth } from '../../ports/search-store.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createConnectionState } from '../connection-state.ts'
import { healthOfToday, troubleOfToday } from './red-day.ts'

const TODAY = 'service-logs-2026.11.21'
const YESTERDAY = 'service-logs-2026.11.20'
const RED = { isRed: true, isStarting: false }

describe('the search store as the health of the bridge tells it', () => {
  const clock = createFakeClock(Date.UTC(2026, 10, 21, 12))
  const stateWith = (status: 'green' | 'red', indices: Readonly<Record<string, IndexHealth>>) => {
    const store = { clusterStatus: async () => status, indexHealth: async () => new Map(Object.entries(indices)) }
    return createConnectionState(() => healthOfToday(store, clock), clock, troubleOfToday)()
  }

  it("names today's index where that is red, and the way out", async () => {
    const state = await stateWith('red', { [TODAY]: RED })
    expect(state).to.match(/^connected, but index service-logs-2026\.11\.21 is red/)
    expect(state).to.contain('from a backup').and.to.contain('delete it').and.to.contain('dlq replay')
  })

  it('is connected where it is another one, or on its way, or there is none', async () => {
    expect(await stateWith('green', {})).to.equal('connected')
    expect(await stateWith('red', { [YESTERDAY]: RED })).to.equal('connected')
    expect(await stateWith('red', { [TODAY]: { isRed: true, isStarting: true } })).to.equal('connected')
    expect(await stateWith('red', { [TODAY]: { isRed: false, isStarting: false }, [YESTERDAY]: RED })).to.equal('connected')
  })
})
