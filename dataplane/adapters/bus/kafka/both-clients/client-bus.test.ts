import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { BusError, type PartitionState, type TopicPartitionOffset } from '../../../../ports/bus.ts'
import { systemClock } from '../../../clock/system-clock.ts'
import { reasonOf, record, textOf } from '../../testing/records.ts'
import type { TransactionContent } from './buffered-transaction.ts'
import { createClientBus, createProducerPool, type KafkaClient } from './client-bus.ts'
import { withDefaults } from './kafka-config.ts'
import { unpacked } from './partition-queues.ts'
import { QueuedSubscription } from './queued-subscription.ts'

const SETTINGS = withDefaults({ brokers: [], topics: [], clock: systemClock, transactionalId: 'id' })
const LIMITS = { maxRecords: 10, maxBytes: 1 << 20, waitMs: 0 }
const at = (offset: number): TopicPartitionOffset => ({ topic: 'logs', partition: 0, offset })
const consumed = (offset: number) => ({ ...at(offset), timestampMs: 0, key: 'k', value: Buffer.from(`${offset}`), headers: {} })

/** A member of a group that has partition 0 of `logs`, with ten records read ahead of it. */
class TenRecords extends QueuedSubscription {
  readonly stored: TopicPartitionOffset[] = []
  readonly joined = Promise.withResolvers<void>()
  hasLeft = false

  async start(): Promise<void> {
    await this.joined.promise
    this.queues.push(this.queues.add(at(0)), unpacked(Array.from({ length: 10 }, (_, i) => consumed(i))), 10)
  }

  loseAll(): void {
    this.lose(this.assignment())
  }

  letGo(patienceMs: number): Promise<void> {
    return this.queues.letGo(this.assignment(), patienceMs)
  }

  protected refill(): void {}

  protected async store(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    this.stored.push(...offsets)
  }

  protected async statesOf(): Promise<readonly PartitionState[]> {
    return [{ topic: 'logs', partition: 0, startOffset: 3, endOffset: 7 }]
  }

  protected async leave(): Promise<void> {
    this.joined.reject(new BusError('closed', 'left'))
    this.hasLeft = true
  }
}

describe('the bus that both clients of Kafka make', () => {
  let members: TenRecords[]
  let written: TransactionContent[]
  let isClientClosed: boolean
  let revoked: number
  beforeEach(() => {
    members = []
    written = []
    isClientClosed = false
    revoked = 0
  })

  const open = () => {
    const client: KafkaClient<TenRecords> = {
      createProduce: () => async () => undefined,
      writeTransaction: async content => void written.push(content),
      createSubscription(config, onClosed) {
        const member = new TenRecords(SETTINGS, config, onClosed)
        members.push(member)
        return member
      },
      describe: async () => ({ brokers: 1, partitions: [] }),
      committedOffsets: async () => [],
      partitionsOf: ({ partitions }) => partitions,
      groupMembers: async () => [],
      purge: async () => undefined,
      async close() {
        isClientClosed = true
        expect(members.every(({ hasLeft }) => hasLeft)).to.equal(true)
      },
    }
    return createClientBus(
      SETTINGS,
      new Map([['logs', { name: 'logs', partitions: 1, maxMessageBytes: 1 << 20, compressionType: 'producer' }]]),
      client,
    )
  }
  const onRevoked = () => {
    revoked++
  }
  const join = async (bus = open()) => {
    const subscribing = bus.subscribe({ groupId: 'g', topics: ['logs'], onRevoked })
    await new Promise(setImmediate)
    members.at(-1)!.joined.resolve()
    await subscribing
    return { bus, member: members.at(-1)! }
  }

  it('knows its own topics alone', async () => {
    const bus = open()
    expect(await reasonOf(bus.send('other', [record('k', 'v')]))).to.equal('unavailable')
    expect(await reasonOf(bus.subscribe({ groupId: 'g', topics: ['other'] }))).to.equal('unavailable')
    expect(members).to.deep.equal([])
  })

  it('stops members that still join, then the client; afterwards it refuses everything', async () => {
    const bus = open()
    const joining = reasonOf(bus.subscribe({ groupId: 'g', topics: ['logs'] }))
    await new Promise(setImmediate)
    await bus.stop()
    expect(await joining).to.equal('closed')
    expect(isClientClosed).to.equal(true)
    for (const work of [bus.describe(), bus.send('logs', []), bus.beginTransaction(), bus.purge('logs'), bus.groupMembers('g')])
      expect(await reasonOf(work)).to.equal('closed')
    await bus.stop()
  })

  it('a position is moved within what Kafka keeps', async () => {
    const { member } = await join()
    for (const [wanted, reached] of [
      [0, 3],
      [5, 5],
      [99, 7],
    ] as const) {
      await member.seek([at(wanted), { topic: 'logs', partition: 1, offset: 0 }])
      const { fetchOffset } = member['queues'].get('logs', 0)!
      expect(fetchOffset).to.equal(reached)
    }
  })

  it('a partition that is to go hands nothing more out, and goes once what was handed out is committed', async () => {
    const { member } = await join()
    const polled = await member.poll({ ...LIMITS, maxRecords: 4 })
    expect(polled.map(textOf)).to.deep.equal(['0', '1', '2', '3'])
    let isGone = false
    const leaving = member.letGo(60_000).then(() => {
      isGone = true
    })
    expect(await member.poll(LIMITS)).to.deep.equal([])
    await member.commit([at(2)])
    await new Promise(setImmediate)
    expect(isGone).to.equal(false)
    await member.commit([at(4)])
    await leaving
    expect(member.stored.map(({ offset }) => offset)).to.deep.equal([2, 4])
  })

  it('one that is taken away while it lets go is waited for no longer, and hinders no later hand-over', async () => {
    const { member } = await join()
    await member.poll({ ...LIMITS, maxRecords: 4 })
    const expelled = member.letGo(60_000)
    member.loseAll()
    await expelled
    await member.start()
    await member.poll(LIMITS)
    const leaving = member.letGo(60_000)
    await new Promise(setImmediate)
    await member.commit([at(10)])
    await leaving
  })

  it('it does not wait for ever, nor for a reader that has closed', async () => {
    const { member } = await join()
    await member.poll(LIMITS)
    await member.letGo(1)
    const leaving = member.letGo(60_000)
    await member.close()
    await leaving
    expect(await member.poll(LIMITS)).to.deep.equal([])
    expect(await reasonOf(member.commit([at(1)]))).to.equal('closed')
    expect(revoked).to.equal(0)
  })

  it('offsets of a transaction are refused once the partition has gone, also when it went after they were added', async () => {
    const { bus, member } = await join()
    const transaction = await bus.beginTransaction()
    await transaction.sendOffsets('g', [at(1)])
    const { check } = await commitAndTake(transaction)
    check()
    member.loseAll()
    expect(revoked).to.equal(1)
    expect(check).to.throw(BusError, 'belongs to another member')
    expect(await reasonOf((await bus.beginTransaction()).sendOffsets('g', [at(1)]))).to.equal('unavailable')
  })

  const commitAndTake = async (transaction: { commit(): Promise<void> }) => {
    await transaction.commit()
    return written[0]!.claims.get('g')![0]!
  }

  it('a transaction is written by topic, in batches that fit; one without content never', async () => {
    const bus = open()
    await (await bus.beginTransaction()).commit()
    expect(written).to.deep.equal([])
    const transaction = await bus.beginTransaction()
    for (let i = 0; i < 3; i++) await transaction.send('logs', [{ key: 'k', value: Buffer.alloc(400_000) }])
    expect(await reasonOf(transaction.send('logs', [{ key: 'k', value: Buffer.alloc(2_000_000) }]))).to.equal('record-too-large')
    await transaction.commit()
    expect(written[0]!.rounds.get('logs')!.map(round => round.get(0)!.length)).to.deep.equal([2, 1])
  })

  it('transactions at once have producers of their own, which are used again', async () => {
    const pool = createProducerPool(SETTINGS, id => id)
    const used: string[] = []
    const release = Promise.withResolvers<void>()
    const slow = pool.use(async id => {
      used.push(id)
      await release.promise
    })
    await pool.use(async id => void used.push(id))
    await pool.use(() => Promise.reject(new Error('failed'))).catch(() => undefined)
    await pool.use(async id => void used.push(id))
    release.resolve()
    await slow
    expect(used).to.deep.equal(['id-0', 'id-1', 'id-1'])
    expect(pool.all).to.deep.equal(['id-0', 'id-1'])
  })
})
