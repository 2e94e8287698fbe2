import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../../../contract/topics.ts'
import { SILENT } from '../../../../telemetry/log.ts'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { systemClock } from '../../../clock/system-clock.ts'
import { withDefaults } from './kafka-config.ts'
import { assertMayCreate, checkTopics, mendTopics, readTopic, settingsOf, topicsToMend } from './topic-check.ts'

const WANTED = { name: 'logs', partitions: 6, retentionMs: 1_000 }

describe('topics as Kafka has them', () => {
  const check = (partitions: number, settings: Readonly<Record<string, string>>) => {
    const warnings: object[] = []
    const ignore = () => undefined
    const log = { info: ignore, error: ignore, warn: (fields: object) => void warnings.push(fields) }
    const topic = readTopic('logs', partitions, setting => settings[setting])
    const layouts = checkTopics(withDefaults({ brokers: [], clock: systemClock, topics: [WANTED], log }), [topic])
    return { warnings, layout: layouts.get('logs') }
  }
  const asMade = Object.fromEntries(settingsOf(WANTED).map(({ name, value }) => [name, value]))

  it('are as they were made: nothing to say', () => {
    expect(check(6, { ...asMade, 'max.message.bytes': String(MAX_BUS_MESSAGE_BYTES) }).warnings).to.deep.equal([])
  })

  it('are mended where they are kept, but for partitions that are too many', () => {
    const found = (partitions: number, retention: number) => [
      readTopic('logs', partitions, name => (name === 'retention.ms' ? String(retention) : undefined)),
    ]
    const mend = (topicMode: 'create' | 'keep' | 'existing', partitions: number, retention: number) =>
      topicsToMend({ topics: [WANTED], topicMode }, found(partitions, retention))
    expect(mend('keep', 2, -1)).to.deep.equal({ tooFewPartitions: [WANTED], otherRetention: [WANTED] })
    expect(mend('keep', 12, 1_000)).to.deep.equal({ tooFewPartitions: [], otherRetention: [] })
    for (const mode of ['create', 'existing'] as const)
      expect(mend(mode, 2, -1)).to.deep.equal({ tooFewPartitions: [], otherRetention: [] })
  })

  it('are looked at until brokers show what was mended, without those that Kafka refuses', async () => {
    const refused = { name: 'refused', partitions: 6, retentionMs: 1_000 }
    const clock = createFakeClock()
    const settings = { ...withDefaults({ brokers: [], clock, topics: [WANTED, refused], topicMode: 'keep' }), log: SILENT }
    let looks = 0
    const describeAll = async () => {
      looks++
      const shown = looks < 4 ? '5000' : '1000'
      return [readTopic('logs', 6, () => shown), readTopic('refused', 2, () => '1000')]
    }
    const requests = { setRetention: async () => undefined, addPartitions: () => Promise.reject(new Error('not allowed')) }
    const mended = mendTopics(settings, describeAll, requests)
    for (let i = 0; i < 20; i++) {
      clock.advance(100)
      await turn()
    }
    expect((await mended).map(({ name, partitions, retentionMs }) => [name, partitions, retentionMs])).to.deep.equal([
      ['logs', 6, 1_000],
      ['refused', 2, 1_000],
    ])
    expect(looks).to.equal(4)
  })

  it('are not made where they have to be there, which is said', () => {
    expect(() => assertMayCreate({ topicMode: 'existing' }, [WANTED])).to.throw(/^logs expected in Kafka, found nothing: create them/)
    for (const topicMode of ['create', 'keep'] as const) assertMayCreate({ topicMode }, [WANTED])
  })

  it('that differ are used as they are, and the log tells where', () => {
    const { warnings, layout } = check(2, { 'retention.ms': '-1', 'max.message.bytes': '1000', 'message.timestamp.type': 'CreateTime' })
    expect(layout).to.include({ name: 'logs', partitions: 2, maxMessageBytes: 1_000 })
    expect(warnings).to.deep.equal([
      { topic: 'logs', setting: 'partitions', expected: 6, found: 2 },
      { topic: 'logs', setting: 'retention.ms', expected: 1_000, found: -1 },
      { topic: 'logs', setting: 'max.message.bytes', expected: MAX_BUS_MESSAGE_BYTES, found: 1_000 },
      { topic: 'logs', setting: 'message.timestamp.type', expected: 'LogAppendTime', found: 'CreateTime' },
    ])
  })
})
