import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, shop, USUAL } from '../../testing/root-cause-fixture.ts'
import { observeSystem } from './observed-system.ts'
import { findStructure } from './visit-structure.ts'

function structureOf(lines: typeof USUAL) {
  const system = finish(
    observeSystem(
      shop(() => lines),
      AT_MS,
    ),
  )
  const findings = finish(findStructure(system))
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
})
