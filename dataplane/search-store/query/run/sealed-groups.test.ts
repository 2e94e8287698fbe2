/** Groups that a sealed segment gives from blocks of times and from columns, and ranges over its numbers, are those of its documents. */
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import { gridOf } from '../../aggregate/buckets/grid.ts'
import { parseTimeZone } from '../../dates/time-zone.ts'
import type { Segment } from '../../storage/index-storage.ts'
import { LOG_MAPPING } from '../../storage/log-engine/testing/log-mapping.ts'
import { openIndex, withDirectory } from '../../storage/log-engine/testing/temporary-index.ts'
import { bindQuery } from '../bind/bind.ts'
import { parseQuery } from '../parse/parse.ts'
import { listDocs } from '../plan/doc-set.ts'
import { planSegment } from '../plan/plan.ts'
import { countsView } from './counts-view.ts'
import { type Grouping, groupMatches } from './group-matches.ts'
import { matches } from './matches.ts'
import { readDocument, type SegmentUnit } from './segment-unit.ts'
import { liveDocs } from './walk-segment.ts'

type Doc = Readonly<Record<string, string | number | readonly string[]>>

const FIRST_MS = Date.UTC(2026, 10, 21, 3)
const COUNT = 2_600

const docs: readonly Doc[] = Array.from({ length: COUNT }, (_none, at) => ({
  // Out of order by some seconds, several in one millisecond, one hour apart now and then.
  timestamp: new Date(FIRST_MS + Math.floor(at / 3) * 900 - ((at * 7_919) % 5_000) + (at % 900 === 899 ? 3_600_000 : 0)).toISOString(),
  message: at % 3 === 0 ? `session ${at} of user ended` : `query took ${at} ms`,
  ...(at % 9 > 0 && { level: ['INFO', 'WARN', 'ERROR'][(at * at) % 3]! }),
  service: `s${at % 4}`,
  tenant_id: 'acme',
  pattern_id: `p${(at * at) % 300}`,
  host: at % 50 === 7 ? ['h1', 'h2'] : `h${at % 3}`,
  took: at % 7 === 0 ? at : at + 0.25,
  ...(at % 2 === 0 && { half: at / 8 }),
}))

const bars = (ms: number, zone = 'UTC') =>
  gridOf({ type: 'date_histogram', interval: { ms }, zone: parseTimeZone(zone), offsetMs: 0 } as Parameters<typeof gridOf>[0])

const groupingOf = (keywords: readonly string[], barMs: number | undefined, isNewest: boolean): Grouping => ({
  key: '',
  dimensions: [
    ...keywords.map(path => ({ path, grid: undefined })),
    ...(barMs === undefined ? [] : [{ path: 'timestamp', grid: bars(barMs) }]),
  ],
  best: isNewest ? { field: 'timestamp', order: 'desc', missing: '_last', mode: 'max' } : undefined,
  extremes: new Map(),
})

/** Count, and the newest document, by group. */
function counted(segment: Segment, chosen: Uint32Array, keywords: readonly string[], barMs: number | undefined) {
  const groups = new Map<string, { count: number; newest: number; ms: number }>()
  for (const doc of chosen) {
    const source = readDocument(segment, doc) as Doc
    const ms = Date.parse(String(source['timestamp']))
    const key = [...keywords.map(path => source[path] ?? ''), ...(barMs === undefined ? [] : [Math.floor(ms / barMs) * barMs])].join()
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { count: 1, newest: doc, ms })
    else groups.set(key, { count: known.count + 1, ...(ms > known.ms ? { newest: doc, ms } : { newest: known.newest, ms: known.ms }) })
  }
  return groups
}

function shown(unit: SegmentUnit, chosen: Uint32Array, keywords: readonly string[], barMs: number | undefined, isNewest: boolean) {
  const groups = groupMatches(unit, chosen, groupingOf(keywords, barMs, isNewest), true)
  if (groups === undefined) return undefined
  const found = new Map<string, { count: number; newest?: number }>()
  for (let at = 0; at < groups.counts.length; at++) {
    const keys = [...keywords, ...(barMs === undefined ? [] : ['timestamp'])].map(path => {
      const values = groups.fields.get(path)!
      return values.kind === 'keyword' ? values.dictionary[values.codes[at]!]! : Math.floor(values.values[at]! / barMs!) * barMs!
    })
    found.set(keys.join(), { count: groups.counts[at]!, ...(isNewest && { newest: groups.docs[at]! }) })
  }
  return found
}

describe('groups of a sealed segment', function () {
  this.timeout(30_000)

  const withIndex = (use: (unitOf: (query: object) => SegmentUnit, remove: (ids: readonly number[]) => Promise<void>) => Promise<void>) =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(docs.map((doc, at) => ({ action: 'create', id: `d${at}`, source: Buffer.from(JSON.stringify(doc)) })))
      await index.seal()
      await use(
        query => {
          const condition = bindQuery(parseQuery(query), { index: index.name, mapping: index.mapping, nowMs: FIRST_MS })
          return {
            ordinal: 0,
            segment: index.segments()[0]!,
            bound: { index: index.name, mapping: index.mapping, condition, query: condition },
          }
        },
        async ids => {
          await index.apply(ids.map(id => ({ action: 'delete', id: `d${id}` })))
        },
      )
      await index.close()
    })

  it('are those of the documents, whichever are asked for and however wide the bars', () =>
    withIndex(async unitOf => {
      const unit = unitOf({ match_all: {} })
      expect(unit.segment.column('timestamp')).to.have.property('blocks').that.is.not.equal(undefined)
      const anyDocs = fc
        .tuple(fc.integer({ min: 0, max: COUNT }), fc.integer({ min: 0, max: COUNT }), fc.integer({ min: 1, max: 400 }))
        .map(([a, b, step]) =>
          Uint32Array.from({ length: COUNT }, (_none, doc) => doc).filter(
            doc => doc >= Math.min(a, b) && doc < Math.max(a, b) && doc % step < 1 + step / 2,
          ),
        )
      fc.assert(
        fc.property(
          anyDocs,
          fc.subarray(['level', 'service', 'tenant_id', 'pattern_id', 'absent']),
          fc.option(fc.constantFrom(50, 5_000, 60_000, 600_000, 86_400_000), { nil: undefined }),
          fc.boolean(),
          (chosen, keywords, barMs, isNewest) => {
            const found = shown(
              unit,
              chosen,
              keywords.filter(path => path !== 'absent'),
              barMs,
              isNewest,
            )
            const expected = counted(
              unit.segment,
              chosen,
              keywords.filter(path => path !== 'absent'),
              barMs,
            )
            // Undefined is right where groups would hardly be fewer than documents.
            if (found === undefined) {
              expect(expected.size).to.be.greaterThan(chosen.length < 256 ? chosen.length : chosen.length / 2)
              return
            }
            const plain = [...expected].map(([key, { count, newest }]) => [key, { count, ...(isNewest && { newest }) }] as const)
            expect(found).to.deep.equal(new Map(plain))
          },
        ),
        { numRuns: rounds(150) },
      )
    }))

  it('are not told of a field with several values in a document', () =>
    withIndex(async unitOf => {
      const all = Uint32Array.from({ length: COUNT }, (_none, doc) => doc)
      expect(shown(unitOf({ match_all: {} }), all, ['host'], undefined, false)).to.equal(undefined)
    }))

  it('are found without a look at the counts by minute, where those cannot tell and the window holds the whole segment', () =>
    withIndex(async unitOf => {
      const window = { range: { timestamp: { gte: FIRST_MS - 3_600_000, lt: FIRST_MS + 86_400_000 } } }
      const unit = unitOf({ bool: { filter: [window, { match: { message: 'took' } }] } })
      const looks: string[] = []
      Object.defineProperty(unit.segment, 'counts', { value: () => void looks.push('counts') })
      expect(liveDocs(planSegment(unit.bound.condition, unit.segment), unit.segment)).to.have.lengthOf(COUNT - Math.ceil(COUNT / 3))
      expect(countsView(unit, [], FIRST_MS)).to.equal(undefined)
      expect(looks).to.deep.equal([])
    }))

  const queries: readonly object[] = [
    { range: { took: { gt: 800 } } },
    { range: { took: { gte: 700.25, lt: 900 } } },
    { range: { half: { lte: 40 } } },
    { range: { timestamp: { gte: FIRST_MS + 100_000, lt: FIRST_MS + 400_000 } } },
    { range: { timestamp: { gt: FIRST_MS + 3_600_000 } } },
    { prefix: { message: { value: 'sess' } } },
    { match_phrase: { message: 'of user' } },
    { match: { message: 'took' } },
    { bool: { filter: [{ match: { message: 'query' } }, { terms: { pattern_id: ['p1', 'p4', 'p9', 'p16'] } }] } },
    { bool: { must_not: [{ prefix: { message: { value: 'sess' } } }, { term: { level: 'ERROR' } }] } },
    { term: { message: 'nowhere' } },
  ]

  for (const query of queries)
    it(`have all matches of ${JSON.stringify(query)}, at the first question, the next, and after deletions`, () =>
      withIndex(async (unitOf, remove) => {
        const check = (): void => {
          const { segment, bound } = unitOf(query)
          const plan = planSegment(bound.condition, segment)
          const isMatch = (doc: number) => matches(bound.condition, { id: segment.id(doc), source: readDocument(segment, doc) })
          const every = [...Array(segment.size).keys()].filter(doc => segment.isLive(doc))
          const found = [...liveDocs(plan, segment, new Uint32Array(COUNT))]
          expect(plan.residual === undefined ? found : found.filter(isMatch)).to.deep.equal(every.filter(isMatch))
          expect([...listDocs(plan.candidates, segment.size)].filter(doc => segment.isLive(doc))).to.deep.equal(found)
        }
        check()
        check()
        await remove([3, 4, 5, 1_400, 2_599])
        check()
        check()
      }))
})
