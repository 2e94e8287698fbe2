import { expect } from 'chai'
import { describe, it } from 'mocha'
import { HintBoard } from './findings.ts'

const tell = () => {
  throw new Error('not told')
}

describe('hints of a detector', () => {
  it('keeps the strongest of each subject, and the four strongest of a service', () => {
    const board = new HintBoard()
    for (const [subject, strength] of [
      [1, 5],
      [1, 3],
      [2, 4],
      [3, 1],
      [4, 9],
      [5, 2],
      [2, 6],
    ] as const)
      board.add({ service: 0, subject, nature: 'fault', strength, tell })
    board.add({ service: 1, subject: 1, nature: 'fault', strength: 1, tell })
    const findings = board.findings()
    expect(findings.get(0)?.hints.map(({ subject, strength }) => [subject, strength])).to.deep.equal([
      [4, 9],
      [2, 6],
      [1, 5],
      [5, 2],
    ])
    expect(findings.get(0)?.score).to.equal(9)
    expect(board.findings(service => service + 10).get(1)?.score).to.equal(11)
  })

  it('keeps the strongest new warning beside what tells why a service fails', () => {
    const board = new HintBoard()
    for (const strength of [1, 3, 2])
      board.add({ service: 0, subject: `warning ${strength}`, nature: 'change', isWarning: true, strength, tell })
    for (let subject = 0; subject < 6; subject++)
      board.add({ service: 0, subject, nature: 'cause', isErrors: true, strength: 10 + subject, tell })
    expect(
      board
        .findings()
        .get(0)
        ?.hints.map(({ subject }) => subject),
    ).to.deep.equal([5, 4, 3, 'warning 3'])
  })

  it('keeps the strongest error that a service writes itself beside the complaints of others', () => {
    const board = new HintBoard()
    for (const strength of [1, 3, 2])
      board.add({ service: 0, subject: `own ${strength}`, nature: 'fault', isErrors: true, isOwnWords: true, strength, tell })
    for (let subject = 0; subject < 6; subject++)
      board.add({ service: 0, subject, nature: 'fault', isErrors: true, strength: 10 + subject, tell })
    expect(
      board
        .findings()
        .get(0)
        ?.hints.map(({ subject }) => subject),
    ).to.deep.equal([5, 4, 3, 'own 3'])
  })

  it('keeps what tells why a service fails, however strong the complaints of others', () => {
    const board = new HintBoard()
    board.add({ service: 0, subject: 'heap', nature: 'cause', isErrors: true, strength: 1, tell })
    for (let subject = 0; subject < 6; subject++) board.add({ service: 0, subject, nature: 'fault', strength: 10 + subject, tell })
    expect(
      board
        .findings()
        .get(0)
        ?.hints.map(({ subject }) => subject),
    ).to.deep.equal([5, 4, 3, 'heap'])
  })
})
