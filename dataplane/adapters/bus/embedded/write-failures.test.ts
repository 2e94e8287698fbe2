import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { BusError } from '../../../ports/bus.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { type BusDirectory, createBusDirectory, OUTPUT, readAll, TOPIC, textOf, textRecord } from './testing/bus-directory.ts'
import { createFaultyFiles, type FaultyFiles } from './testing/faulty-files.ts'

describe('embedded bus: a disk that fails', () => {
  let directory: BusDirectory
  let files: FaultyFiles
  beforeEach(() => {
    directory = createBusDirectory()
    files = createFaultyFiles()
  })
  afterEach(() => directory.remove())

  const reasonOf = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: unknown) => (error instanceof BusError ? error.reason : error),
    )
  const incompressible = (length: number) => {
    const value = Buffer.alloc(length)
    for (let i = 0; i < length; i++) value[i] = (i * 2654435761) >>> 13
    return { key: 'k', value }
  }

  it('refuses as full what does not fit, shows none of it, and takes the next when there is room again', async () => {
    const bus = await directory.open({ files })
    await bus.send(TOPIC.name, [textRecord('k', 'before')])
    for (const room of [0, 1, 47, 60, 100]) {
      files.room = room
      expect(await reasonOf(bus.send(TOPIC.name, [incompressible(500)]))).to.equal('full')
    }
    files.room = Number.POSITIVE_INFINITY
    await bus.send(TOPIC.name, [textRecord('k', 'after')])
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['before', 'after'])
    await bus.stop()
    expect((await readAll(await directory.open())).map(textOf)).to.deep.equal(['before', 'after'])
  })

  it('recovers from a write that failed even when it could not be cut off at once', async () => {
    const bus = await directory.open({ files })
    files.room = 70
    files.truncateError = 'EIO'
    expect(await reasonOf(bus.send(TOPIC.name, [incompressible(500)]))).to.equal('full')
    files.room = Number.POSITIVE_INFINITY
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'still not')]))).to.equal('unavailable')
    files.truncateError = undefined
    await bus.send(TOPIC.name, [textRecord('k', 'after')])
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['after'])
  })

  it('is unavailable on other errors, and recovers', async () => {
    const bus = await directory.open({ files })
    files.writeError = 'EIO'
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'lost')]))).to.equal('unavailable')
    files.writeError = undefined
    await bus.send(TOPIC.name, [textRecord('k', 'after')])
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['after'])
  })

  it('never acknowledges after a failed sync; it begins a new segment, and the suspect tail does not count any more', async () => {
    const bus = await directory.open({ files })
    await bus.send(TOPIC.name, [textRecord('k', 'before')])
    files.syncError = 'EIO'
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'suspect')]))).to.equal('unavailable')
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'suspect')]))).to.equal('unavailable')
    files.syncError = undefined
    await bus.send(TOPIC.name, [textRecord('k', 'after')])
    expect(directory.segments()).to.have.length(2)
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['before', 'after'])
    await bus.stop()
    expect((await readAll(await directory.open())).map(textOf)).to.deep.equal(['before', 'after'])
  })

  it('refuses as full while the file system has less than the reserve', async () => {
    const clock = createFakeClock()
    const bus = await directory.open({ files, clock, minFreeBytes: 1000 })
    await bus.send(TOPIC.name, [textRecord('k', 'before')])
    files.free = 999
    clock.advance(1000)
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'refused')]))).to.equal('full')
    files.free = 1000
    await bus.send(TOPIC.name, [textRecord('k', 'after')])
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['before', 'after'])
  })

  it('keeps a quarter of a file system in reserve that is smaller than four reserves', async () => {
    const clock = createFakeClock()
    const bus = await directory.open({ files, clock, minFreeBytes: 1000 })
    files.size = 2000
    files.free = 500
    await bus.send(TOPIC.name, [textRecord('k', 'before')])
    files.free = 499
    clock.advance(1000)
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'refused')]))).to.equal('full')
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['before'])
  })

  it('leaves part of the reserve to each later topic, so that what is made of records that were taken has room', async () => {
    const clock = createFakeClock()
    const bus = await directory.open({ files, clock, minFreeBytes: 1000 })
    files.free = 500
    clock.advance(1000)
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'refused')]))).to.equal('full')
    expect(await reasonOf(bus.send(OUTPUT.name, [textRecord('k', 'made of one before')]))).to.equal('done')
    files.free = 499
    clock.advance(1000)
    expect(await reasonOf(bus.send(OUTPUT.name, [textRecord('k', 'refused')]))).to.equal('full')
  })

  it('says why it takes no records: too little of the disk is free, before anybody tries, and until there is room', async () => {
    const clock = createFakeClock()
    const bus = await directory.open({ files, clock, minFreeBytes: 1000 })
    expect((await bus.describe()).problem).to.equal(undefined)
    files.free = 999
    clock.advance(1000)
    expect((await bus.describe()).problem).to.match(/ has 999 bytes free, the bus keeps 1000 in reserve$/)
    files.free = 1000
    expect((await bus.describe()).problem).to.equal(undefined)
  })

  it('says why it takes no records: a write fails, until one succeeds', async () => {
    const bus = await directory.open({ files })
    files.writeError = 'EIO'
    await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'lost')]))
    expect((await bus.describe()).problem).to.match(/^logs cannot be written: .*EIO/)
    files.writeError = undefined
    await bus.send(TOPIC.name, [textRecord('k', 'after')])
    expect((await bus.describe()).problem).to.equal(undefined)
  })

  it('refuses an offset commit that cannot be written, and keeps the one before', async () => {
    const bus = await directory.open({ files })
    await bus.send(
      TOPIC.name,
      ['a', 'b', 'c'].map(text => textRecord('k', text)),
    )
    const subscription = await bus.subscribe({ groupId: 'g', topics: [TOPIC.name] })
    const [first] = await subscription.poll({ maxRecords: 1, maxBytes: 1, waitMs: 0 })
    const at = (offset: number) => [{ topic: TOPIC.name, partition: first!.partition, offset }]
    await subscription.commit(at(1))
    files.room = 20
    expect(await reasonOf(subscription.commit(at(2)))).to.equal('full')
    files.room = Number.POSITIVE_INFINITY
    expect(await bus.committedOffsets('g')).to.deep.equal(at(1))
    await bus.stop()
    const again = await directory.open()
    expect(await again.committedOffsets('g')).to.deep.equal(at(1))
  })

  it('refuses as overloaded what exceeds the queue, and takes it when the queue has emptied', async () => {
    const bus = await directory.open({ files, maxQueuedBytes: 10_000 })
    const first = bus.send(TOPIC.name, [incompressible(9000)])
    expect(await reasonOf(bus.send(TOPIC.name, [incompressible(2000)]))).to.equal('overloaded')
    await first
    await bus.send(TOPIC.name, [incompressible(2000)])
    await bus.send(TOPIC.name, [incompressible(20_000)])
    expect(await readAll(bus)).to.have.length(3)
  })

  it('commits what arrives during a sync in one group: one sync for many sends', async () => {
    const bus = await directory.open({ files })
    await bus.send(TOPIC.name, [textRecord('k', 'warm')])
    const before = files.syncs
    await Promise.all(Array.from({ length: 100 }, (_, i) => bus.send(TOPIC.name, [textRecord('k', `value ${i}`)])))
    expect(files.syncs - before).to.be.at.most(3)
    expect(await readAll(bus)).to.have.length(101)
  })

  it('aborts a transaction of which a part cannot be written, or whose commit cannot be recorded', async () => {
    const bus = await directory.open({ files })
    for (const failing of ['/output/', 'groups.journal']) {
      files.onWrite = (path, moment) => {
        files.writeError = moment === 'before' && path.includes(failing) ? 'EIO' : undefined
      }
      const transaction = await bus.beginTransaction()
      await transaction.send(TOPIC.name, [textRecord('k', 'never')])
      await transaction.send(OUTPUT.name, [textRecord('k', 'never')])
      await transaction.sendOffsets('g', [{ topic: TOPIC.name, partition: 0, offset: 1 }])
      expect(await reasonOf(transaction.commit())).to.equal('unavailable')
      files.onWrite = undefined
      files.writeError = undefined
    }
    await bus.send(TOPIC.name, [textRecord('k', 'visible')])
    await bus.send(OUTPUT.name, [textRecord('k', 'visible')])
    expect(await bus.committedOffsets('g')).to.deep.equal([])
    for (const topic of [TOPIC.name, OUTPUT.name]) expect((await readAll(bus, topic)).map(textOf)).to.deep.equal(['visible'])
    await bus.stop()
    const again = await directory.open()
    for (const topic of [TOPIC.name, OUTPUT.name]) expect((await readAll(again, topic)).map(textOf)).to.deep.equal(['visible'])
    expect(await again.committedOffsets('g')).to.deep.equal([])
  })
  it('shows nothing of an aborted transaction, nor of what follows it, before the abort could be marked', async () => {
    const bus = await directory.open({ files })
    files.onWrite = path => {
      if (path.endsWith('groups.journal')) files.writeError = 'EIO'
    }
    const transaction = await bus.beginTransaction()
    await transaction.send(TOPIC.name, [textRecord('k', 'never')])
    expect(await reasonOf(transaction.commit())).to.equal('unavailable')
    expect(await reasonOf(bus.send(TOPIC.name, [textRecord('k', 'refused')]))).to.equal('unavailable')
    expect(await readAll(bus)).to.deep.equal([])
    files.onWrite = undefined
    files.writeError = undefined
    await bus.send(TOPIC.name, [textRecord('k', 'visible')])
    expect((await readAll(bus)).map(textOf)).to.deep.equal(['visible'])
  })
})
