import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openKafkaBus } from '../../adapters/bus/kafka/kafka-bus.ts'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { collectDeadLetters } from '../../pipeline/dead-letters/dead-letter.ts'
import type { Letter } from '../../pipeline/dead-letters/letter.ts'
import { readLetters } from '../../pipeline/dead-letters/read-letters.ts'
import { replayLetters } from '../../pipeline/dead-letters/replay-letters.ts'
import type { Bus } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { backendAddress } from '../../testing/real/address.ts'

export const needs = ['kafka']

const HOUR_MS = 3_600_000

describe('dead letters on Kafka', function () {
  this.timeout(60_000)
  const id = randomUUID().slice(0, 8)
  const [raw, dead] = [`raw-${id}`, `dead-${id}`]
  let bus: Bus
  before(async () => {
    const topics = [raw, dead].map(name => ({ name, partitions: 1, retentionMs: HOUR_MS }))
    bus = await openKafkaBus({ brokers: backendAddress('kafka').split(','), clock: systemClock, heartbeatMs: 50, topics })
  })
  after(() => bus?.stop())

  const give = async (to: Pick<Bus, 'send'>, values: readonly string[]) => {
    const letters = collectDeadLetters({ bus: to, topic: dead, stage: 'etl', clock: systemClock, log: SILENT })
    for (const [offset, value] of values.entries())
      letters.add({ topic: raw, partition: 0, offset, timestampMs: 7, key: 'shop/cart', value: Buffer.from(value), headers: {} }, 'broken')
    await letters.send()
  }
  const readAll = async () => {
    const all: Letter[] = []
    for await (const letter of letters()) all.push(letter)
    return all
  }
  const letters = () => readLetters({ bus, topic: dead, filter: {}, limit: Number.POSITIVE_INFINITY })

  it('are none in an empty queue', async () => {
    expect(await readAll()).to.deep.equal([])
  })

  it('are read to the end, those of committed transactions too, and none of an aborted one', async () => {
    await give(bus, ['one', 'two'])
    for (const end of ['abort', 'commit'] as const) {
      const transaction = await bus.beginTransaction()
      await give(transaction, [end])
      await transaction[end]()
    }
    const found = await readAll()
    expect(found.map(({ value, reason, topic }) => `${topic} ${reason} ${Buffer.from(value)}`)).to.deep.equal(
      ['one', 'two', 'commit'].map(value => `${raw} broken ${value}`),
    )
  })

  it('are replayed with their bytes, key and time, each once', async () => {
    await give(bus, ['two', 'three'])
    const { sent, repeated } = await replayLetters(letters(), { bus, topics: new Set([raw]), clock: systemClock })
    expect([sent.get(raw), repeated]).to.deep.equal([4, 1])
    const subscription = await bus.subscribe({ groupId: `test-${id}`, topics: [raw] })
    const replayed: string[] = []
    while (replayed.length < 4)
      for (const { key, value, headers } of await subscription.poll({ maxRecords: 10, maxBytes: 1_000_000, waitMs: 1_000 }))
        replayed.push(`${key} ${Buffer.from(value)} ${headers['dlq.received']}`)
    await subscription.close()
    expect(replayed).to.deep.equal(['one', 'two', 'commit', 'three'].map(value => `shop/cart ${value} 7`))
  })

  it('are gone after a purge, and later ones are not', async () => {
    await bus.purge(dead)
    await give(bus, ['later'])
    const left: string[] = []
    for await (const { value } of letters()) left.push(Buffer.from(value).toString())
    expect(left).to.deep.equal(['later'])
  })
})
