/** How a bus on Kafka gets in, and what it makes there: a suite for both clients. */
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { TOPICS } from '../../../../../contract/topics.ts'
import { BusError } from '../../../../../ports/bus.ts'
import { KAFKA_USER, kafkaCaFile, kafkaSecureAddresses } from '../../../../../testing/real/kafka-server.ts'
import { partitionOf } from '../../../partitioner.ts'
import { record, textOf } from '../../../testing/records.ts'
import type { KafkaConfig } from '../kafka-config.ts'
import type { OpenBus } from './kafka-harness.ts'
import { createTestTopic, readAll, type TestTopic } from './topics.ts'

interface Way {
  readonly name: string
  readonly config: () => Partial<KafkaConfig>
}

const overTls = () => ({ brokers: [kafkaSecureAddresses().saslSsl], tls: { ca: readFileSync(kafkaCaFile(), 'utf8') } })
const inTheClear = () => ({ brokers: [kafkaSecureAddresses().saslPlaintext] })
const WAYS: readonly Way[] = [
  { name: 'PLAIN over TLS', config: () => ({ ...overTls(), sasl: { mechanism: 'plain', ...KAFKA_USER } }) },
  { name: 'SCRAM-SHA-256 over TLS', config: () => ({ ...overTls(), sasl: { mechanism: 'scram-sha-256', ...KAFKA_USER } }) },
  { name: 'SCRAM-SHA-512 over TLS', config: () => ({ ...overTls(), sasl: { mechanism: 'scram-sha-512', ...KAFKA_USER } }) },
  { name: 'PLAIN in the clear', config: () => ({ ...inTheClear(), sasl: { mechanism: 'plain', ...KAFKA_USER } }) },
  { name: 'SCRAM-SHA-512 in the clear', config: () => ({ ...inTheClear(), sasl: { mechanism: 'scram-sha-512', ...KAFKA_USER } }) },
]
const REFUSED: readonly Way[] = [
  { name: 'a wrong password', config: () => ({ ...overTls(), sasl: { mechanism: 'scram-sha-512', ...KAFKA_USER, password: 'wrong' } }) },
  {
    name: 'an authority that is not trusted',
    config: () => ({ brokers: overTls().brokers, tls: {}, sasl: { mechanism: 'plain', ...KAFKA_USER } }),
  },
  { name: 'no TLS where it is needed', config: () => ({ brokers: overTls().brokers, sasl: { mechanism: 'plain', ...KAFKA_USER } }) },
  { name: 'nobody there', config: () => ({ brokers: ['127.0.0.1:1'] }) },
]
const START_TIMEOUT_MS = 4_000

/** How the bus gets into Kafka, and what it makes there. */
export function testAccess(name: string, openBus: OpenBus): void {
  describe(`access to Kafka: ${name}`, function () {
    this.timeout(40_000)
    let topic: TestTopic
    beforeEach(() => {
      topic = createTestTopic(openBus, 'kafka', 2)
    })
    afterEach(() => topic.close())

    for (const { name: way, config } of WAYS)
      it(`${way}: writes, reads, commits`, async () => {
        const bus = await topic.open(config())
        await bus.send(topic.name, [record('k', 'in')])
        const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
        const read = await readAll(subscription, 1)
        expect(read.map(textOf)).to.deep.equal(['in'])
        await subscription.commit([{ topic: topic.name, partition: read[0]!.partition, offset: 1 }])
        expect(await bus.committedOffsets(topic.group)).to.have.length(1)
      })

    for (const { name: way, config } of REFUSED)
      it(`${way}: fails as unavailable in time`, async () => {
        const startedMs = Date.now()
        const error = await topic.open({ ...config(), startTimeoutMs: START_TIMEOUT_MS, requestTimeoutMs: 1_500 }).then(
          () => undefined,
          (failure: unknown) => failure,
        )
        expect(error).to.be.instanceOf(BusError)
        expect((error as BusError).reason).to.equal('unavailable')
        expect(Date.now() - startedMs).to.be.below(START_TIMEOUT_MS + 2_000)
      })

    it('makes topics with the partitions and retention of the specification, whoever comes first', async () => {
      const names = Object.values(TOPICS).map(({ name: base, partitions, retentionMs }) => ({
        name: `${base}-${topic.name}`,
        partitions,
        retentionMs,
      }))
      const buses = await Promise.all([1, 2, 3].map(() => topic.open({ topics: names })))
      const { partitions } = await buses[2]!.describe()
      expect(names.map(({ name: wanted }) => partitions.filter(p => p.topic === wanted).length)).to.deep.equal([6, 6, 3, 1])
      // A second look finds nothing to complain about: the retention is as it was asked for.
      const warnings: object[] = []
      await topic.open({ topics: names, log: logTo(warnings) })
      expect(warnings).to.deep.equal([])
    })

    it('says where a topic that is there differs, and uses it as it is', async () => {
      const retentionMs = 5_000_000
      await topic.open({ topics: [{ name: topic.name, partitions: 2, retentionMs }] })
      const warnings: object[] = []
      const bus = await topic.open({ topics: [{ name: topic.name, partitions: 6, retentionMs: 7_000_000 }], log: logTo(warnings) })
      expect(warnings).to.deep.equal([
        { topic: topic.name, setting: 'partitions', expected: 6, found: 2 },
        { topic: topic.name, setting: 'retention.ms', expected: 7_000_000, found: retentionMs },
      ])
      await bus.send(topic.name, [record('a', '1'), record('b', '2'), record('c', '3')])
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      expect(await readAll(subscription, 3)).to.have.length(3)
    })

    it('sets a topic right that is to be kept, and makes none where they have to be there', async () => {
      await topic.open({ topics: [{ name: topic.name, partitions: 2, retentionMs: 5_000_000 }] })
      const wanted = [{ name: topic.name, partitions: 6, retentionMs: 7_000_000 }]
      const warnings: object[] = []
      const bus = await topic.open({ topics: wanted, topicMode: 'keep', log: logTo(warnings) })
      expect((await bus.describe()).partitions).to.have.length(6)
      await topic.open({ topics: wanted, topicMode: 'existing', log: logTo(warnings) })
      expect(warnings).to.deep.equal([])
      const missing = [{ name: `missing-${topic.name}`, partitions: 1, retentionMs: 7_000_000 }]
      const refused = await topic.open({ topics: missing, topicMode: 'existing', startTimeoutMs: START_TIMEOUT_MS }).then(
        () => undefined,
        (error: unknown) => String(error),
      )
      expect(refused).to.match(/missing-.* expected in Kafka, found nothing/)
    })

    it("puts keys where Kafka's default partitioner does", async () => {
      const bus = await topic.open({ topics: [{ name: `six-${topic.name}`, partitions: 6, retentionMs: 3_600_000 }] })
      const keys = ['21', 'foobar', 'a-little-bit-long-string', 'abc', 'ключ 😀', '', ...Array.from({ length: 50 }, (_, i) => `t/${i}`)]
      await bus.send(
        `six-${topic.name}`,
        keys.map(key => record(key, key)),
      )
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [`six-${topic.name}`] })
      for (const { key, partition } of await readAll(subscription, keys.length)) expect(partition, key).to.equal(partitionOf(key, 6))
    })
  })
}

function logTo(warnings: object[]) {
  const ignore = () => undefined
  return { info: ignore, error: ignore, warn: (fields: object) => void warnings.push(fields) }
}
