import { expect } from 'chai'
import { describe, it } from 'mocha'
import { KnownHeads, MAX_BYTES_OF_ALL } from './known-heads.ts'
import { type RecordContext, RecordContexts } from './record-context.ts'

const contexts = new RecordContexts()
/** One whose bytes are no more than are needed. */
const CONTEXT = contexts.make('', '', 'acme')!
const elementOf = (pod: string) => `{"resource":{"pod":"${pod}"},"scopeLogs":[{"scope":{},"logRecords":[{"body":1}]}]}`
const headLength = (text: string) => text.indexOf('"logRecords":[') + '"logRecords":['.length

/** Heads that are read in memory which holds this text. */
function headsIn(text: string) {
  const b = Buffer.from(text)
  const heads = new KnownHeads(b)
  const add = (start: number, tenant = 'acme') =>
    heads.add({ start, tenant, context: CONTEXT, resource: { start: start + 12, end: start + 14 }, scope: undefined })
  return { b, heads, add }
}

describe('known heads', () => {
  it('a head is found again wherever it stands, with its places counted from its start, and its context', () => {
    const element = elementOf('a')
    const { heads, add } = headsIn(`[ ${element} , ${element}`)
    const second = 2 + element.length + 3
    expect(heads.find(2, 'acme')).to.equal(undefined)
    add(2)
    for (const at of [2, second]) {
      const { context, ...places } = heads.find(at, 'acme')!
      expect(places).to.deep.equal({ length: headLength(element), resource: { start: 12, end: 14 }, scope: undefined })
      const { memory, start, foldedEnd } = context.shared
      expect(memory.subarray(start, start + foldedEnd).equals(CONTEXT.shared.memory)).to.equal(true)
      expect(context.sender).to.equal(CONTEXT.sender)
    }
  })

  it('another head, another tenant or another place has none', () => {
    const [one, other] = [elementOf('a'), elementOf('b')]
    const { heads, add } = headsIn(one + other)
    add(0)
    expect(heads.find(one.length, 'acme')).to.equal(undefined)
    expect(heads.find(1, 'acme')).to.equal(undefined)
    expect(heads.find(0, 'globex')).to.equal(undefined)
  })

  it('a head ends with the first list of the name, unless that has white space or is far away', () => {
    for (const [text, end] of [
      ['{"resource":{"logRecords":[1]},"scopeLogs":[{"logRecords":[2]}]}', 27],
      ['{"resource":{},"scopeLogs":[{"logRecords" : [1]}]}', -1],
      [elementOf('x'.repeat(5_000)), -1],
    ] as const) {
      const { heads, add } = headsIn(text)
      expect(heads.endOf(0)).to.equal(end)
      add(0)
      expect(heads.find(0, 'acme')?.length ?? -1).to.equal(end)
    }
  })

  it('those of twenty thousand senders that come in turn are found again, and the oldest forgotten beyond the bound', () => {
    const resource = JSON.stringify({ attributes: [{ key: 'k8s.pod.name', value: { stringValue: 'x'.repeat(300) } }] })
    const [, context] = [0, 1].map(() => contexts.make(resource, '', 'acme')!) as [RecordContext, RecordContext]
    const b = Buffer.from(elementOf('0'.repeat(500)))
    const heads = new KnownHeads(b)
    const at = (pod: number) => void b.write(String(pod).padEnd(8), 20)
    const range = { start: 12, end: 200 }
    const add = (from: number, to: number) => {
      for (let pod = from; pod < to; pod++) {
        at(pod)
        heads.add({ start: 0, tenant: 'acme', context, resource: range, scope: range })
      }
    }
    const isKnown = (pod: number) => {
      at(pod)
      return heads.find(0, 'acme') !== undefined
    }
    add(0, 20_000)
    expect(Array.from({ length: 20_000 }, (_, pod) => pod).every(isKnown)).to.equal(true)
    add(20_000, 40_000)
    expect(isKnown(0)).to.equal(false)
    expect(isKnown(39_999)).to.equal(true)
    expect(40_000 * (context.shared.foldedEnd + b.length)).to.be.above(MAX_BYTES_OF_ALL)
  })
})
