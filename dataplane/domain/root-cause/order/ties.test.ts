import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, observation } from '../../../testing/root-cause-fixture.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findTies } from './ties.ts'

describe('ties between services', () => {
  const seen = ['a t1', 'b t1', 'b t2', 'c t2', 'd t3', 'd t3', 'e', 'f']
  const observations = seen.map((each, i) => {
    const [service, traceId = ''] = each.split(' ')
    return observation({ service: service!, traceId, timeMs: AT_MS + i - 4, logId: `${i}` })
  })
  const system = finish(observeSystem(observations, AT_MS))

  it('are made by requests, before or in the window, also by a third', () => {
    const tieOf = finish(findTies(system, { blames: [] }))
    const [a, b, c, d, e, f, nobody] = [...'abcdef', 'nobody'].map(tieOf)
    expect([a === b, b === c]).to.deep.equal([true, true])
    expect(new Set([a, d, e, f]).size).to.equal(4)
    expect(nobody).to.equal(undefined)
  })

  it('are made by errors that name another service', () => {
    const tieOf = finish(findTies(system, { blames: [[system.services.indexOf('e'), system.services.indexOf('f')]] }))
    expect(tieOf('e')).to.equal(tieOf('f'))
    expect(tieOf('d')).to.not.equal(tieOf('f'))
  })
})
