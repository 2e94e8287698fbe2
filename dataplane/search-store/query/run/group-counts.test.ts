/** Counts by value that sealed segments hold say of a search what its documents say. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { gridOf } from '../../aggregate/grid.ts'
import type { Segment } from '../../storage/index-storage.ts'
import { LOG_MAPPING } from '../../storage/log-engine/testing/log-mapping.ts'
import { openIndex, withDirectory } from '../../storage/log-engine/testing/temporary-index.ts'
import { bindQuery } from '../bind/bind.ts'
import { parseQuery } from '../parse/parse.ts'
import { groupCounts } from './group-counts.ts'
import type { Grouping } from './group-matches.ts'
import { matches } from './matches.ts'
import { readDocument, type SegmentUnit } from './segment-unit.ts'

type Doc = Readonly<Record<string, string>>

const FIRST_MS = Date.UTC(2026, 10, 21)
const DAY = { range: { timestamp: { gte: '2026-11-21', lt: '2026-11-22' } } }
const FIELDS = ['tenant_id', 'level', 'service', 'environment', 'host', 'pattern_id'] as const
const HOUR = { range: { timestamp: { lt: '2026-11-21T00:05' } } }

const docs: readonly Doc[] = Array.from({ length: 2_000 }, (_none, at) => ({
  timestamp: new Date(FIRST_MS + at * 1_000).toISOString(),
  message: `order ${at}`,
  tenant_id: at % 5 === 0 ? 'acme' : 'globex',
  level: ['INFO', 'WARN', 'ERROR'][(at * at) % 3]!,
  service: `s${at % 4}`,
  host: at % 7 === 0 ? '' : `h${at % 3}`,
  ...(at % 11 > 0 && { pattern_id: `p${at % 6}` }),
}))

const groupingBy = (...fields: readonly string[]): Grouping => ({
  key: fields.join(),
  dimensions: fields.map(path => ({ path, grid: undefined })),
  best: undefined,
  extremes: new Map(),
})

/** Counts of values, from documents. */
function counted(segment: Segment, isMatch: (doc: number) => boolean, fields: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  for (let doc = 0; doc < segment.size; doc++) {
    if (!segment.isLive(doc) || !isMatch(doc)) continue
    const source = readDocument(segment, doc) as Doc
    const key = fields.map(field => source[field] ?? '').join()
    found.set(key, (found.get(key) ?? 0) + 1)
  }
  return found
}

describe('counts by value of a sealed segment', () => {
  /** With a search over its only segment, sealed. */
  const withSegment = (use: (unitOf: (query: object) => SegmentUnit) => void | Promise<void>) =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(docs.map((doc, at) => ({ action: 'create', id: `d${at}`, source: Buffer.from(JSON.stringify(doc)) })))
      await index.seal()
      await use(query => {
        const condition = bindQuery(parseQuery(query), { index: index.name, mapping: index.mapping, nowMs: FIRST_MS })
        const bound = { index: index.name, mapping: index.mapping, condition, query: condition }
        return { ordinal: 0, segment: index.segments()[0]!, bound }
      })
      await index.close()
    })

  const told: readonly object[] = [
    { match_all: {} },
    { term: { service: 's1' } },
    { bool: { filter: [DAY, { terms: { level: ['WARN', 'ERROR'] } }], must_not: [{ term: { service: 's2' } }] } },
    { bool: { should: [{ term: { level: 'ERROR' } }, { prefix: { service: 's' } }], minimum_should_match: 2 } },
    { bool: { filter: [{ wildcard: { service: '*3' } }, { term: { tenant_id: 'acme' } }] } },
    { term: { service: 'nobody' } },
  ]

  for (const query of told)
    it(`tell groups of ${JSON.stringify(query)}`, () =>
      withSegment(unitOf => {
        const { segment, bound } = unitOf(query)
        const isMatch = (doc: number) => matches(bound.condition, { id: segment.id(doc), source: readDocument(segment, doc) })
        for (const fields of [['level'], ['service', 'level'], ['host'], ['pattern_id'], ['pattern_id', 'tenant_id'], ['environment']]) {
          const answer = groupCounts(unitOf(query), groupingBy(...fields))!
          const { counts, fields: values } = answer.groups
          const found = new Map<string, number>()
          for (let at = 0; at < counts.length; at++) {
            const key = fields.map(field => {
              const of = values.get(field)
              return of?.kind === 'keyword' ? of.dictionary[of.codes[at]!] : ''
            })
            found.set(key.join(), (found.get(key.join()) ?? 0) + counts[at]!)
          }
          const expected = counted(segment, isMatch, fields)
          expect(found, fields.join()).to.deep.equal(expected)
          expect(answer.matches).to.equal([...expected.values()].reduce((sum, count) => sum + count, 0))
        }
      }))

  it('tell patterns by the quarter of an hour, and not by shorter bars', () =>
    withSegment(unitOf => {
      const { segment } = unitOf({ match_all: {} })
      const barsOf = (barMs: number) => {
        const byTime = {
          path: 'timestamp',
          grid: gridOf({ type: 'histogram', interval: barMs, offset: 0 } as Parameters<typeof gridOf>[0]),
        }
        const grouping = groupingBy('pattern_id')
        return groupCounts(unitOf({ match_all: {} }), { ...grouping, dimensions: [...grouping.dimensions, byTime] })?.groups
      }
      expect(barsOf(5 * 60_000)).to.equal(undefined)
      for (const barMs of [15 * 60_000, 30 * 60_000]) {
        const { counts, fields } = barsOf(barMs)!
        const [patterns, times] = [fields.get('pattern_id'), fields.get('timestamp')]
        if (patterns?.kind !== 'keyword' || times?.kind !== 'number') throw new Error('groups of other fields')
        const found = new Map<string, number>()
        for (let at = 0; at < counts.length; at++) {
          const key = `${patterns.dictionary[patterns.codes[at]!]} ${Math.floor(times.values[at]! / barMs)}`
          found.set(key, (found.get(key) ?? 0) + counts[at]!)
        }
        const expected = new Map<string, number>()
        for (let doc = 0; doc < segment.size; doc++) {
          const { pattern_id: pattern = '', timestamp } = readDocument(segment, doc) as Doc
          const key = `${pattern} ${Math.floor(Date.parse(timestamp!) / barMs)}`
          expected.set(key, (expected.get(key) ?? 0) + 1)
        }
        expect(found).to.deep.equal(expected)
      }
    }))

  it('do not tell what they do not hold: other fields, parts of the time, empty values, hosts of patterns', () =>
    withSegment(unitOf => {
      const isTold = (query: object, ...fields: readonly string[]) => groupCounts(unitOf(query), groupingBy(...fields)) !== undefined
      expect(isTold({ match_all: {} }, ...FIELDS)).to.equal(false)
      expect(isTold({ term: { host: 'h1' } }, 'pattern_id')).to.equal(false)
      expect(isTold({ term: { host: 'h1' } }, 'level')).to.equal(true)
      expect(isTold({ match: { message: 'order' } }, 'level')).to.equal(false)
      expect(isTold({ match_all: {} }, 'trace_id')).to.equal(false)
      expect(isTold(HOUR, 'level')).to.equal(false)
      expect(isTold({ term: { host: '' } }, 'level')).to.equal(false)
      expect(isTold({ wildcard: { host: '*' } }, 'level')).to.equal(false)
    }))

  it('are not asked once a document is deleted', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await index.apply(docs.map((doc, at) => ({ action: 'create', id: `d${at}`, source: Buffer.from(JSON.stringify(doc)) })))
      await index.seal()
      const fields = new Set(['service'])
      expect(index.segments()[0]!.valueCounts!(fields)!.counts.reduce((sum, count) => sum + count, 0)).to.equal(docs.length)
      await index.apply([{ action: 'delete', id: 'd7' }])
      expect(index.segments()[0]!.valueCounts!(fields)).to.equal(undefined)
      await index.close()
    }))

  it('are left out where rows would hardly be fewer than documents', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const sources = docs.map((doc, at) => JSON.stringify({ ...doc, host: `pod-${at}` }))
      await index.apply(sources.map((source, at) => ({ action: 'create', id: `d${at}`, source: Buffer.from(source) })))
      await index.seal()
      const [segment] = index.segments()
      expect(segment!.valueCounts!(new Set(['host']))).to.equal(undefined)
      expect(segment!.valueCounts!(new Set(['service', 'pattern_id']))).to.not.equal(undefined)
      await index.close()
    }))
})
