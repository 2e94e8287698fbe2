import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ownerOf } from './lane-owner.ts'

const LANES = Array.from({ length: 1_000 }, (_, i) => `tenant-${i % 50}/slack:team-${i}`)
const AGENTS = ['ticketing-0:18081', 'ticketing-1:18081', 'ticketing-2:18081']

describe('the agent that sends to a target', () => {
  it('is one of those that are there, the same for each of them', () => {
    expect(ownerOf('a/slack', [])).to.equal(undefined)
    expect(ownerOf('a/slack', ['only'])).to.equal('only')
    for (const lane of LANES) expect(ownerOf(lane, AGENTS.toReversed())).to.equal(ownerOf(lane, AGENTS))
  })

  it('has about its share of the targets', () => {
    const counts = Map.groupBy(LANES, lane => ownerOf(lane, AGENTS))
    for (const agent of AGENTS) expect(counts.get(agent)!.length, agent).to.be.within(270, 400)
  })

  it('changes for those targets alone whose agent left', () => {
    for (const lane of LANES) {
      const before = ownerOf(lane, AGENTS)!
      if (before !== AGENTS[1]) expect(ownerOf(lane, [AGENTS[0]!, AGENTS[2]!])).to.equal(before)
    }
  })
})
