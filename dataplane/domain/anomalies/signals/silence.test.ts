import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SPEAKS } from './signal.ts'
import { Company, createListener, type Listener } from './silence.ts'

interface Member extends Listener {
  readonly name: string
}

function company(...names: readonly string[]) {
  const one = new Company<Member>('acme/0')
  const members = names.map(name => ({ ...createListener(), name }))
  for (const member of members) one.members.add(member)
  /** Each of them so often in each slot; the names of those found silent. */
  const hear = (from: number, to: number, often: readonly number[], isTraced = true) => {
    const silent: string[] = []
    for (let slot = from; slot < to; slot++)
      for (const [at, member] of members.entries())
        for (let n = 0; n < often[at]!; n++)
          for (const { member: found, finding } of one.hear(member, slot, isTraced)) {
            expect(finding.z).to.be.above(SPEAKS)
            silent.push(found.name)
          }
    return silent
  }
  return { hear, one, members }
}

describe('silence', () => {
  it('of a service while another of its tenant goes on: told once, after two minutes', () => {
    const { hear } = company('checkout', 'seats')
    expect(hear(0, 30, [9, 9])).to.deep.equal([])
    expect(hear(30, 34, [9, 0])).to.deep.equal([])
    expect(hear(34, 40, [9, 0])).to.deep.equal(['seats'])
  })

  it('of a service that is heard much: told once, after a minute', () => {
    const { hear } = company('checkout', 'seats')
    hear(0, 30, [60, 60])
    expect(hear(30, 32, [60, 0])).to.deep.equal([])
    expect(hear(32, 40, [60, 0])).to.deep.equal(['seats'])
  })

  it('needs two minutes where the service was silent for half a minute before', () => {
    const { hear } = company('checkout', 'seats')
    hear(0, 20, [60, 60])
    hear(20, 21, [60, 0])
    hear(21, 30, [60, 60])
    expect(hear(30, 34, [60, 0])).to.deep.equal([])
    expect(hear(34, 40, [60, 0])).to.deep.equal(['seats'])
  })

  it('is none when all are silent, or most', () => {
    const { hear } = company('checkout', 'seats', 'mail', 'stock')
    hear(0, 30, [20, 20, 20, 20])
    expect(hear(30, 40, [5, 0, 0, 0])).to.deep.equal([])
  })

  it('is none of a service that was heard seldom, or for less than ten minutes', () => {
    const seldom = company('checkout', 'seats')
    seldom.hear(0, 30, [20, 1])
    expect(seldom.hear(30, 40, [20, 0])).to.deep.equal([])
    const fresh = company('checkout', 'seats')
    fresh.hear(0, 12, [20, 0])
    fresh.hear(12, 30, [20, 20])
    expect(fresh.hear(30, 40, [20, 0])).to.deep.equal([])
  })

  it('is none of a job, whose records have no traces: it may have ended', () => {
    const { hear } = company('checkout', 'nightly')
    hear(0, 30, [20, 20], false)
    expect(hear(30, 40, [20, 0])).to.deep.equal([])
  })

  it('goes by the time of the others, so that a clock that is ahead or behind says nothing', () => {
    const { hear, one, members } = company('checkout', 'seats')
    for (let slot = 0; slot < 40; slot++)
      for (let n = 0; n < 20; n++) {
        expect(one.hear(members[0]!, slot, true)).to.deep.equal([])
        expect(one.hear(members[1]!, slot - 9, true)).to.deep.equal([])
      }
    expect(hear(40, 44, [20, 20])).to.deep.equal([])
  })

  it('is none where the records of one service are sent after those of the other, hour by hour', () => {
    const { one, members } = company('checkout', 'seats')
    for (const hour of [0, 120])
      for (const member of members)
        for (let slot = hour; slot < hour + 120; slot++) for (let n = 0; n < 20; n++) expect(one.hear(member, slot, true)).to.deep.equal([])
  })
})
