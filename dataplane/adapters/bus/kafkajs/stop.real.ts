import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import kafkajs, { type Kafka } from 'kafkajs'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { backendAddress } from '../../../testing/real/address.ts'
import { createTestTopic, type TestTopic } from '../kafka/both-clients/testing/topics.ts'
import { record } from '../testing/records.ts'
import { createAssigner } from './group-assignment.ts'
import { openKafkaJsBus } from './kafkajs-bus.ts'

export const needs = ['kafka']

describe('stopping a bus of kafkajs', function () {
  this.timeout(40_000)
  let topic: TestTopic
  beforeEach(() => {
    topic = createTestTopic(openKafkaJsBus, 'kafka', 1)
  })
  afterEach(() => topic.close())

  it('while a member waits for the others of its group leaves nothing open', async () => {
    const bus = await topic.open()
    await bus.send(topic.name, [record('k', 'one')])
    const kafka = new kafkajs.Kafka({ brokers: backendAddress('kafka').split(','), logLevel: kafkajs.logLevel.NOTHING })
    const leave = await joinAndStandStill(kafka, topic)
    const before = openSockets()
    try {
      const stopped = await topic.open()
      const joining = stopped.subscribe({ groupId: topic.group, topics: [topic.name] }).catch((error: unknown) => error)
      await untilRebalancing(kafka, topic.group)
      await stopped.stop()
      expect(await joining).to.include({ name: 'BusError', reason: 'closed' })
      for (const deadlineMs = Date.now() + 2_000; openSockets() > before && Date.now() < deadlineMs; ) await sleep(20)
      expect(openSockets()).to.equal(before)
    } finally {
      await leave()
    }
  })
})

/** A member that works on one record, and as long takes no part in rebalances: who joins waits for it. */
async function joinAndStandStill(kafka: Kafka, { name, group }: TestTopic): Promise<() => Promise<void>> {
  const consumer = kafka.consumer({ groupId: group, partitionAssigners: [createAssigner(false)], rebalanceTimeout: 60_000 })
  const { promise: isWorking, resolve: startWork } = Promise.withResolvers<void>()
  const { promise: work, resolve: endWork } = Promise.withResolvers<void>()
  await consumer.connect()
  await consumer.subscribe({ topic: name, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    async eachMessage() {
      startWork()
      await work
    },
  })
  await isWorking
  return async () => {
    endWork()
    await consumer.disconnect()
  }
}

async function untilRebalancing(kafka: Kafka, groupId: string): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  for (let state = ''; state !== 'PreparingRebalance'; ) state = (await admin.describeGroups([groupId])).groups[0]!.state
  await admin.disconnect()
}

const openSockets = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
