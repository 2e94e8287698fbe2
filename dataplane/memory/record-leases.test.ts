import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type LeasedMemory, RecordLeases } from './record-leases.ts'

const MIB = 1 << 20

/** Leases of a reader of two partitions that begins both at offset 10, and what they gave back. */
function harness() {
  const leases = new RecordLeases(2)
  for (const partition of [0, 1]) leases.restart(partition, 10)
  const given: string[] = []
  /** Hands out records up to these offsets. */
  const handOut = (name: string, ends: Readonly<Record<number, number>>, bytes = 1_000) => {
    const memory: LeasedMemory = {
      bytes,
      ends: Object.entries(ends).map(([partition, offset]) => ({ partition: Number(partition), offset })),
      giveBack: () => given.push(name),
    }
    leases.hold(memory)
    for (const { partition, offset } of memory.ends) leases.noteHandedOut(partition, offset)
  }
  return { leases, given, handOut }
}

describe('the memory of records that were handed out', () => {
  it('is given back once all of it is committed, in every partition', () => {
    const { leases, given, handOut } = harness()
    handOut('one', { 0: 15, 1: 12 })
    handOut('two', { 0: 20 })
    leases.commit(0, 20)
    expect(given).to.deep.equal([])
    leases.commit(1, 11)
    expect(given).to.deep.equal([])
    leases.commit(1, 12)
    expect(given).to.deep.equal(['one', 'two'])
    expect(leases.isSettled(0)).to.equal(true)
  })

  it('does not wait for a partition that is not read', () => {
    const leases = new RecordLeases(2)
    leases.restart(0, 10)
    const given: string[] = []
    const ends = [0, 1].map(partition => ({ partition, offset: 15 }))
    leases.hold({ bytes: 1, ends, giveBack: () => given.push('one') })
    leases.noteHandedOut(0, 15)
    leases.commit(0, 15)
    expect(given).to.deep.equal(['one'])
  })

  it('is kept for records that were not handed out yet, whatever is committed', () => {
    const { leases, given, handOut } = harness()
    handOut('one', { 0: 15 })
    leases.noteHandedOut(0, 12)
    leases.commit(0, 100)
    expect(given).to.deep.equal([])
  })

  it('is left alone after the position was moved over records in use, also for those handed out again', () => {
    const { leases, given, handOut } = harness()
    handOut('before', { 0: 15 })
    leases.restart(0, 10)
    handOut('again', { 0: 15 })
    leases.commit(0, 15) // for those of before
    expect(given).to.deep.equal([])
    handOut('other partition', { 1: 12 })
    leases.commit(1, 12)
    expect(given).to.deep.equal(['other partition'])
  })

  it('is left alone when a partition went while records of it were in use, and came back', () => {
    const { leases, given, handOut } = harness()
    handOut('before', { 0: 15 })
    leases.restart(0)
    leases.restart(0, 10)
    handOut('again', { 0: 15 })
    leases.commit(0, 15)
    expect(given).to.deep.equal([])
  })

  it('is given back after the position was moved when nothing was in use', () => {
    const { leases, given, handOut } = harness()
    handOut('before', { 0: 15 })
    leases.commit(0, 15)
    leases.restart(0, 10)
    handOut('again', { 0: 15 })
    leases.commit(0, 15)
    expect(given).to.deep.equal(['before', 'again'])
  })

  it('of a reader that commits nothing is left to the garbage collector from 64 MiB on', () => {
    const { leases, given, handOut } = harness()
    for (let i = 1; i <= 70; i++) handOut(`${i}`, { 0: 10 + i }, MIB)
    leases.commit(0, 80)
    expect(given).to.have.length(64)
    expect(given[0]).to.equal('7')
  })
})
