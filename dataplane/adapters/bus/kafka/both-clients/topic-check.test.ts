import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES } from '../../../../contract/topics.ts'
import { systemClock } from '../../../clock/system-clock.ts'
import { withDefaults } from './kafka-config.ts'
import { checkTopics, readTopic, settingsOf } from './topic-check.ts'

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
