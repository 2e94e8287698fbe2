import { expect } from 'chai'
import fc from 'fast-check'
import { rounds } from '../../../testing/rounds.ts'
import { createMapping } from '../../mapping/mapping.ts'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import { classOf, eachKeyword, eachNumber, findField } from '../../query/bind/field.ts'
import type { Segment } from '../index-storage.ts'
import type { Entry } from './stage.ts'
import { TableRuns } from './table-runs.ts'

const MAPPING = createMapping(
  mappingConfigOf(
    {
      properties: {
        status: { type: 'keyword' },
        at: { type: 'date' },
        count: { type: 'long' },
        isOpen: { type: 'boolean' },
        title: { type: 'text' },
        code: { type: 'keyword', ignore_above: 3 },
        owner: { properties: { name: { type: 'keyword' } } },
      },
    },
    1_000,
  ),
)
const FIELDS = ['status', 'at', 'count', 'isOpen', 'code', 'owner.name']

let writes = 0
const entryOf = (id: string, document: object): Entry => ({
  id,
  seqNo: ++writes,
  version: 1,
  source: Buffer.from(JSON.stringify(document)),
})

/** Live documents by id, in the order of the segments. */
const documentsOf = (segments: readonly Segment[]) =>
  segments.flatMap(segment =>
    Array.from({ length: segment.size }, (_, doc) => doc)
      .filter(doc => segment.isLive(doc))
      .map(doc => [segment.id(doc), segment.seqNo(doc), Buffer.from(segment.source(doc)).toString()]),
  )

const document = fc.record(
  {
    status: fc.oneof(fc.constantFrom('open', 'resolved', '', 'x'.repeat(600)), fc.constant(['open', 'resolved']), fc.constant(null)),
    at: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00.123Z', 1_700_000_000_000),
    count: fc.oneof(fc.integer(), fc.constant([1, 2])),
    isOpen: fc.boolean(),
    title: fc.string(),
    code: fc.constantFrom('a', 'long'),
    owner: fc.oneof(fc.constantFrom({ name: 'ada' }, { name: ['ada', 'bo'] }, { age: 7 }), fc.constant(null)),
    'owner.name': fc.constant('cy'),
    // Large documents are parsed in part: only members that fields are in.
    evidence: fc.constant([{ status: 'closed', at: 'never', text: '}"\\,'.repeat(300) }]),
  },
  { requiredKeys: [] },
)
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ id: fc.nat(900).map(String), document }) },
  { weight: 1, arbitrary: fc.record({ id: fc.nat(900).map(String) }) },
)

/** Each column tells what the documents hold. */
function columnsAgree(segment: Segment): void {
  for (const path of FIELDS) {
    const column = segment.column(path)
    if (column === undefined) continue
    const field = findField(MAPPING, path)!
    for (let doc = 0; doc < segment.size; doc++) {
      const source: unknown = JSON.parse(Buffer.from(segment.source(doc)).toString())
      const held: (string | number)[] = []
      if (classOf(field) === 'keyword') eachKeyword(field, source, value => held.push(value))
      else eachNumber(field, source, value => held.push(value))
      const value = column.kind === 'keyword' ? column.dictionary[column.codes[doc]!] : column.values[doc]
      expect(held.length === 0 ? [column.kind === 'keyword' ? '' : Number.NaN] : held, path).to.deep.equal([value])
    }
  }
}

describe('runs of a table', () => {
  it('hold the documents in the order in which they were last written, with columns that agree with them; a snapshot does not change', () =>
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 700 }), { maxLength: 4 }), batches => {
        const runs = new TableRuns()
        const expected = new Map<string, Entry>()
        let before: readonly [readonly Segment[], unknown] | undefined
        for (const batch of batches) {
          for (const each of batch) {
            expected.delete(each.id)
            if (!('document' in each)) {
              runs.delete(each.id)
              continue
            }
            const entry = entryOf(each.id, each.document)
            expected.set(each.id, entry)
            runs.set(entry)
          }
          const segments = runs.segments(MAPPING)
          const documents = documentsOf(segments)
          expect(documents).to.deep.equal(
            [...expected.values()].map(({ id, seqNo, source }) => [id, seqNo, Buffer.from(source).toString()]),
          )
          for (const segment of segments) columnsAgree(segment)
          for (const { id } of batch.slice(0, 20)) {
            expect(runs.get(id)).to.equal(expected.get(id))
            const found = segments.flatMap(segment => [...segment.docsOf!([id])].filter(doc => segment.isLive(doc)))
            expect(found).to.have.length(expected.has(id) ? 1 : 0)
          }
          if (before !== undefined) expect(documentsOf(before[0])).to.deep.equal(before[1])
          before = [segments, documents]
        }
      }),
      { numRuns: rounds(60), seed: 7 },
    )).timeout(60_000)

  it('are few, however often documents are written', () => {
    const runs = new TableRuns()
    for (let i = 0; i < 20_000; i++) runs.set(entryOf(String(i % 700), { count: i }))
    expect(runs.segments(MAPPING)).to.have.length.below(8)
    for (let i = 0; i < 700; i++) runs.delete(String(i))
    expect(runs.segments(MAPPING)).to.deep.equal([])
    expect(runs.memoryBytes).to.equal(0)
  })

  it('of a large table keep no parsed documents', () => {
    const runs = new TableRuns()
    const text = 'x'.repeat(8_000)
    for (let i = 0; i < 100; i++) runs.set(entryOf(String(i), { title: text }))
    expect(runs.segments(MAPPING)[0]!.parsed).to.be.a('function')
    for (let i = 100; i < 700; i++) runs.set(entryOf(String(i), { title: text }))
    for (const segment of runs.segments(MAPPING)) expect(segment.parsed).to.equal(undefined)
    expect(runs.memoryBytes).to.be.below(2 * 700 * 8_000)
  })
})
