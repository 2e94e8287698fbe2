/** Stops the bus between any two changes of its files, in every way in which a disk may keep what was not synced. */
import { hash } from 'node:crypto'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Bus, ConsumedRecord, Subscription, TopicPartitionOffset } from '../../../ports/bus.ts'
import { type Contents, PowerCutDisk, type Stop } from '../../../testing/power-cut-disk.ts'
import { rounds } from '../../../testing/rounds.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { openEmbeddedBus } from './embedded-bus.ts'
import { type BusDirectory, createBusDirectory, drain, OUTPUT, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'
import { powerCutFiles, withContents } from './testing/power-cut-files.ts'

const WORKER = 'worker'
const LIMITS = { maxRecords: 7, maxBytes: 1 << 20, waitMs: 0 }
/** Segments of a few frames, and a cap that only those leave room under that are read. */
const SMALL = { segmentBytes: 1_000, maxBytes: 9_000 }

interface Moment {
  readonly what: string
  readonly contents: ReadonlyMap<Stop, Contents>
  /** Acknowledged, and not asked to be committed: the group has to get them. */
  readonly owed: readonly string[]
}

function behind(records: readonly ConsumedRecord[]): readonly TopicPartitionOffset[] {
  const next = new Map(records.map(({ topic, partition, offset }) => [partition, { topic, partition, offset: offset + 1 }]))
  return [...next.values()]
}

describe('embedded bus: a power cut', function () {
  this.timeout(120_000)
  let directory: BusDirectory
  let disk: PowerCutDisk
  let moments: Moment[]
  let owed: Set<string>
  let what: string
  let sent: number
  beforeEach(() => {
    directory = createBusDirectory()
    disk = new PowerCutDisk()
    moments = []
    owed = new Set()
    what = 'start'
    sent = 0
  })
  afterEach(() => directory.remove())

  const watch = () => {
    disk.onChange = () => void moments.push({ what, contents: disk.afterAll(), owed: [...owed] })
  }
  const open = () => directory.open({ files: powerCutFiles(disk), ...SMALL })

  const send = async (bus: Bus, count: number) => {
    what = `send of ${count}`
    const texts = Array.from({ length: count }, () => `${sent} ${hash('sha512', String(sent++))}`)
    await bus.send(
      TOPIC.name,
      texts.map((text, k) => textRecord(`key-${k % 5}`, text)),
    )
    for (const text of texts) owed.add(text)
  }

  const commit = async (subscription: Subscription) => {
    const records = await subscription.poll(LIMITS)
    for (const record of records) owed.delete(textOf(record))
    what = `commit of ${records.length}`
    if (records.length > 0) await subscription.commit(behind(records))
  }

  /** Opens what each stop has left; `check` is done with it. */
  const lookAtAll = async (check: (bus: Bus, moment: Moment, stop: string) => Promise<void>) => {
    disk.onChange = () => undefined
    const every = Math.ceil(moments.length / rounds(moments.length))
    for (const [at, moment] of moments.entries()) {
      if (at % every !== 0) continue
      for (const [stop, contents] of moment.contents)
        await withContents(directory.path, contents, async dir => {
          const bus = await openEmbeddedBus({ dir, topics: [TOPIC, OUTPUT], clock: systemClock, minFreeBytes: 0 })
          try {
            await check(bus, moment, `${stop}, change ${at}: ${moment.what}`)
          } finally {
            await bus.stop()
          }
        })
    }
  }

  it('at any moment leaves a group every acknowledged record that it has not committed, and what comes after', async () => {
    watch()
    const bus = await open()
    const subscription = await bus.subscribe({ groupId: WORKER, topics: [TOPIC.name] })
    for (let round = 0; round < 30; round++) {
      await send(bus, 1 + (round % 9))
      if (round % 2 === 1) for (let polls = 0; polls < 2; polls++) await commit(subscription)
    }
    expect(directory.segments()[0], 'segments that were read are gone').to.not.include('0000000001.log')
    await lookAtAll(async (again, moment, title) => {
      const reader = await again.subscribe({ groupId: WORKER, topics: [TOPIC.name] })
      const found = (await drain(reader)).map(textOf)
      expect(new Set(found).size, title).to.equal(found.length)
      const all = new Set(found)
      expect(
        moment.owed.filter(text => !all.has(text)),
        title,
      ).to.deep.equal([])
      await again.send(TOPIC.name, [textRecord('key-1', 'after')])
      expect((await drain(reader)).map(textOf), title).to.deep.equal(['after'])
    })
  })

  it('at any moment leaves a transaction whole, with the offsets that go with it, or nothing of it', async () => {
    const bus = await open()
    const subscription = await bus.subscribe({ groupId: WORKER, topics: [TOPIC.name] })
    watch()
    for (let round = 0; round < 8; round++) {
      await send(bus, 3)
      const records = await subscription.poll(LIMITS)
      const texts = records.map(textOf)
      what = `transaction of ${records.length}`
      const transaction = await bus.beginTransaction()
      await transaction.send(
        OUTPUT.name,
        records.map(record => textRecord(record.key, textOf(record))),
      )
      await transaction.sendOffsets(WORKER, behind(records))
      await transaction.commit()
      for (const text of texts) owed.delete(text)
    }
    await lookAtAll(async (again, moment, title) => {
      const outputs = (await readAll(again, OUTPUT.name)).map(textOf)
      const reader = await again.subscribe({ groupId: WORKER, topics: [TOPIC.name] })
      const left = (await drain(reader)).map(textOf)
      const all = [...outputs, ...left]
      expect(new Set(all).size, `once: ${title}`).to.equal(all.length)
      const sentBefore = new Set(all)
      expect(
        moment.owed.filter(text => !sentBefore.has(text)),
        title,
      ).to.deep.equal([])
    })
  })

  it('at any moment of the compaction of the journal leaves the offsets that were there', async () => {
    const bus = await open()
    const large = 'g'.repeat(120_000)
    const subscription = await bus.subscribe({ groupId: WORKER, topics: [TOPIC.name] })
    const other = await bus.subscribe({ groupId: large, topics: [TOPIC.name] })
    await send(bus, 20)
    const records = await drain(subscription)
    await subscription.commit(behind(records))
    const mine = await drain(other)
    for (let k = 0; k < 8; k++) await other.commit(behind(mine))
    // The commits before are on the disk by then.
    await new Promise(done => setTimeout(done, 1_100))
    await other.commit(behind(mine))
    watch()
    what = 'compaction'
    await other.commit(behind(mine))
    await other.commit(behind(mine))
    expect(moments.length).to.be.above(4)
    const wanted = await bus.committedOffsets(WORKER)
    await lookAtAll(async (again, _, title) => {
      expect(await again.committedOffsets(WORKER), title).to.deep.equal(wanted)
    })
  })
})
