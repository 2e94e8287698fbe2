/** Brokers that are frozen, killed and stopped under load: suites for both clients. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { ConsumedRecord } from '../../../../../ports/bus.ts'
import { freezeBroker, restartBroker, stopBroker, thawBroker } from '../../../../../testing/real/kafka-server.ts'
import { expectExactly, includesAll, keyOf, POLL, readLog, type Sent, startLoad, startReader } from '../../../testing/load.ts'
import { reasonOf, record, textOf } from '../../../testing/records.ts'
import type { OpenBus } from './kafka-harness.ts'
import { createTestTopic, type TestTopic } from './topics.ts'

export interface FaultSuite {
  readonly name: string
  readonly openBus: OpenBus
  /** A rebalance takes only those partitions away that move, and waits for what is under way: nothing is handed out twice. */
  readonly isCooperative: boolean
}

/** A cluster of three brokers that loses some of them, and groups whose members come and go. */
export function testClusterFaults({ name, openBus, isCooperative }: FaultSuite): void {
  describe(`a cluster with faults: ${name}`, function () {
    this.timeout(120_000) // a broker that starts on a busy machine takes most of it
    let topic: TestTopic
    let test: AbortController
    beforeEach(() => {
      topic = createTestTopic(openBus, 'kafka-3', 6)
      test = new AbortController()
    })
    afterEach(() => {
      test.abort()
      return topic.close()
    })

    it('a broker is killed and comes back under load: nothing acknowledged is lost or written twice, keys keep their order', async () => {
      const bus = await topic.open()
      const load = startLoad(bus, topic.name, test.signal)
      const reader = startReader(await bus.subscribe({ groupId: topic.group, topics: [topic.name] }), test.signal)
      await sleep(1_500)
      await stopBroker('kafka-3', 1, 'SIGKILL')
      await sleep(8_000)
      await restartBroker('kafka-3', 1)
      await sleep(2_000)
      const sent = await load.stop()
      const read = await reader.stop(sent)
      expectExactly(sent, read, { mayRepeat: !isCooperative })
      expectExactly(sent, await readLog(await topic.open(), topic, sent), { mayRepeat: false })
    })

    it('leaders move when a broker is stopped in order: nothing is lost, refused or written twice', async () => {
      const bus = await topic.open()
      const load = startLoad(bus, topic.name, test.signal)
      const reader = startReader(await bus.subscribe({ groupId: topic.group, topics: [topic.name] }), test.signal)
      await sleep(1_000)
      await stopBroker('kafka-3', 2, 'SIGTERM')
      await sleep(1_500)
      await restartBroker('kafka-3', 2)
      await sleep(1_000)
      const sent = await load.stop()
      const read = await reader.stop(sent)
      expect([...new Set(sent.refused.map(({ why }) => why))], 'sends refused').to.deep.equal([])
      expectExactly(sent, read, { mayRepeat: !isCooperative })
      expectExactly(sent, await readLog(await topic.open(), topic, sent), { mayRepeat: false })
    })

    it('members come and go under load: each record is worked on, and committed by one of them', async () => {
      const bus = await topic.open()
      const load = startLoad(bus, topic.name, test.signal)
      const join = async () =>
        startReader(await (await topic.open({ handoverMs: 2_000 })).subscribe({ groupId: topic.group, topics: [topic.name] }), test.signal)
      const first = await join()
      await sleep(500)
      const second = await join()
      await sleep(1_000)
      const third = await join()
      await sleep(1_000)
      const read = [...(await first.leave()), ...(await second.leave())]
      await sleep(1_000)
      const sent = await load.stop()
      read.push(...(await third.stop(sent, read)))
      expectExactly(sent, read, { mayRepeat: !isCooperative, isOrdered: false })
      const committed = await bus.committedOffsets(topic.group)
      const { partitions } = await bus.describe()
      expect(committed.map(({ offset }) => offset)).to.deep.equal(
        partitions
          .filter(({ endOffset }) => endOffset > 0)
          .toSorted((a, b) => a.partition - b.partition)
          .map(({ endOffset }) => endOffset),
      )
    })
  })
}

/** A broker that is the only one: what the bus says while it is away. */
export function testBrokerFaults({ name, openBus }: FaultSuite): void {
  describe(`the only broker has faults: ${name}`, function () {
    this.timeout(120_000) // a broker that starts on a busy machine takes most of it
    let topic: TestTopic
    let test: AbortController
    beforeEach(() => {
      topic = createTestTopic(openBus, 'kafka', 3)
      test = new AbortController()
    })
    afterEach(() => {
      test.abort()
      return topic.close()
    })

    it('frozen: every request ends as unavailable in time; afterwards all goes on, and what was acknowledged is there', async () => {
      const bus = await topic.open({ deliveryTimeoutMs: 3_000, requestTimeoutMs: 1_000, startTimeoutMs: 8_000 })
      const sent: Sent = { acknowledged: [], refused: [] }
      const send = async (text: string) =>
        bus.send(topic.name, [record(keyOf(sent.acknowledged.length), text)]).then(
          () => sent.acknowledged.push({ key: keyOf(sent.acknowledged.length), text }),
          (error: unknown) => {
            sent.refused.push({ text, why: String(error) })
            throw error
          },
        )
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      for (let i = 0; i < 20; i++) await send(`before ${i}`)
      const read: ConsumedRecord[] = []
      await freezeBroker('kafka', 1)
      try {
        const startedMs = Date.now()
        const requests: Readonly<Record<string, Promise<unknown>>> = {
          send: send('frozen'),
          describe: bus.describe(),
          committedOffsets: bus.committedOffsets(topic.group),
          commit: subscription.commit([{ topic: topic.name, partition: 0, offset: 0 }]),
          subscribe: bus.subscribe({ groupId: `${topic.group}-new`, topics: [topic.name] }),
        }
        for (const [what, request] of Object.entries(requests)) expect(await reasonOf(request), what).to.equal('unavailable')
        expect(Date.now() - startedMs, 'ms until all have ended').to.be.below(12_000)
        read.push(...(await subscription.poll({ ...POLL, waitMs: 100 })))
      } finally {
        thawBroker('kafka', 1)
      }
      for (let i = 0; i < 20; i++) await untilSent(() => send(`after ${i}`))
      for (const deadlineMs = Date.now() + 40_000; !includesAll(read, sent.acknowledged) && Date.now() < deadlineMs; )
        read.push(...(await subscription.poll(POLL)))
      const texts = new Set(read.map(textOf))
      expect(
        sent.acknowledged.filter(({ text }) => !texts.has(text)),
        'not handed out',
      ).to.deep.equal([])
      const log = (await readLog(await topic.open(), topic, sent)).map(textOf)
      for (const { text } of sent.acknowledged)
        expect(
          log.filter(seen => seen === text),
          text,
        ).to.have.length(1)
    })

    it('frozen: it can be stopped in time, also with sends and a poll under way', async () => {
      const bus = await topic.open({ deliveryTimeoutMs: 3_000, requestTimeoutMs: 1_000 })
      const subscription = await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      await freezeBroker('kafka', 1)
      try {
        const big = Array.from({ length: 40 }, (_, i) => ({ key: keyOf(i), value: Buffer.alloc(200_000, i) }))
        const sends = [1, 2, 3].map(() => reasonOf(bus.send(topic.name, big)))
        const polling = subscription.poll({ ...POLL, waitMs: 60_000 })
        await sleep(500)
        const startedMs = Date.now()
        await bus.stop()
        expect(Date.now() - startedMs, 'ms to stop').to.be.below(10_000)
        expect(await Promise.all(sends)).to.deep.equal(['unavailable', 'unavailable', 'unavailable'])
        expect(await polling).to.deep.equal([])
      } finally {
        thawBroker('kafka', 1)
      }
    })

    it('frozen: it can be stopped while a member joins, and leaves nothing open, also once the broker goes on', async () => {
      await sleep(1) // only then the timer of this test itself is there
      const before = openResources()
      const bus = await topic.open({ deliveryTimeoutMs: 3_000, requestTimeoutMs: 1_000 })
      await bus.subscribe({ groupId: topic.group, topics: [topic.name] })
      await bus.send(topic.name, [record('k', 'before')])
      await freezeBroker('kafka', 1)
      try {
        const underWay = [
          reasonOf(bus.subscribe({ groupId: `${topic.group}-new`, topics: [topic.name] })),
          reasonOf(bus.send(topic.name, [record('k', 'frozen')])),
          reasonOf(bus.committedOffsets(topic.group)),
        ]
        await sleep(500)
        const startedMs = Date.now()
        await bus.stop()
        expect(Date.now() - startedMs, 'ms to stop').to.be.below(10_000)
        for (const reason of await Promise.all(underWay)) expect(reason).to.be.oneOf(['unavailable', 'closed'])
      } finally {
        thawBroker('kafka', 1)
      }
      const left = () => [...openResources()].filter(([name, count]) => count > (before.get(name) ?? 0))
      for (const deadlineMs = Date.now() + 8_000; left().length > 0 && Date.now() < deadlineMs; ) await sleep(100)
      await sleep(500)
      expect(left(), 'left open').to.deep.equal([])
    })

    it('killed and started again: nothing acknowledged is lost or written twice', async () => {
      const bus = await topic.open({ deliveryTimeoutMs: 30_000 })
      const load = startLoad(bus, topic.name, test.signal)
      const reader = startReader(await bus.subscribe({ groupId: topic.group, topics: [topic.name] }), test.signal)
      await sleep(1_000)
      await stopBroker('kafka', 1, 'SIGKILL')
      await sleep(1_000)
      await restartBroker('kafka', 1)
      await sleep(2_000)
      const sent = await load.stop()
      expectExactly(sent, await reader.stop(sent), { mayRepeat: true })
      expectExactly(sent, await readLog(await topic.open(), topic, sent), { mayRepeat: false })
    })
  })
}

async function untilSent(send: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await send()
      return
    } catch (error) {
      if (attempt === 10) throw error
    }
  }
}

/** Resources that keep the process alive, counted by kind. */
function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
