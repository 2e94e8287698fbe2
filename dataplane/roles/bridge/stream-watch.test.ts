import { expect } from 'chai'
import { describe, it } from 'mocha'
import { streamClientId } from '../../contract/stream-jobs.ts'
import { BusError, type GroupMemberInfo } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { startStreamWatch } from './stream-watch.ts'

const SETTINGS = { RAW_TOPIC: 'raw-logs', ENRICHED_TOPIC: 'enriched-logs' }
const BRIDGE = { clientId: 'logpipeline' }

describe('the bridge and the stream jobs', () => {
  it('says when a stream job does the work of a thread, and when it does no more', async () => {
    const groups: Record<string, readonly GroupMemberInfo[] | undefined> = {
      'logpipeline-bridge-etl': [BRIDGE],
      'logpipeline-bridge-anomaly': [BRIDGE],
    }
    const clock = createFakeClock()
    const said: unknown[] = []
    const log = { ...SILENT, info: (fields: object, message: string) => void said.push([message, fields]) }
    const groupMembers = async (groupId: string) => {
      const members = groups[groupId]
      if (members === undefined) throw new BusError('unavailable', 'away')
      return members
    }
    const watch = startStreamWatch({ bus: { groupMembers }, settings: SETTINGS, clock, log })
    const look = async () => {
      while (clock.sleepers === 0) await new Promise(setImmediate)
      const states = watch.states()
      clock.advance(2_000)
      return states
    }
    expect(await look()).to.deep.equal({ etl: 'none', score: 'none' })
    groups['logpipeline-bridge-etl'] = [
      BRIDGE,
      { clientId: streamClientId('etl', 1_763_812_345_678) },
      { clientId: streamClientId('etl', 5) },
    ]
    await look()
    expect(await look()).to.deep.equal({ etl: 'running', score: 'none' })
    groups['logpipeline-bridge-etl'] = undefined
    await look()
    expect(await look()).to.deep.equal({ etl: 'unknown', score: 'none' })
    groups['logpipeline-bridge-etl'] = [BRIDGE]
    await look()
    expect(await look()).to.deep.equal({ etl: 'none', score: 'none' })
    watch.stop()
    expect(said).to.deep.equal([
      ['a stream job does the work of the thread, which stands by', { job: 'etl', thread: 'etl', processes: 2 }],
      ['no stream job is there any more: the thread does the work', { job: 'etl', thread: 'etl' }],
    ])
  })
})
