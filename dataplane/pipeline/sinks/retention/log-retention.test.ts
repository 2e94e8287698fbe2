import { expect } from 'chai'
import { describe, it } from 'mocha'
import { dropExpiredLogs, dropOversizedLogs, expiredIndices, listLogDays } from './log-retention.ts'

const NOW = Date.UTC(2026, 10, 21, 12)

describe('retention deletes whole daily indices', () => {
  it('names those whose whole day is older than the retention', async () => {
    const names = [
      'service-logs-2026.10.21',
      'service-logs-2026.10.22',
      'service-logs-2026.11.21',
      'service-logs-default',
      'service-logs-2026.1.1',
      'service-logs-2020.13.45',
      'service-logs-2020.01.01-copy',
      'myservice-logs-2020.01.01',
    ]
    const days = await listLogDays({ listIndices: async () => names })
    expect(expiredIndices(days, 30, NOW)).to.deep.equal(['service-logs-2026.10.21'])
  })

  it('deletes them and says which', async () => {
    const deleted: string[] = []
    const store = {
      listIndices: async () => ['service-logs-2026.01.01', 'service-logs-2026.11.20'],
      deleteIndex: async (name: string) => void deleted.push(name),
    }
    expect(await dropExpiredLogs(store, await listLogDays(store), 30, NOW)).to.deep.equal({
      dropped: ['service-logs-2026.01.01'],
      failed: [],
    })
    expect(deleted).to.deep.equal(['service-logs-2026.01.01'])
  })

  it('one that cannot be deleted keeps none of the others', async () => {
    const busy = new Error('400 snapshot_in_progress_exception')
    const store = {
      listIndices: async () => ['service-logs-2026.01.01', 'service-logs-2026.01.02', 'service-logs-2026.01.03'],
      deleteIndex: (name: string) => (name.endsWith('02') ? Promise.reject(busy) : Promise.resolve()),
    }
    expect(await dropExpiredLogs(store, await listLogDays(store), 30, NOW)).to.deep.equal({
      dropped: ['service-logs-2026.01.01', 'service-logs-2026.01.03'],
      failed: [{ name: 'service-logs-2026.01.02', error: busy }],
    })
  })
})

describe('retention by bytes', () => {
  const sizes = new Map([
    ['service-logs-2026.11.22', 10], // a clock that is ahead
    ['service-logs-2026.11.21', 50],
    ['service-logs-2026.11.19', 30],
    ['service-logs-2026.11.20', 40],
    ['service-logs-copy', 1_000],
  ])
  const drop = async (maxBytes: number) => {
    const store = { indexSizes: async () => sizes, deleteIndex: async () => undefined }
    return dropOversizedLogs(store, maxBytes, NOW)
  }

  it('deletes no more days than it has to, the oldest first', async () => {
    expect(await drop(130)).to.deep.equal({ dropped: [], failed: [] })
    expect(await drop(129)).to.deep.equal({ dropped: ['service-logs-2026.11.19'], failed: [] })
    expect(await drop(99)).to.deep.equal({ dropped: ['service-logs-2026.11.19', 'service-logs-2026.11.20'], failed: [] })
  })

  it('keeps the day that is not over, and says how much it takes', async () => {
    const { dropped, keptBytes } = await drop(5)
    expect(dropped).to.deep.equal(['service-logs-2026.11.19', 'service-logs-2026.11.20'])
    expect(keptBytes).to.equal(60)
  })

  it('keeps the newest day also when a clock that is ahead says that it is over', async () => {
    const store = {
      indexSizes: async () => new Map([...sizes].filter(([name]) => !name.endsWith('22'))),
      deleteIndex: async () => undefined,
    }
    const { dropped, keptBytes } = await dropOversizedLogs(store, 5, NOW + 3650 * 86_400_000)
    expect(dropped).to.deep.equal(['service-logs-2026.11.19', 'service-logs-2026.11.20'])
    expect(keptBytes).to.equal(50)
  })

  it('keeps no more than three days when a clock that is behind says that none is over', async () => {
    const store = { indexSizes: async () => sizes, deleteIndex: async () => undefined }
    const { dropped } = await dropOversizedLogs(store, 5, NOW - 3650 * 86_400_000)
    expect(dropped).to.deep.equal(['service-logs-2026.11.19'])
  })
})
