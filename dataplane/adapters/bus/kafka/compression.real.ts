import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { openKafkaJsBus } from '../kafkajs/kafkajs-bus.ts'
import { createTestTopic, readAll, type TestTopic } from './both-clients/testing/topics.ts'
import { openKafkaBus } from './kafka-bus.ts'

export const needs = ['kafka']

describe('batches in zstd, lz4 and none', () => {
  let topic: TestTopic
  afterEach(() => topic.close())

  for (const [name, openReader] of [
    ['@platformatic/kafka', openKafkaBus],
    ['kafkajs', openKafkaJsBus],
  ] as const)
    it(`are read by ${name}`, async function () {
      this.timeout(60_000)
      topic = createTestTopic(config => (config.clientId === 'reader' ? openReader : openKafkaBus)(config), 'kafka', 1)
      const written: string[] = []
      const writer = await topic.open()
      for (const bytes of [100, 5_000, 100_000]) {
        const text = `${bytes} `.padEnd(bytes, 'a line of log ')
        await writer.send(topic.name, [{ key: 'tenant/service', value: Buffer.from(text) }])
        written.push(text)
      }
      const reader = await topic.open({ clientId: 'reader' })
      const subscription = await reader.subscribe({ groupId: topic.group, topics: [topic.name] })
      const read = await readAll(subscription, written.length)
      expect(read.map(({ value }) => Buffer.from(value).toString())).to.deep.equal(written)
    })
})
