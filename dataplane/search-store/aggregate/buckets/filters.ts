/** Buckets for queries: filter, filters, adjacency_matrix, and missing, which takes the documents without a value. */
import { classOf } from '../../query/bind/field.ts'
import type { CollectContext, Collector } from '../aggregation-collector.ts'
import { groupField, isNumeric } from '../field-values.ts'
import type { MatchView } from '../match-view.ts'
import type { SpecOf } from '../spec.ts'
import { type Below, BucketTable, spendBuckets } from './bucket-table.ts'
import { compareKeys } from './key-order.ts'

/** A bucket for each query. */
export function createFilters(spec: SpecOf<'filters'>, newBelow: () => Below, context: CollectContext): Collector {
  const table = new BucketTable<number>(newBelow, context)
  const other = spec.filters.length
  for (let at = 0; at <= other; at++) table.ordinal(at)
  const isKeyed = spec.filters[0]!.key !== undefined
  const show = (at: number): Record<string, unknown> => ({ doc_count: table.counts[at]!, ...table.belowResults(at) })

  return {
    collect: (view, places) => {
      const tests = spec.filters.map(filter => view.filter(filter.query))
      table.collect(view, places, (place, put) => {
        let isOther = true
        for (let at = 0; at < tests.length; at++)
          if (tests[at]!(place)) {
            put(at)
            isOther = false
          }
        if (isOther) put(other)
      })
    },
    result: () => {
      const count = spec.filters.length + (spec.otherKey === undefined ? 0 : 1)
      spendBuckets(context.budget, count)
      if (!isKeyed) return { buckets: Array.from({ length: count }, (_none, at) => show(at)) }
      const entries = spec.filters.map((filter, at): [string, unknown] => [filter.key!, show(at)])
      if (spec.otherKey !== undefined) entries.push([spec.otherKey, show(other)])
      return { buckets: Object.fromEntries(entries) }
    },
  }
}

/** A bucket for each filter with matches, and for each two filters with matches in common. */
export function createAdjacencyMatrix(spec: SpecOf<'adjacency_matrix'>, newBelow: () => Below, context: CollectContext): Collector {
  const table = new BucketTable<string>(newBelow, context)
  const { filters, separator } = spec
  return {
    collect: (view, places) => {
      const tests = filters.map(filter => view.filter(filter.query))
      table.collect(view, places, (place, put) => {
        const keys = filters.filter((_, at) => tests[at]!(place)).map(({ key }) => key)
        for (const [at, key] of keys.entries()) {
          if (!spec.showsPairsAlone) put(table.ordinal(key))
          for (const other of keys.slice(at + 1)) put(table.ordinal(`${key}${separator}${other}`))
        }
      })
    },
    result: () => {
      spendBuckets(context.budget, table.keys.length)
      const ordinals = Array.from(table.keys.keys()).sort((a, b) => compareKeys(table.keys[a], table.keys[b]))
      return { buckets: ordinals.map(at => ({ key: table.keys[at], doc_count: table.counts[at]!, ...table.belowResults(at) })) }
    },
  }
}

/** One bucket, for the matches that a test lets through. */
function createSingle(newBelow: () => Below, context: CollectContext, testOf: (view: MatchView) => (place: number) => boolean): Collector {
  const table = new BucketTable<number>(newBelow, context)
  table.ordinal(0)
  return {
    collect: (view, places) => {
      const test = testOf(view)
      table.collect(view, places, (place, put) => {
        if (test(place)) put(0)
      })
    },
    result: () => ({ doc_count: table.counts[0]!, ...table.belowResults(0) }),
    orderValue: () => table.counts[0]!,
    below: () => table.below(0),
  }
}

export function createFilter(spec: SpecOf<'filter'>, newBelow: () => Below, context: CollectContext): Collector {
  return createSingle(newBelow, context, view => view.filter(spec.query))
}

/** The matches without a value in the field. */
export function createMissing(spec: SpecOf<'missing'>, newBelow: () => Below, context: CollectContext): Collector {
  return createSingle(newBelow, context, view => {
    const field = groupField(view, spec.field)
    if (field === undefined) return () => true
    const reader = isNumeric(classOf(field)) ? view.numbers(field) : view.keywords(field)
    return place => {
      let hasValue = false
      reader.each(place, () => {
        hasValue = true
      })
      return !hasValue
    }
  })
}
