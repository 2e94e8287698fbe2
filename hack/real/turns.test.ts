import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { RealSuite } from './suites.ts'
import { inTurns, takeSuite } from './turns.ts'

const suite = (file: string, ...needs: RealSuite['needs']): RealSuite => ({ file, needs })
const none = [suite('none-1'), suite('none-2')]
const kafka = [suite('kafka-1', 'kafka'), suite('kafka-2', 'kafka')]
const opensearch = [suite('opensearch-1', 'opensearch'), suite('opensearch-2', 'opensearch'), suite('opensearch-3', 'opensearch')]
const both = suite('both', 'kafka', 'opensearch')

describe('suites beside each other', () => {
  it('need different servers', () => {
    const waiting = [kafka[1]!, both, opensearch[0]!]
    expect(takeSuite(waiting, [kafka[0]!])).to.equal(opensearch[0])
    expect(takeSuite(waiting, [kafka[0]!, opensearch[0]!])).to.equal(undefined)
    expect(takeSuite(waiting, [opensearch[0]!])).to.equal(kafka[1])
    expect(takeSuite(waiting, [])).to.equal(both)
    expect(waiting).to.deep.equal([])
  })

  it('without servers run beside any but each other', () => {
    expect(takeSuite([none[1]!], [both])).to.equal(none[1])
    expect(takeSuite([both], [none[0]!])).to.equal(both)
    expect(takeSuite([none[1]!], [none[0]!])).to.equal(undefined)
  })

  it('come in an order that keeps two at work: one server before several, without servers last', () => {
    expect(inTurns([...none, both, ...kafka, ...opensearch]).map(({ file }) => file)).to.deep.equal([
      ...['opensearch-1', 'opensearch-2', 'opensearch-3', 'kafka-1', 'kafka-2'],
      ...['both', 'none-1', 'none-2'],
    ])
  })

  it('all come to their turn, each once, and never two that exclude each other', () => {
    const all = inTurns([...none, both, ...kafka, ...opensearch])
    const waiting = [...all]
    const running: RealSuite[] = []
    const seen: string[] = []
    while (waiting.length + running.length > 0) {
      const next = running.length < 2 ? takeSuite(waiting, running) : undefined
      if (next === undefined) running.shift()
      else {
        for (const { needs } of running) expect(next.needs.filter(name => needs.includes(name))).to.deep.equal([])
        running.push(next)
        seen.push(next.file)
      }
    }
    expect(seen.toSorted()).to.deep.equal(all.map(({ file }) => file).toSorted())
  })
})
