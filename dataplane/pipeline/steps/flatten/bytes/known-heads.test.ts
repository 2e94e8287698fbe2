import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KnownHeads } from './known-heads.ts'
import type { RecordContext } from './record-context.ts'

const CONTEXT = {} as RecordContext
const elementOf = (pod: string) => `{"resource":{"pod":"${pod}"},"scopeLogs":[{"scope":{},"logRecords":[{"body":1}]}]}`
const headEnd = (text: string) => text.indexOf('"logRecords":[') + '"logRecords":['.length

/** Heads that are read in memory which holds this text. */
function headsIn(text: string) {
  const b = Buffer.from(text)
  const heads = new KnownHeads(b)
  const add = (start: number, end: number, tenant = 'acme') =>
    heads.add({ start, end, tenant, context: CONTEXT, resource: { start: start + 12, end: start + 14 }, scope: undefined })
  return { b, heads, add }
}

describe('known heads', () => {
  it('a head is found again wherever it stands, with its places counted from its start', () => {
    const element = elementOf('a')
    const { heads, add } = headsIn(`[ ${element} , ${element}`)
    const second = 2 + element.length + 3
    expect(heads.find(2, 'acme')).to.equal(undefined)
    add(2, 2 + headEnd(element))
    for (const at of [2, second]) {
      const known = heads.find(at, 'acme')!
      expect(Buffer.from(known.bytes).toString()).to.equal(element.slice(0, headEnd(element)))
      expect(known).to.include({ tenant: 'acme', context: CONTEXT, scope: undefined })
      expect(known.resource).to.deep.equal({ start: 12, end: 14 })
    }
  })

  it('another head, another tenant or another place has none', () => {
    const [one, other] = [elementOf('a'), elementOf('b')]
    const { heads, add } = headsIn(one + other)
    add(0, headEnd(one))
    expect(heads.find(one.length, 'acme')).to.equal(undefined)
    expect(heads.find(1, 'acme')).to.equal(undefined)
    expect(heads.find(0, 'globex')).to.equal(undefined)
  })

  it('one is not remembered that ends elsewhere than its first list of records, has white space, or is long', () => {
    for (const text of [
      '{"resource":{"logRecords":[1]},"scopeLogs":[{"logRecords":[2]}]}',
      '{"resource":{},"scopeLogs":[{"logRecords" : [1]}]}',
      elementOf('x'.repeat(5_000)),
    ]) {
      const { heads, add } = headsIn(text)
      add(0, text.lastIndexOf('[') + 1)
      expect(heads.find(0, 'acme')).to.equal(undefined)
    }
  })

  it('all are forgotten where they take more than 8 MiB, and known again from then on', () => {
    const elements = Array.from({ length: 3_000 }, (_, i) => elementOf(String(i).padEnd(3_000, 'x')))
    const starts = elements.map((_, i) => i * elements[0]!.length)
    const { heads, add } = headsIn(elements.join(''))
    for (const [i, start] of starts.entries()) add(start, start + headEnd(elements[i]!))
    const known = starts.filter(start => heads.find(start, 'acme') !== undefined)
    expect(known).to.have.length.within(1, 2_700)
    expect(known).to.include(starts.at(-1))
  })
})
