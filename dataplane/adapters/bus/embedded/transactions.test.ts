import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Bus } from '../../../ports/bus.ts'
import { type BusDirectory, createBusDirectory, drain, OUTPUT, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'
import { createFaultyFiles, type FaultyFiles } from './testing/faulty-files.ts'

describe('embedded bus: transactions and crashes', () => {
  let directory: BusDirectory
  let files: FaultyFiles
  beforeEach(() => {
    directory = createBusDirectory()
    files = createFaultyFiles()
  })
  afterEach(() => directory.remove())

  const OFFSETS = [{ topic: TOPIC.name, partition: 0, offset: 7 }]
  async function transact(bus: Bus) {
    const transaction = await bus.beginTransaction()
    await transaction.send(TOPIC.name, [textRecord('k', 'transacted')])
    await transaction.send(OUTPUT.name, [textRecord('k', 'transacted')])
    await transaction.sendOffsets('g', OFFSETS)
    await transaction.commit()
  }
  /** The files that a crash would leave at this moment of writing the journal. */
  const copyAt = (moment: 'before' | 'synced') => {
    let copy: BusDirectory | undefined
    files.onWrite = (path, now) => {
      if (path.endsWith('groups.journal') && now === moment) copy ??= directory.copy()
    }
    return () => copy!
  }

  it('a transaction that is prepared but not committed at a crash is aborted, in all topics and offsets', async () => {
    const bus = await directory.open({ files })
    const copied = copyAt('before')
    await transact(bus)
    for (let start = 0; start < 2; start++) {
      const after = await copied().open()
      for (const topic of [TOPIC.name, OUTPUT.name]) expect(await readAll(after, topic)).to.deep.equal([])
      expect(await after.committedOffsets('g')).to.deep.equal([])
      await after.stop()
    }
  })

  it('a transaction whose commit was recorded before the crash is there, in all topics and offsets', async () => {
    const bus = await directory.open({ files })
    const copied = copyAt('synced')
    await transact(bus)
    for (let start = 0; start < 2; start++) {
      const after = await copied().open()
      for (const topic of [TOPIC.name, OUTPUT.name]) expect((await readAll(after, topic)).map(textOf)).to.deep.equal(['transacted'])
      expect(await after.committedOffsets('g')).to.deep.equal(OFFSETS)
      await after.stop()
    }
  })

  it('while it is being decided readers see neither it nor what follows it; no segment ends meanwhile', async () => {
    const bus = await directory.open({ files, segmentBytes: 256 })
    const subscription = await bus.subscribe({ groupId: 'reader', topics: [TOPIC.name] })
    const reached = Promise.withResolvers<void>()
    const decided = Promise.withResolvers<void>()
    files.onWrite = path => {
      if (!path.endsWith('groups.journal')) return
      reached.resolve()
      return decided.promise
    }
    const transacting = transact(bus)
    await reached.promise
    for (let i = 0; i < 10; i++) await bus.send(TOPIC.name, [textRecord('k', `between ${i}`)])
    expect(await drain(subscription)).to.deep.equal([])
    expect(directory.segments()).to.have.length(1)
    const aborted = await directory.copy().open()
    expect((await readAll(aborted)).map(textOf)).to.deep.equal(Array.from({ length: 10 }, (_, i) => `between ${i}`))
    decided.resolve()
    await transacting
    await bus.send(TOPIC.name, [textRecord('k', 'after')])
    const read = (await drain(subscription)).map(textOf)
    expect([read[0], read[1], read.at(-1), read.length]).to.deep.equal(['transacted', 'between 0', 'after', 12])
    expect(directory.segments()).to.have.length(2)
  })

  it('an aborted one stays void after a restart, beside committed ones', async () => {
    const bus = await directory.open()
    await transact(bus)
    const aborted = await bus.beginTransaction()
    await aborted.send(TOPIC.name, [textRecord('k', 'aborted')])
    await aborted.abort()
    await transact(bus)
    await bus.stop()
    const again = await directory.open()
    expect((await readAll(again)).map(textOf)).to.deep.equal(['transacted', 'transacted'])
  })

  it('one that was just recorded survives a compaction that comes before its decision is marked', async () => {
    let copy: BusDirectory | undefined
    const compacted = Promise.withResolvers<void>()
    const { rename } = files
    files.rename = async (from, to) => {
      await rename(from, to)
      copy ??= directory.copy()
      compacted.resolve()
    }
    const bus = await directory.open({ files })
    const transaction = await bus.beginTransaction()
    await transaction.send(TOPIC.name, [textRecord('k', 'transacted')])
    const offsets = Array.from({ length: 30_000 }, (_, partition) => ({ topic: 'other', partition, offset: 1 }))
    await transaction.sendOffsets('large', offsets)
    const next = await bus.beginTransaction()
    await next.sendOffsets('g', OFFSETS)
    let following: Promise<void> | undefined
    files.onWrite = async (path, moment) => {
      if (following !== undefined && moment === 'before' && path.includes(`/${TOPIC.name}/`)) return compacted.promise
      if (!path.endsWith('groups.journal') || moment !== 'synced' || following !== undefined) return
      following = next.commit()
      await new Promise(resolve => setImmediate(resolve))
    }
    await transaction.commit()
    await following
    const after = await copy!.open()
    expect((await readAll(after)).map(textOf)).to.deep.equal(['transacted'])
    expect(await after.committedOffsets('large')).to.have.length(offsets.length)
  })

  it('survive the compaction of the journal', async () => {
    const bus = await directory.open()
    for (let round = 0; round < 3; round++) {
      await transact(bus)
      const transaction = await bus.beginTransaction()
      await transaction.sendOffsets(
        `${'group'.repeat(100)}`,
        Array.from({ length: 20_000 }, (_, partition) => ({ topic: 'other', partition, offset: round })),
      )
      await transaction.commit()
    }
    const copy = await directory.copy().open()
    expect((await readAll(copy)).map(textOf)).to.deep.equal(['transacted', 'transacted', 'transacted'])
    expect(await copy.committedOffsets('g')).to.deep.equal(OFFSETS)
    expect((await copy.committedOffsets('group'.repeat(100))).every(({ offset }) => offset === 2)).to.equal(true)
  })
})
