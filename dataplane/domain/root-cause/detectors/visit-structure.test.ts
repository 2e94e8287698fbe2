import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, shop, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findStructure } from './visit-structure.ts'

function structureOf(lines: typeof USUAL) {
  const system = finish(
    observeSystem(
      shop(() => lines),
      AT_MS,
    ),
  )
  const findings = finish(findStructure(system, { recovered: new Set() }))
  return new Map([...findings].map(([service, { hints }]) => [system.services[service]!, hints[0]!.tell()]))
}

describe('detector: structure of a visit', () => {
  it('finds nothing where visits are as before', () => expect(structureOf(USUAL).size).to.equal(0))

  it('finds a statement that stopped, with records of the visits that lack it as samples', () => {
    const found = structureOf(USUAL.filter(({ says }) => says !== 'receipt written'))
    expect([...found.keys()]).to.deep.equal(['payments'])
    const { kind, patternId, samples } = found.get('payments')!
    expect({ kind, patternId }).to.deep.equal({ kind: 'missing', patternId: 'receipt written' })
    expect([...samples()][0]!.source.pattern).to.equal('card charged')
  })

  it('finds a statement that comes twice: a retry', () => {
    const found = structureOf(USUAL.flatMap(line => (line.says === 'card charged' ? [line, line] : [line])))
    expect(found.get('payments')!.text).to.match(/“card charged” is new \(twice or more\): in 120 of 120 visits/)
  })

  it('finds no more than the baseline shows with and without requests of errors that stopped', () => {
    const retried = USUAL.flatMap(line => (line.says === 'card charged' ? [line, { ...line, says: 'card asked again' }] : [line]))
    const records = (now: number) => [
      ...traffic({ from: -1, to: 0, perMinute: 30, lines: i => (i % 3 === 0 ? retried : USUAL) }),
      ...traffic({ from: 0, to: 1, perMinute: 30, lines: i => (i < now ? retried : USUAL) }),
    ]
    const shiftOf = (now: number) => {
      const system = finish(observeSystem(records(now), AT_MS))
      const recovered = new Set(
        system.baseline.requests.filter(each => each.records.some(({ kind }) => kind.pattern === 'card asked again')),
      )
      expect(recovered.size).to.equal(10)
      return [...finish(findStructure(system, { recovered })).values()].flatMap(({ hints }) => hints.map(({ tell }) => tell().text))
    }
    expect(shiftOf(10)).to.deep.equal([])
    expect(shiftOf(5)).to.deep.equal([])
    expect(shiftOf(15)).to.deep.equal(['“card asked again” comes more often: in 15 of 30 visits, 10 expected'])
  })
})
