/** Topics that change while they are in use: a suite for both clients. */
import { expect } from 'chai'
import kafkajs from 'kafkajs'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { backendAddress } from '../../../../../testing/real/address.ts'
import { partitionOf } from '../../../partitioner.ts'
import { nextOffsets, record, textOf } from '../../../testing/records.ts'
import type { OpenBus } from './kafka-harness.ts'
import { createTestTopic, readAll, type TestTopic } from './topics.ts'

const TEXTS = Array.from({ length: 40 }, (_, i) => `${i}`)
const RECORDS = TEXTS.map(text => record(`key ${text}`, text))

export interface ChangeSuite {
  readonly name: string
  readonly openBus: OpenBus
  /** A topic that was made anew is told from the one before. */
  readonly knowsTopics: boolean
}

export function testTopicChanges({ name, openBus, knowsTopics }: ChangeSuite): void {
  describe(`topics that change under way: ${name}`, function () {
    this.timeout(90_000)
    let topic: TestTopic
    beforeEach(() => {
      topic = createTestTopic(openBus, 'kafka', 2)
    })
    afterEach(() => topic.close())

    it('partitions that were added are read by members that were there before', async () => {
      const before = await topic.open()
      const member = await before.subscribe({ groupId: topic.group, topics: [topic.name] })
      await withAdmin(admin => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 5 }] }))
      const after = await topic.open()
      await after.send(topic.name, RECORDS)
      expect(RECORDS.some(({ key }) => partitionOf(key, 5) >= 2)).to.equal(true)
      const read: string[] = []
      for (const deadlineMs = Date.now() + 60_000; read.length < TEXTS.length && Date.now() < deadlineMs; )
        read.push(...(await member.poll({ maxRecords: 100, maxBytes: 1 << 20, waitMs: 50 })).map(textOf))
      expect(read.toSorted(byNumber)).to.deep.equal(TEXTS)
    })

    it('a group whose offsets lie behind the end of what Kafka has begins at the first record', async () => {
      const bus = await topic.open()
      const gone = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      await gone.commit([0, 1].map(partition => ({ topic: topic.name, partition, offset: 1_000_000 })))
      await gone.close()
      await bus.send(topic.name, RECORDS)
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      const read = await readAll(subscription, TEXTS.length)
      expect(read.map(textOf).toSorted(byNumber)).to.deep.equal(TEXTS)
      await subscription.commit(nextOffsets(read))
    })

    it('records that were deleted before they were read are passed over, also under a member that waits for more', async () => {
      const bus = await topic.open()
      const gone = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      await bus.send(topic.name, RECORDS)
      await gone.commit(nextOffsets((await readAll(gone, TEXTS.length)).slice(0, 5)))
      await gone.close()
      await bus.purge(topic.name)
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      await bus.send(topic.name, RECORDS)
      expect((await readAll(subscription, TEXTS.length)).map(textOf).toSorted(byNumber)).to.deep.equal(TEXTS)
      await bus.purge(topic.name)
      await bus.send(topic.name, RECORDS)
      expect((await readAll(subscription, TEXTS.length)).map(textOf).toSorted(byNumber)).to.deep.equal(TEXTS)
    })

    for (const [before, after] of [
      [4, 2],
      [2, 4],
    ] as const)
      it(`a topic made anew with ${after} partitions in place of ${before} holds all that is acknowledged, soon from a running process`, async () => {
        const changing = createTestTopic(openBus, 'kafka', before)
        try {
          const bus = await changing.open()
          const subscription = await bus.subscribe({ groupId: changing.group, topics: [changing.name] })
          // More than the topic holds afterwards: the second client tells another log by its end.
          for (let i = 0; i < 12; i++) await bus.send(changing.name, RECORDS)
          const old = await readAll(subscription, 12 * TEXTS.length)
          await subscription.commit(nextOffsets(old))
          await remake(changing.name, after)
          const acknowledged: string[] = []
          for (let round = 0, taken = 0; taken < 3; round++) {
            expect(round, 'sends that failed').to.be.below(6)
            const texts = TEXTS.map(text => `${round}-${text}`)
            const records = texts.map(text => record(`key ${text}`, text))
            const isTaken = await bus.send(changing.name, records).then(
              () => true,
              (error: unknown) => expect(error).to.include({ reason: 'unavailable' }) && false,
            )
            if (!isTaken) continue
            taken++
            acknowledged.push(...texts)
          }
          const fresh = await (await changing.open()).subscribe({ groupId: `fresh ${changing.group}`, topics: [changing.name] })
          expect((await readAll(fresh, acknowledged.length)).map(textOf)).to.include.members(acknowledged)
          const read: string[] = []
          for (const deadlineMs = Date.now() + 40_000; acknowledged.some(text => !read.includes(text)) && Date.now() < deadlineMs; )
            read.push(...(await subscription.poll({ maxRecords: 1_000, maxBytes: 1 << 20, waitMs: 50 })).map(textOf))
          expect(read).to.include.members(acknowledged)
        } finally {
          await changing.close()
        }
      })

    if (knowsTopics)
      it('a topic that was deleted and made again is written and read by those who knew the old one', async () => {
        const bus = await topic.open({ deliveryTimeoutMs: 20_000 })
        const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
        await bus.send(topic.name, RECORDS)
        const read = await readAll(subscription, TEXTS.length)
        await subscription.commit(nextOffsets(read))
        await withAdmin(admin => admin.deleteTopics({ topics: [topic.name] }))
        await topic.open()
        await bus.send(topic.name, RECORDS)
        expect((await readAll(subscription, TEXTS.length, 40_000)).map(textOf).toSorted(byNumber)).to.deep.equal(TEXTS)
      })
  })
}

const byNumber = (a: string, b: string) => Number(a) - Number(b)

/** Deletes a topic and makes it again. */
async function remake(topic: string, numPartitions: number): Promise<void> {
  await withAdmin(async admin => {
    await admin.deleteTopics({ topics: [topic] })
    while ((await admin.listTopics()).includes(topic)) await new Promise(resolve => setTimeout(resolve, 50))
    // Its own wait for leaders may fail once the topic is made, and a further attempt says no more than that it is there.
    const made = { topics: [{ topic, numPartitions, replicationFactor: 1 }], waitForLeaders: false }
    for (let attempt = 0; attempt < 100 && !(await admin.listTopics()).includes(topic); attempt++) {
      await admin.createTopics(made).catch(() => undefined)
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  })
}

async function withAdmin(work: (admin: kafkajs.Admin) => Promise<unknown>): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: backendAddress('kafka').split(','), logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    await work(admin)
  } finally {
    await admin.disconnect()
  }
}
