import { expect } from 'chai'
import { describe, it } from 'mocha'
import { HeldAnswers } from './held-answers.ts'
import { ReadingPace } from './reading-pace.ts'

const MIB = 1024 * 1024

describe('the memory of answers that clients have not read yet', () => {
  let nowMs = 0
  const cuts: string[] = []

  function held(answers: HeldAnswers, name: string, bytes: number, source?: string) {
    const lease = answers.lease(source)
    expect(lease.take(bytes)).to.equal(true)
    const pace = new ReadingPace(() => nowMs)
    const leave = lease.readBy({ pace, cut: () => cuts.push(name) })
    return { pace, leave, lease }
  }

  it('goes from a client that takes less than 1 MiB in five seconds to one that needs it, the slowest first', () => {
    const answers = new HeldAnswers(10 * MIB)
    const slowest = held(answers, 'slowest', 3 * MIB)
    nowMs += 1_000
    held(answers, 'slow', 3 * MIB)
    const fast = held(answers, 'fast', 4 * MIB)
    const next = answers.lease()
    nowMs += 3_999
    expect(next.take(1)).to.equal(false)
    nowMs += 1
    slowest.pace.took(MIB - 1)
    fast.pace.took(MIB)
    expect([next.take(3 * MIB), cuts.splice(0)]).to.deep.equal([true, ['slowest']])
    expect([next.take(1), cuts.splice(0)]).to.deep.equal([false, []])
    nowMs += 1_000
    expect([next.take(1), cuts.splice(0)]).to.deep.equal([true, ['slow']])
    expect([next.take(3 * MIB), cuts.splice(0)]).to.deep.equal([false, []])
    slowest.lease.release()
    expect(answers.usedBytes).to.equal(7 * MIB + 1)
  })

  it('goes from the address that has most of it to one that has much less after half a second', () => {
    const answers = new HeldAnswers(10 * MIB)
    for (const name of ['a', 'b', 'c']) held(answers, name, 3 * MIB, 'many')
    nowMs += 500
    expect([answers.lease().take(2 * MIB), answers.lease('many').take(2 * MIB), cuts.splice(0)]).to.deep.equal([false, false, []])
    const other = answers.lease('one')
    expect([other.take(2 * MIB), cuts.splice(0)]).to.deep.equal([true, ['c']])
    expect([other.take(3 * MIB), cuts.splice(0)]).to.deep.equal([false, []])
  })

  it('is not looked for at a client that is gone', () => {
    const answers = new HeldAnswers(MIB)
    const gone = held(answers, 'gone', MIB)
    nowMs += 10_000
    gone.leave()
    expect([answers.lease().take(1), cuts]).to.deep.equal([false, []])
    gone.lease.release()
    expect(answers.lease().take(MIB)).to.equal(true)
  })
})
