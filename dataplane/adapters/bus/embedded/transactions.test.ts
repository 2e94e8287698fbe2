import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Bus } from '../../../ports/bus.ts'
import { type BusDirectory, createBusDirectory, OUTPUT, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'
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
  /** What a crash would leave at this moment of writing the journal. */
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

  it('what is sent between the parts of a transaction is neither lost nor shown before its turn', async () => {
    const bus = await directory.open({ files })
    let sent: Promise<void> | undefined
    files.onWrite = path => {
      if (path.endsWith('groups.journal')) sent ??= bus.send(TOPIC.name, [textRecord('k', 'between')])
    }
    await transact(bus)
    await sent
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['transacted', 'between'])
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
