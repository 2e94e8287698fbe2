/** Defects of Kafka clients for Node, tried on both clients of the bus. */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import kafkajs from 'kafkajs'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { backendAddress } from '../../../../../testing/real/address.ts'
import { nextOffsets, reasonOf, record, textOf } from '../../../testing/records.ts'
import type { OpenBus } from './kafka-harness.ts'
import { createTestTopic, readAll, type TestTopic } from './topics.ts'

const ROUNDS = 20

/** Defects of Kafka clients for Node that were seen on a real broker; the bus must not have them. */
export function testClientDefects(name: string, openBus: OpenBus): void {
  describe(`defects of Kafka clients: ${name}`, function () {
    this.timeout(40_000)
    let topic: TestTopic
    beforeEach(() => {
      topic = createTestTopic(openBus, 'kafka', 1)
    })
    afterEach(() => topic.close())

    describe('records of aborted transactions are never handed out', () => {
      it('when one producer aborted several that come in one answer', async () => {
        const bus = await topic.open()
        await withTransactionalProducer(async producer => {
          for (const step of ['abort', 'abort', 'commit', 'abort', 'commit'] as const) {
            const transaction = await producer.transaction()
            await transaction.send({ topic: topic.name, messages: [{ value: step }, { value: step }] })
            await transaction[step]()
          }
        })
        const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
        expect((await readAll(subscription, 4)).map(textOf)).to.deep.equal(['commit', 'commit', 'commit', 'commit'])
      })

      it('when the marker that ends one comes in a later answer than its records', async () => {
        const bus = await topic.open()
        await withTransactionalProducer(async producer => {
          const transaction = await producer.transaction()
          // Incompressible, and several times what one answer holds.
          for (let i = 0; i < 12; i++) await transaction.send({ topic: topic.name, messages: [{ value: randomBytes(400_000) }] })
          await transaction.abort()
        })
        await bus.send(topic.name, [record('k', 'after')])
        const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
        expect((await readAll(subscription, 1)).map(textOf)).to.deep.equal(['after'])
      })

      it('nor do markers without records do harm', async () => {
        const bus = await topic.open()
        await withTransactionalProducer(async producer => {
          for (let i = 0; i < 3; i++) {
            const transaction = await producer.transaction()
            const tooLarge = transaction.send({ topic: topic.name, messages: [{ value: randomBytes(3_000_000) }] })
            await tooLarge.catch(() => undefined)
            await transaction.abort()
          }
        })
        await bus.send(topic.name, [record('k', 'after')])
        const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
        expect((await readAll(subscription, 1)).map(textOf)).to.deep.equal(['after'])
      })

      it('while one is open, what comes after it waits', async () => {
        const bus = await topic.open()
        const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
        await withTransactionalProducer(async producer => {
          const transaction = await producer.transaction()
          await transaction.send({ topic: topic.name, messages: [{ value: 'open' }] })
          await bus.send(topic.name, [record('k', 'after')])
          expect(await subscription.poll({ maxRecords: 10, maxBytes: 1000, waitMs: 500 })).to.deep.equal([])
          await transaction.commit()
        })
        expect((await readAll(subscription, 2)).map(textOf)).to.deep.equal(['open', 'after'])
      })
    })

    it('a record that the broker takes for too large, though the topic said otherwise, is refused for good; others are written before and behind it', async () => {
      const bus = await topic.open()
      await lowerMaxMessageBytes(topic.name, 20_000)
      await bus.send(topic.name, [record('k', 'before')])
      const tooLarge = { key: 'k', value: randomBytes(100_000) }
      expect(await reasonOf(bus.send(topic.name, [tooLarge]))).to.equal('record-too-large')
      await bus.send(topic.name, [record('k', 'behind')])

      const refused = await bus.beginTransaction()
      const sending = refused.send(topic.name, [tooLarge]).then(() => refused.commit())
      expect(await reasonOf(sending), 'in a transaction').to.equal('record-too-large')
      await refused.abort().catch(() => undefined)
      const next = await bus.beginTransaction()
      await next.send(topic.name, [record('k', 'in the next transaction')])
      await next.commit()
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      expect((await readAll(subscription, 3)).map(textOf)).to.deep.equal(['before', 'behind', 'in the next transaction'])
    })

    it('records whose producer gives no time, or one in seconds, are of now: their documents would be of 1970, which retention deletes', async () => {
      const bus = await topic.open()
      await alterTopic(topic.name, 'message.timestamp.type', 'CreateTime')
      const beforeMs = Date.now()
      const producer = newClient().producer({ createPartitioner: DefaultPartitioner })
      await producer.connect()
      const times = ['-1', String(Math.floor(beforeMs / 1_000)), String(beforeMs - 5)]
      await producer.send({ topic: topic.name, messages: times.map(timestamp => ({ value: timestamp, timestamp })) })
      await producer.disconnect()
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      const seen = (await readAll(subscription, 3)).map(({ timestampMs }) => timestampMs)
      expect(seen[2]).to.equal(beforeMs - 5)
      for (const ms of seen.slice(0, 2)) expect(ms).to.be.within(beforeMs, Date.now())
    })

    it('a partition that is full is paused alone: the others go on, and memory stays bounded', async () => {
      await topic.close()
      topic = createTestTopic(openBus, 'kafka', 2)
      const bus = await topic.open({ maxPrefetchBytes: 1 << 20 })
      const [busy, quiet] = keysOfPartitions(2)
      // 64 MB: what is not paused would be read ahead.
      for (let i = 0; i < 16; i++)
        await bus.send(
          topic.name,
          Array.from({ length: 16 }, () => ({ key: busy!, value: randomBytes(250_000) })),
        )
      const before = process.memoryUsage().arrayBuffers
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      const one = { maxRecords: 1, maxBytes: 1, waitMs: 500 }
      await subscription.poll(one)
      for (let i = 0; i < 5; i++) await bus.send(topic.name, [record(quiet!, `quiet ${i}`)])
      const seen: string[] = []
      for (let i = 0; i < 40 && seen.length < 5; i++)
        for (const polled of await subscription.poll(one)) if (polled.key === quiet) seen.push(textOf(polled))
      expect(seen).to.deep.equal(['quiet 0', 'quiet 1', 'quiet 2', 'quiet 3', 'quiet 4'])
      expect((process.memoryUsage().arrayBuffers - before) / 1e6, 'MB read ahead').to.be.below(25)
    })

    it('a transactional id is taken over by the later process: what the earlier one left open is gone, and it is refused', async () => {
      const transactionalId = `id-${randomUUID()}`
      const earlier = await topic.open({ transactionalId })
      const first = await earlier.beginTransaction()
      await first.send(topic.name, [record('k', 'first')])
      await first.commit()

      const later = await topic.open({ transactionalId })
      const second = await later.beginTransaction()
      await second.send(topic.name, [record('k', 'second')])
      await second.commit()

      const zombie = await earlier.beginTransaction()
      await zombie.send(topic.name, [record('k', 'zombie')])
      expect(await reasonOf(zombie.commit())).to.equal('closed')
      const again = await earlier.beginTransaction()
      await again.send(topic.name, [record('k', 'zombie')])
      expect(await reasonOf(again.commit()), 'and stays out').to.equal('closed')

      const third = await later.beginTransaction()
      await third.send(topic.name, [record('k', 'third')])
      await third.commit()
      const subscription = await later.subscribe({ groupId: topic.group, topics: [topic.name] })
      expect((await readAll(subscription, 3)).map(textOf)).to.deep.equal(['first', 'second', 'third'])
    })

    it('empty transactions end, however often', async () => {
      const bus = await topic.open()
      for (let i = 0; i < ROUNDS; i++) {
        const transaction = await bus.beginTransaction()
        await (i % 2 === 0 ? transaction.commit() : transaction.abort())
      }
      const transaction = await bus.beginTransaction()
      await transaction.send(topic.name, [record('k', 'one')])
      await transaction.commit()
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      expect((await readAll(subscription, 1)).map(textOf)).to.deep.equal(['one'])
    })

    it('offsets committed in a transaction are seen by whoever asks afterwards', async () => {
      const bus = await topic.open()
      const other = await topic.open()
      const stale: number[] = []
      for (let offset = 1; offset <= ROUNDS; offset++) {
        const transaction = await bus.beginTransaction()
        await transaction.send(topic.name, [record('k', `${offset}`)])
        await transaction.sendOffsets(topic.group, [{ topic: topic.name, partition: 0, offset }])
        await transaction.commit()
        const committed = await other.committedOffsets(topic.group)
        if (committed[0]?.offset !== offset) stale.push(offset)
      }
      expect(stale, `stale of ${ROUNDS}`).to.deep.equal([])
    })

    it('a batch of which gigabytes could come out becomes one record that says so; those before and behind it are read', async () => {
      const bus = await topic.open()
      await bus.send(topic.name, [record('k', 'before')])
      const producer = newClient().producer({ createPartitioner: DefaultPartitioner })
      await producer.connect()
      await producer.send({
        topic: topic.name,
        compression: kafkajs.CompressionTypes.GZIP,
        messages: [{ value: Buffer.alloc(70_000_000) }],
      })
      await producer.disconnect()
      await bus.send(topic.name, [record('k', 'after')])
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      const records = await readAll(subscription, 3)
      expect(records.map(({ unreadable }) => unreadable !== undefined)).to.deep.equal([false, true, false])
      expect([records[0]!, records[2]!].map(textOf)).to.deep.equal(['before', 'after'])
      expect(records[1]!.unreadable).to.contain('more than 67108864 bytes come out')
      expect(records.map(({ offset }) => offset)).to.deep.equal([0, 1, 2])
      await subscription.commit(nextOffsets(records))
    })

    it('batches of lz4 that lie about their length, which Kafka takes, are read, and spoil no others', async () => {
      const bus = await topic.open()
      kafkajs.CompressionCodecs[kafkajs.CompressionTypes.LZ4] = () => ({
        compress: async ({ buffer }: { readonly buffer: Buffer }) => lyingLz4(buffer),
        decompress: () => Promise.reject(new Error('not needed')),
      })
      const producer = newClient().producer({ createPartitioner: DefaultPartitioner })
      await producer.connect()
      const send = () => producer.send({ topic: topic.name, compression: kafkajs.CompressionTypes.LZ4, messages: [{ value: 'a lie' }] })
      for (let i = 0; i < 10; i++) await send()
      await producer.disconnect()
      await bus.send(topic.name, [record('k', 'a line of log '.repeat(500))])
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      const records = await readAll(subscription, 11)
      expect(records.map(of => of.unreadable ?? textOf(of).slice(0, 6))).to.deep.equal([...Array(10).fill('a lie'), 'a line'])
    })

    it('a member that takes over right after a transaction starts at its offsets', async () => {
      const bus = await topic.open()
      await bus.send(
        topic.name,
        Array.from({ length: 10 }, (_, i) => record('k', `${i}`)),
      )
      const handedOut: string[] = []
      for (let i = 0; i < 5; i++) {
        const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
        const records = await subscription.poll({ maxRecords: 2, maxBytes: 1 << 20, waitMs: 5_000 })
        handedOut.push(...records.map(textOf))
        const transaction = await bus.beginTransaction()
        await transaction.sendOffsets(topic.group, nextOffsets(records))
        await transaction.commit()
        await subscription.close()
      }
      expect(handedOut).to.deep.equal(Array.from({ length: 10 }, (_, i) => `${i}`))
    })

    it('a send to a topic that was just created writes each record once', async () => {
      for (let round = 0; round < 5; round++) {
        const fresh = createTestTopic(openBus, 'kafka', 6)
        const bus = await fresh.open()
        const texts = Array.from({ length: 60 }, (_, i) => `${i}`)
        await bus.send(
          fresh.name,
          texts.map(text => record(`key ${text}`, text)),
        )
        const subscription = await bus.subscribe({ groupId: fresh.group, topics: [fresh.name] })
        expect((await readAll(subscription, 60)).map(textOf).sort()).to.deep.equal(texts.sort())
        await fresh.close()
      }
    })
  })
}

/** Behind the back of a bus that knows the topic's limit since it was opened. */
const lowerMaxMessageBytes = (topic: string, bytes: number) => alterTopic(topic, 'max.message.bytes', String(bytes))

/** Its other settings become those of the brokers. */
async function alterTopic(topic: string, name: string, value: string): Promise<void> {
  const admin = newClient().admin()
  await admin.connect()
  const configEntries = [{ name, value }]
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }],
  })
  await admin.disconnect()
}

/** Kafka's default partitioning puts each into the partition of its place. */
function keysOfPartitions(count: number): readonly (string | undefined)[] {
  const keys: string[] = []
  for (let i = 0; keys.filter(key => key !== undefined).length < count; i++) keys[partitionOfKey(`key ${i}`, count)] ??= `key ${i}`
  return keys
}

const { DefaultPartitioner } = kafkajs.Partitioners

/** By another implementation than the bus's own. */
function partitionOfKey(key: string, partitions: number): number {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({ partitionId, leader: 1 }))
  return DefaultPartitioner()({ topic: 't', partitionMetadata: partitionMetadata as never, message: { key, value: null } })
}

const newClient = () => new kafkajs.Kafka({ brokers: backendAddress('kafka').split(','), logLevel: kafkajs.logLevel.NOTHING })

async function withTransactionalProducer(work: (producer: kafkajs.Producer) => Promise<void>): Promise<void> {
  const producer = newClient().producer({
    idempotent: true,
    transactionalId: `test-${randomUUID()}`,
    maxInFlightRequests: 1,
    createPartitioner: DefaultPartitioner,
  })
  await producer.connect()
  try {
    await work(producer)
  } finally {
    await producer.disconnect()
  }
}

/** An lz4 frame that says that a terabyte comes out of it. */
function lyingLz4(plain: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(plain.length + 0x80000000)
  const checksum = 0xb7
  return Buffer.concat([
    Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x68, 0x40, 0, 0, 0, 0, 0, 1, 0, 0, checksum]),
    length,
    plain,
    Buffer.alloc(4),
  ])
}
