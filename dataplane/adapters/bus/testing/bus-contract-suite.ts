/** The contract of every bus (`ports/bus.ts`): a suite that each adapter runs. */
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import {
  type Bus,
  BusError,
  type BusErrorReason,
  type BusRecord,
  type ConsumedRecord,
  type Subscription,
  type SubscriptionConfig,
  type TopicPartition,
} from '../../../ports/bus.ts'
import { nextOffsets, record, textOf } from './records.ts'

/** A running bus with two empty topics. */
export interface BusHarness {
  readonly bus: Bus
  readonly topics: {
    /** Has 3 partitions. */
    readonly keyed: string
    /** Has 1 partition. */
    readonly single: string
  }
  /** Another client of the same bus, as another thread or process would have it. */
  connect(): Promise<Bus>
  /** Stops all clients and opens the bus anew over the same data. */
  reopen(): Promise<Bus>
  close(): Promise<void>
}

const LIMITS = { maxRecords: 1000, maxBytes: 8 << 20, waitMs: 50 }
/** A bus may need a few polls to hand out partitions; one that never does must end the test. */
const MAX_IDLE_POLLS = 200

const numbered = (count: number, key = (i: number) => `key-${i % 7}`) =>
  Array.from({ length: count }, (_, i) => record(key(i), `value ${i}`))

/** Polls until there are `count` records. */
async function read(subscription: Subscription, count: number, maxRecords = LIMITS.maxRecords): Promise<ConsumedRecord[]> {
  const records: ConsumedRecord[] = []
  for (let idle = 0; records.length < count && idle < MAX_IDLE_POLLS; ) {
    const polled = await subscription.poll({ ...LIMITS, maxRecords })
    if (polled.length === 0) idle++
    records.push(...polled)
  }
  expect(records, 'records read').to.have.length(count)
  return records
}

/** Polls all members in turn until `isDone`; returns what was read by whom. */
async function pollUntil(
  members: readonly Subscription[],
  isDone: (read: readonly ConsumedRecord[][]) => boolean,
): Promise<ConsumedRecord[][]> {
  const results: ConsumedRecord[][] = members.map(() => [])
  for (let round = 0; round < MAX_IDLE_POLLS && !isDone(results); round++)
    for (const [index, member] of members.entries()) results[index]!.push(...(await member.poll({ ...LIMITS, waitMs: 5 })))
  expect(isDone(results), 'the group settled').to.equal(true)
  return results
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function expectBusError(work: Promise<unknown>, reason?: BusErrorReason): Promise<void> {
  const error = await failureOf(work)
  expect(error).to.be.instanceOf(BusError)
  if (reason !== undefined) expect((error as BusError).reason).to.equal(reason)
}

async function lagOf(bus: Bus, groupId: string, topic: string): Promise<number> {
  const { partitions } = await bus.describe()
  const committed = await bus.committedOffsets(groupId)
  return partitions
    .filter(state => state.topic === topic)
    .reduce((lag, { partition, startOffset, endOffset }) => {
      const offset = committed.find(c => c.topic === topic && c.partition === partition)?.offset ?? startOffset
      return lag + endOffset - offset
    }, 0)
}

/** The contract of every adapter of the bus port. */
export function testBusContract(name: string, makeHarness: () => Promise<BusHarness>): void {
  describe(`bus contract: ${name}`, () => {
    let harness: BusHarness
    let bus: Bus
    let keyed: string
    let single: string
    const open = (config: Partial<SubscriptionConfig> = {}, client = bus) =>
      client.subscribe({ groupId: 'group', topics: [keyed], ...config })

    beforeEach(async () => {
      harness = await makeHarness()
      bus = harness.bus
      keyed = harness.topics.keyed
      single = harness.topics.single
    })
    afterEach(() => harness.close())

    describe('records', () => {
      it('come back as they were sent, whatever their bytes, headers and size', async () => {
        const sent: BusRecord[] = [
          { key: 'k', value: Buffer.alloc(0) },
          { key: 'k', value: Buffer.from([0, 255, 10, 13, 0]), headers: { reason: 'zerlegt – “nein”', empty: '' } },
          { key: 'ключ 😀', value: Buffer.alloc(900 * 1024, 'abcdefg') },
          { key: 'k', value: Buffer.from('plain'), headers: {} },
        ]
        await bus.send(single, sent)
        const got = await read(await open({ topics: [single] }), sent.length)
        expect(got.map(({ key, headers }) => ({ key, headers }))).to.deep.equal(sent.map(({ key, headers = {} }) => ({ key, headers })))
        expect(got.map(({ value }) => Buffer.from(value))).to.deep.equal(sent.map(({ value }) => value))
        for (const { topic, partition, timestampMs } of got) {
          expect({ topic, partition }).to.deep.equal({ topic: single, partition: 0 })
          expect(timestampMs).to.be.a('number').above(0)
        }
      })

      it('of one key go to one partition and keep their order, over many sends', async () => {
        const sends = Array.from({ length: 20 }, (_, send) =>
          numbered(50, i => `key-${i % 7}`).map(r => record(r.key, `${send}: ${Buffer.from(r.value)}`)),
        )
        await Promise.all(sends.map(records => bus.send(keyed, records)))
        const got = await read(await open(), 1000)
        for (const [key, ofKey] of Map.groupBy(got, r => r.key)) {
          expect(new Set(ofKey.map(r => r.partition)).size, key).to.equal(1)
          expect(ofKey.map(textOf)).to.deep.equal(
            sends
              .flat()
              .filter(r => r.key === key)
              .map(r => Buffer.from(r.value).toString()),
          )
        }
        expect(new Set(got.map(r => r.partition)).size, 'partitions in use').to.be.above(1)
      })

      it('have offsets that grow within the partition', async () => {
        await bus.send(keyed, numbered(100))
        await bus.send(keyed, numbered(100))
        for (const ofPartition of Map.groupBy(await read(await open(), 200), r => r.partition).values())
          for (let i = 1; i < ofPartition.length; i++) expect(ofPartition[i]!.offset).to.be.above(ofPartition[i - 1]!.offset)
      })

      it('need not be any', async () => {
        await bus.send(keyed, [])
        expect(await (await open()).poll({ ...LIMITS, waitMs: 0 })).to.deep.equal([])
      })

      it('larger than the bus will ever take are refused as record-too-large, the others of the send may be written', async () => {
        await expectBusError(bus.send(single, [{ key: 'k', value: Buffer.alloc(48 << 20) }]), 'record-too-large')
        await bus.send(single, [record('k', 'next')])
        expect((await read(await open({ topics: [single] }), 1)).map(textOf)).to.deep.equal(['next'])
      })

      it('are gone after a purge; what comes later has later offsets', async () => {
        await bus.send(single, [record('k', 'one'), record('k', 'two')])
        await bus.purge(single)
        await bus.send(single, [record('k', 'three')])
        const [left] = await read(await open({ topics: [single] }), 1)
        expect([textOf(left!), left!.offset]).to.deep.equal(['three', 2])
        const { partitions } = await bus.describe()
        expect(partitions.find(({ topic }) => topic === single)).to.include({ startOffset: 2, endOffset: 3 })
      })

      it('hold their value after later polls', async () => {
        const subscription = await open({ topics: [single] })
        await bus.send(single, [record('k', 'first')])
        const [first] = await read(subscription, 1)
        await bus.send(single, numbered(500))
        await read(subscription, 500)
        expect(textOf(first!)).to.equal('first')
      })
    })

    describe('poll', () => {
      it('keeps to maxRecords, and loses nothing between two polls', async () => {
        await bus.send(single, numbered(25))
        const subscription = await open({ topics: [single] })
        const got: ConsumedRecord[] = []
        for (let i = 0; i < MAX_IDLE_POLLS && got.length < 25; i++) {
          const polled = await subscription.poll({ ...LIMITS, maxRecords: 10 })
          expect(polled.length).to.be.at.most(10)
          got.push(...polled)
        }
        expect(got.map(textOf)).to.deep.equal(numbered(25).map(r => Buffer.from(r.value).toString()))
      })

      it('keeps to maxBytes, but always hands out a first record', async () => {
        await bus.send(
          single,
          Array.from({ length: 6 }, (_, i) => ({ key: 'k', value: Buffer.alloc(1000, i) })),
        )
        const subscription = await open({ topics: [single] })
        const sizes: number[] = []
        for (let i = 0; i < MAX_IDLE_POLLS && sizes.reduce((a, b) => a + b, 0) < 6; i++)
          sizes.push((await subscription.poll({ ...LIMITS, maxBytes: sizes.some(size => size > 0) ? 2500 : 10 })).length)
        expect(sizes.filter(size => size > 0)).to.deep.equal([1, 2, 2, 1])
      })

      it('is empty after waitMs without records', async () => {
        expect(await (await open()).poll({ ...LIMITS, waitMs: 1 })).to.deep.equal([])
      })

      it('wakes up when a record arrives, also from another client', async () => {
        const other = await harness.connect()
        const subscription = await open({ topics: [single] })
        await pollUntil([subscription], () => subscription.assignment().length > 0)
        const waiting = subscription.poll({ ...LIMITS, waitMs: 9000 })
        await other.send(single, [record('k', 'from elsewhere')])
        expect((await waiting).map(textOf)).to.deep.equal(['from elsewhere'])
      })

      it('ends empty when the subscription is closed meanwhile, and is empty afterwards', async () => {
        const subscription = await open()
        const waiting = subscription.poll({ ...LIMITS, waitMs: 9000 })
        await subscription.close()
        expect(await waiting).to.deep.equal([])
        expect(await subscription.poll(LIMITS)).to.deep.equal([])
      })

      it('hands out records of all subscribed topics', async () => {
        await bus.send(keyed, [record('a', 'keyed')])
        await bus.send(single, [record('b', 'single')])
        const got = await read(await open({ topics: [keyed, single] }), 2)
        expect(new Map(got.map(r => [r.topic, textOf(r)]))).to.deep.equal(
          new Map([
            [keyed, 'keyed'],
            [single, 'single'],
          ]),
        )
      })
    })

    describe('consumer groups', () => {
      it('resume at the committed offset; what was not committed is read again', async () => {
        await bus.send(single, numbered(10))
        const first = await open({ topics: [single] })
        const got = await read(first, 10)
        await first.commit(nextOffsets(got.slice(0, 4)))
        await first.close()
        expect((await read(await open({ topics: [single] }), 6)).map(textOf)).to.deep.equal(got.slice(4).map(textOf))
      })

      it('resume after the bus was stopped and opened again', async () => {
        await bus.send(keyed, numbered(50))
        const subscription = await open()
        const got = await read(subscription, 50)
        await subscription.commit(nextOffsets(got))
        const reopened = await harness.reopen()
        await reopened.send(keyed, [record('k', 'after')])
        expect((await read(await open({}, reopened), 1)).map(textOf)).to.deep.equal(['after'])
        expect(await read(await open({ groupId: 'fresh' }, reopened), 51)).to.have.length(51)
      })

      it('may move their offsets back', async () => {
        await bus.send(single, numbered(3))
        const first = await open({ topics: [single] })
        const got = await read(first, 3)
        await first.commit(nextOffsets(got))
        await first.commit([{ topic: single, partition: 0, offset: got[1]!.offset }])
        await first.close()
        expect((await read(await open({ topics: [single] }), 2)).map(textOf)).to.deep.equal(['value 1', 'value 2'])
      })

      it('are independent of each other', async () => {
        await bus.send(keyed, numbered(20))
        expect(await read(await open({ groupId: 'one' }), 20)).to.have.length(20)
        expect(await read(await open({ groupId: 'two' }), 20)).to.have.length(20)
      })

      it('without a committed offset start at the earliest record by default, at the end with startFrom latest', async () => {
        await bus.send(single, [record('k', 'before')])
        const latest = await open({ groupId: 'latest', topics: [single], startFrom: 'latest' })
        await pollUntil([latest], () => latest.assignment().length > 0)
        await bus.send(single, [record('k', 'after')])
        expect((await read(latest, 1)).map(textOf)).to.deep.equal(['after'])
        expect((await read(await open({ groupId: 'earliest', topics: [single] }), 2)).map(textOf)).to.deep.equal(['before', 'after'])
      })

      it('are told their partitions before they get records of them', async () => {
        await bus.send(keyed, numbered(20))
        const assigned: TopicPartition[] = []
        const subscription = await open({ onAssigned: partitions => void assigned.push(...partitions) })
        for (let seen = 0; seen < 20; ) {
          const records = await subscription.poll({ ...LIMITS, maxRecords: 3 })
          for (const { topic, partition } of records) expect(assigned).to.deep.include({ topic, partition })
          seen += records.length
        }
        expect(subscription.assignment()).to.have.deep.members(assigned)
        expect(assigned).to.have.length(3)
      })

      it('share the partitions among their members: each record goes to one of them, and all to the one that is left', async () => {
        const other = await harness.connect()
        const revoked: TopicPartition[] = []
        const first = await open({ onRevoked: partitions => void revoked.push(...partitions) })
        await pollUntil([first], () => first.assignment().length === 3)
        const second = await open({}, other)
        await pollUntil([first, second], () => first.assignment().length > 0 && second.assignment().length > 0)
        const all = [...first.assignment(), ...second.assignment()]
        expect(all.map(p => p.partition).sort()).to.deep.equal([0, 1, 2])
        expect(revoked.length).to.be.at.least(second.assignment().length)

        await bus.send(keyed, numbered(70))
        const [byFirst, bySecond] = await pollUntil([first, second], ([a, b]) => a!.length + b!.length >= 70)
        for (const r of byFirst!) expect(first.assignment().map(p => p.partition)).to.include(r.partition)
        for (const r of bySecond!) expect(second.assignment().map(p => p.partition)).to.include(r.partition)
        expect([...byFirst!, ...bySecond!].map(textOf).sort()).to.deep.equal(
          numbered(70)
            .map(r => Buffer.from(r.value).toString())
            .sort(),
        )

        await first.commit(nextOffsets(byFirst!))
        await second.commit(nextOffsets(bySecond!))
        await second.close()
        await pollUntil([first], () => first.assignment().length === 3)
        await bus.send(keyed, numbered(35))
        expect(await read(first, 35)).to.have.length(35)
      })

      it('let two processes join several of them at once', async () => {
        const other = await harness.connect()
        const groups = ['one', 'two', 'three']
        const joinAll = (client: Bus) => Promise.all(groups.map(groupId => open({ groupId }, client)))
        const members = [...(await joinAll(bus)), ...(await joinAll(other))]
        await pollUntil(members, () => members.every(member => member.assignment().length > 0))
        expect(members.reduce((sum, member) => sum + member.assignment().length, 0)).to.equal(9)
      })

      it('give partitions to a member that stands by only while there is no other', async () => {
        const [other, third] = [await harness.connect(), await harness.connect()]
        await bus.send(keyed, numbered(30))
        const standby = await open({ standsBy: true })
        await standby.commit(nextOffsets(await read(standby, 30)))
        const active = await open({}, other)
        await pollUntil([standby, active], () => active.assignment().length === 3)
        expect(standby.assignment()).to.deep.equal([])
        const second = await open({}, third)
        await pollUntil([standby, active, second], () => active.assignment().length > 0 && second.assignment().length > 0)
        expect(active.assignment().length + second.assignment().length).to.equal(3)
        await active.close()
        await pollUntil([standby, second], () => second.assignment().length === 3)
        await second.close()
        await pollUntil([standby], () => standby.assignment().length === 3)
        await bus.send(keyed, numbered(35))
        expect(await read(standby, 35)).to.have.length(35)
      })

      it('refuse a commit for a partition that the member has no longer', async () => {
        const other = await harness.connect()
        await bus.send(keyed, numbered(30))
        const first = await open()
        const got = await read(first, 30)
        const second = await open({}, other)
        await pollUntil([first, second], () => first.assignment().length > 0 && second.assignment().length > 0)
        const lost = second.assignment()[0]!
        await expectBusError(first.commit([{ ...lost, offset: nextOffsets(got).find(o => o.partition === lost.partition)?.offset ?? 1 }]))
        expect((await bus.committedOffsets('group')).filter(o => o.partition === lost.partition)).to.deep.equal([])
      })
    })

    describe('seek', () => {
      it('moves the position back and forth, and commits nothing', async () => {
        await bus.send(single, numbered(10))
        const subscription = await open({ topics: [single] })
        const got = await read(subscription, 10)
        await subscription.seek([{ topic: single, partition: 0, offset: got[7]!.offset }])
        expect((await read(subscription, 3)).map(textOf)).to.deep.equal(['value 7', 'value 8', 'value 9'])
        await subscription.seek([{ topic: single, partition: 0, offset: got[0]!.offset }])
        expect((await read(subscription, 1, 1)).map(textOf)).to.deep.equal(['value 0'])
        await subscription.seek([{ topic: single, partition: 0, offset: got[9]!.offset }])
        expect((await read(subscription, 1)).map(textOf)).to.deep.equal(['value 9'])
        expect(await bus.committedOffsets('group')).to.deep.equal([])
      })

      it('what is handed out again stays as it is when a commit comes for what was handed out before', async () => {
        // Large enough for their memory to be given back by hand.
        const texts = ['a', 'b'].map(letter => letter.repeat(100_000))
        await bus.send(
          single,
          texts.map(text => record('k', text)),
        )
        const subscription = await open({ topics: [single] })
        const before = await read(subscription, 2)
        await subscription.seek([{ topic: single, partition: 0, offset: before[0]!.offset }])
        const again = await read(subscription, 2)
        await subscription.commit(nextOffsets(before))
        expect(again.map(textOf)).to.deep.equal(texts)
      })

      it('leaves the other partitions where they are', async () => {
        await bus.send(keyed, numbered(70))
        const subscription = await open()
        const byPartition = Map.groupBy(await read(subscription, 70), r => r.partition)
        const [partition, ofPartition] = [...byPartition][0]!
        await subscription.seek([{ topic: keyed, partition, offset: ofPartition[0]!.offset }])
        expect((await read(subscription, ofPartition.length)).map(textOf)).to.deep.equal(ofPartition.map(textOf))
        expect(await subscription.poll({ ...LIMITS, waitMs: 1 })).to.deep.equal([])
      })
    })

    describe('transactions', () => {
      it('make outputs and offsets visible together', async () => {
        await bus.send(single, numbered(5))
        const input = await open({ topics: [single] })
        const got = await read(input, 5)
        const output = await open({ groupId: 'reader' })
        const transaction = await bus.beginTransaction()
        await transaction.send(keyed, [record('k', 'one')])
        await transaction.send(keyed, [record('k', 'two')])
        await transaction.sendOffsets('group', nextOffsets(got))
        expect(await output.poll({ ...LIMITS, waitMs: 1 })).to.deep.equal([])
        expect(await bus.committedOffsets('group')).to.deep.equal([])
        await transaction.commit()
        expect((await read(output, 2)).map(textOf)).to.deep.equal(['one', 'two'])
        expect(await bus.committedOffsets('group')).to.deep.equal(nextOffsets(got))
      })

      it('show nothing after an abort, neither to readers of then nor of later', async () => {
        const early = await open({ groupId: 'early', topics: [keyed, single] })
        const transaction = await bus.beginTransaction()
        await transaction.send(keyed, [record('k', 'never')])
        await transaction.send(single, [record('k', 'never')])
        await transaction.sendOffsets('group', [{ topic: single, partition: 0, offset: 1 }])
        await transaction.abort()
        await bus.send(keyed, [record('k', 'visible')])
        expect((await read(early, 1)).map(textOf)).to.deep.equal(['visible'])
        expect((await read(await open({ groupId: 'late', topics: [keyed, single] }), 1)).map(textOf)).to.deep.equal(['visible'])
        expect(await bus.committedOffsets('group')).to.deep.equal([])
      })

      it('refuse offsets of partitions that the member has no longer', async () => {
        const other = await harness.connect()
        await bus.send(keyed, numbered(30))
        const first = await open()
        const got = await read(first, 30)
        const early = await bus.beginTransaction()
        await early.send(single, [record('k', 'early')])
        await early.sendOffsets('group', nextOffsets(got))
        const second = await open({}, other)
        await pollUntil([first, second], () => first.assignment().length > 0 && second.assignment().length > 0)
        await expectBusError(early.commit())
        const late = await bus.beginTransaction()
        await late.send(single, [record('k', 'late')])
        await expectBusError(late.sendOffsets('group', nextOffsets(got)))
        await late.abort()
        await bus.send(single, [record('k', 'visible')])
        expect((await read(await open({ groupId: 'reader', topics: [single] }), 1)).map(textOf)).to.deep.equal(['visible'])
        expect(await bus.committedOffsets('group')).to.deep.equal([])
      })

      it('keep the order of a key over several of them', async () => {
        for (let i = 0; i < 5; i++) {
          const transaction = await bus.beginTransaction()
          await transaction.send(keyed, [record('k', `${i}a`), record('k', `${i}b`)])
          if (i % 2 === 0) await transaction.commit()
          else await transaction.abort()
        }
        expect((await read(await open(), 6)).map(textOf)).to.deep.equal(['0a', '0b', '2a', '2b', '4a', '4b'])
      })

      it('take nothing more once they are finished', async () => {
        const transaction = await bus.beginTransaction()
        await transaction.commit()
        await expectBusError(transaction.send(keyed, [record('k', 'late')]))
        await expectBusError(transaction.commit())
      })
    })

    describe('state', () => {
      it('names every partition with its start and end, so that lag is end minus committed', async () => {
        const { brokers, partitions } = await bus.describe()
        expect(brokers).to.be.at.least(1)
        for (const [topic, count] of [
          [keyed, 3],
          [single, 1],
        ] as const)
          expect(
            partitions
              .filter(p => p.topic === topic)
              .map(p => p.partition)
              .sort(),
          ).to.deep.equal([0, 1, 2].slice(0, count))
        await bus.send(keyed, numbered(40))
        expect(await lagOf(bus, 'group', keyed)).to.equal(40)
        const subscription = await open()
        const got = await read(subscription, 40)
        await subscription.commit(nextOffsets(got))
        expect(await lagOf(bus, 'group', keyed)).to.equal(0)
        expect(await lagOf(await harness.connect(), 'group', keyed)).to.equal(0)
      })

      it('has no committed offsets for an unknown group', async () => {
        expect(await bus.committedOffsets('nobody')).to.deep.equal([])
      })
    })

    describe('stop', () => {
      it('closes subscriptions, finishes writes under way, and refuses what comes later', async () => {
        const client = await harness.connect()
        const subscription = await open({}, client)
        const written = client.send(keyed, numbered(100))
        await client.stop()
        await written
        await expectBusError(client.send(keyed, [record('k', 'late')]), 'closed')
        await expectBusError(client.subscribe({ groupId: 'late', topics: [keyed] }), 'closed')
        expect(await subscription.poll(LIMITS)).to.deep.equal([])
        await client.stop()
        expect(await read(await open(), 100)).to.have.length(100)
      })
    })
  })
}
