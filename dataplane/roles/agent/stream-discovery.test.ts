import { expect } from 'chai'
import { describe, it } from 'mocha'
import { streamClientId } from '../../contract/stream-jobs.ts'
import { BusError, type GroupMemberInfo } from '../../ports/bus.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createStreamDiscovery } from './stream-discovery.ts'

const TOPICS = { raw: 'raw-logs', enriched: 'enriched-logs', anomaly: 'anomaly-events', deadLetter: 'dead-letter-queue' }
const NAMES = ['etl', 'score'] as const

function setUp(topics = TOPICS) {
  const clock = createFakeClock()
  const groups = new Map<string, readonly GroupMemberInfo[]>()
  let isAway = false
  const bus = {
    async groupMembers(groupId: string) {
      if (isAway) throw new BusError('unavailable', 'away')
      return groups.get(groupId) ?? []
    },
  }
  const discover = createStreamDiscovery({ bus: async () => bus, topics, names: NAMES, clock })
  return {
    clock,
    groups,
    discover,
    goAway: () => {
      isAway = true
    },
  }
}

describe('stream jobs that the agent finds without being told', () => {
  it('are those that are members of the groups, with the processes that work on them and the time of the oldest', async () => {
    const { clock, groups, discover } = setUp()
    const started = (secondsAgo: number) => clock.nowMs() - secondsAgo * 1_000
    groups.set('logpipeline-bridge-etl', [
      { clientId: 'logpipeline' },
      { clientId: streamClientId('etl', started(90)) },
      { clientId: streamClientId('etl', started(30)) },
    ])
    groups.set('logpipeline-bridge-anomaly', [{ clientId: streamClientId('score', started(5)) }])
    expect(await discover()).to.deep.equal([
      { name: 'etl', state: 'RUNNING', taskManagers: 2, uptimeMs: 90_000 },
      { name: 'enrich', state: 'RUNNING', taskManagers: 2, uptimeMs: 90_000 },
      { name: 'score', state: 'RUNNING', taskManagers: 1, uptimeMs: 5_000 },
    ])
  })

  it('are those of its own pipeline: topics of other names have groups of other names', async () => {
    const { clock, groups, discover } = setUp({ ...TOPICS, raw: 'mine-raw' })
    groups.set('logpipeline-bridge-etl', [{ clientId: streamClientId('etl', clock.nowMs()) }])
    expect(await discover()).to.deep.equal([])
    groups.set('logpipeline-bridge-etl-mine-raw', [{ clientId: streamClientId('etl', clock.nowMs()) }])
    expect((await discover()).map(({ name }) => name)).to.deep.equal(['etl', 'enrich'])
  })

  it('are none where there are none, also while the bus is away', async () => {
    const { discover, goAway } = setUp()
    expect(await discover()).to.deep.equal([])
    goAway()
    expect(await discover()).to.deep.equal([])
  })

  it('are failed for ten minutes when they were there and are gone, and unknown while the bus is away', async () => {
    const { clock, groups, discover, goAway } = setUp()
    groups.set('logpipeline-bridge-anomaly', [{ clientId: streamClientId('score', clock.nowMs()) }])
    await discover()
    groups.clear()
    expect(await discover()).to.deep.equal([{ name: 'score', state: 'FAILED', taskManagers: 0, uptimeMs: 0 }])
    clock.advance(600_000)
    expect(await discover()).to.deep.equal([])
    groups.set('logpipeline-bridge-anomaly', [{ clientId: streamClientId('score', clock.nowMs()) }])
    await discover()
    goAway()
    expect(await discover().catch((error: Error) => error.message)).to.equal('away')
  })
})
