/** Groups of several segments that are put together stand for the same documents as those of the segments one by one. */
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../testing/rounds.ts'
import { openQueryMemory } from '../budget/query-memory.ts'
import type { GroupValues } from './coded-field.ts'
import type { Grouping, Groups } from './group-matches.ts'
import type { GroupsView } from './groups-view.ts'
import { MergedGroups } from './merged-groups.ts'
import type { BoundIndex, SegmentUnit } from './segment-unit.ts'

/** Rows of one segment. */
interface Rows {
  readonly index: number
  readonly rows: readonly { readonly service: string; readonly hour: number; readonly count: number; readonly best: number }[]
}

const MAPPING = { field: (path: string) => ({ type: path === 'hour' ? 'date' : 'keyword' }) }
const bounds = [0, 1].map(index => ({ index: `i${index}`, mapping: MAPPING }) as unknown as BoundIndex)

const unitsOf = (segments: readonly Rows[]): readonly SegmentUnit[] =>
  segments.map(({ index }, ordinal) => ({ ordinal, bound: bounds[index]!, segment: {} }) as SegmentUnit)

function groupsOf({ rows }: Rows, isBest: boolean): Groups {
  const dictionary = ['', ...new Set(rows.map(({ service }) => service).filter(service => service !== ''))]
  const fields: [string, GroupValues][] = [
    ['service', { kind: 'keyword', dictionary, codes: Uint32Array.from(rows, ({ service }) => dictionary.indexOf(service)) }],
    ['hour', { kind: 'number', values: Float64Array.from(rows, ({ hour }) => hour) }],
  ]
  return {
    counts: Uint32Array.from(rows, ({ count }) => count),
    docs: isBest ? Uint32Array.from(rows.keys()) : new Uint32Array(0),
    bestValues: isBest ? Float64Array.from(rows, ({ best }) => best) : undefined,
    fields: new Map(fields),
    sizeBytes: 0,
  }
}

const groupingOf = (order: 'asc' | 'desc' | undefined): Grouping => ({
  key: '',
  dimensions: [],
  best: order && { field: 'timestamp', order, missing: '_last', mode: 'max' },
  extremes: new Map(),
})

interface Shown {
  count: number
  best?: readonly [value: number, ordinal: number, doc: number]
}

/** By index, service and hour the count and the first document. */
function shown(views: readonly GroupsView[]): Map<string, Shown> {
  const found = new Map<string, Shown>()
  for (const view of views) {
    const services = view.keywords({ path: 'service' } as Parameters<GroupsView['keywords']>[0])
    const hours = view.numbers({ path: 'hour' } as Parameters<GroupsView['numbers']>[0])
    const { documents } = view
    for (let place = 0; place < view.size; place++) {
      const { dictionary, code } = services.coded!
      const key = JSON.stringify([dictionary[code(place)], String(hours.single!(place))])
      const best = documents && ([documents.firstSortValues![place]!, documents.unit.ordinal, documents.docs[place]!] as const)
      const known = found.get(key)
      found.set(key, { count: (known?.count ?? 0) + view.weights[place]!, ...(best && { best: firstOf(best, known?.best, 1) }) })
    }
  }
  return found
}

type Best = NonNullable<Shown['best']>

function firstOf(a: Best, b: Best | undefined, sign: number): Best {
  if (b === undefined) return a
  return (sign * (a[0] - b[0]) || a[1] - b[1] || a[2] - b[2]) < 0 ? a : b
}

const segments = fc.array(
  fc.record({
    index: fc.constantFrom(0, 1),
    rows: fc.uniqueArray(
      fc.record({
        service: fc.constantFrom('', 'a', 'b', 'c', '0', '__proto__'),
        hour: fc.constantFrom(Number.NaN, 0, 3_600_000, 7_200_000),
        count: fc.integer({ min: 1, max: 9 }),
        best: fc.integer({ min: 0, max: 3 }),
      }),
      { selector: ({ service, hour }) => `${service} ${hour}` },
    ),
  }),
  { maxLength: 8 },
)

describe('groups of several segments', () => {
  it('stand for the same documents when they are put together, and have the first of them', () => {
    fc.assert(
      fc.property(segments, fc.constantFrom('asc', 'desc', undefined), (all, order) => {
        const units = unitsOf(all)
        const sign = order === 'desc' ? -1 : 1
        for (const index of [0, 1]) {
          const memory = openQueryMemory()
          const merged = new MergedGroups(groupingOf(order), memory)
          const expected = new Map<string, Shown>()
          for (const [at, each] of all.entries()) {
            if (each.index !== index) continue
            expect(merged.add(units[at]!, groupsOf(each, order !== undefined))).to.deep.equal([])
            for (const [doc, { service, hour, count, best }] of each.rows.entries()) {
              const key = JSON.stringify([service, String(hour)])
              const known = expected.get(key)
              const own = firstOf([best, at, doc], known?.best, sign)
              expected.set(key, { count: (known?.count ?? 0) + count, ...(order !== undefined && { best: own }) })
            }
          }
          const views = merged.rest()
          // Each combination is there once.
          expect(views.reduce((sum, { size }) => sum + size, 0)).to.equal(expected.size)
          expect(shown(views)).to.deep.equal(expected)
          expect(memory.usedBytes).to.equal(0)
        }
      }),
      { numRuns: rounds(300) },
    )
  })

  it('are given out before they are too many, and none is lost', () => {
    const memory = openQueryMemory()
    const merged = new MergedGroups(groupingOf('desc'), memory)
    const all: Rows[] = Array.from({ length: 30 }, (_none, at) => ({
      index: 0,
      rows: Array.from({ length: 1_000 }, (_row, k) => ({ service: `s${(at * 500 + k) % 9_000}`, hour: k % 3, count: 1, best: k })),
    }))
    const units = unitsOf(all)
    const views = all.flatMap((each, at) => [...merged.add(units[at]!, groupsOf(each, true))])
    expect(views.length).to.be.greaterThan(0)
    expect(memory.usedBytes).to.be.lessThan(1 << 20)
    const found = [...views, ...merged.rest()]
    expect(found.reduce((sum, { weights }) => sum + weights.reduce((own, weight) => own + weight, 0), 0)).to.equal(30_000)
    expect(Math.max(...found.map(({ size }) => size))).to.be.lessThan(10_000)
    expect(memory.usedBytes).to.equal(0)
  })
})
