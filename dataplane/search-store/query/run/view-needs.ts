import { fieldsOf, queriesOf } from '../../aggregate/field-values.ts'
import type { AggregationSpec } from '../../aggregate/spec.ts'
import type { Query } from '../parse/query.ts'
import type { ViewNeeds } from './walk-segment.ts'

/** Fields and filters that the aggregations read, at any depth. */
export function needsOf(specs: readonly AggregationSpec[], nowMs: number): Omit<ViewNeeds, 'memory'> {
  const fields = new Set<string>()
  const filters: Query[] = []
  const visit = (spec: AggregationSpec): void => {
    for (const field of fieldsOf(spec)) fields.add(field)
    filters.push(...queriesOf(spec))
    spec.below.forEach(visit)
  }
  specs.forEach(visit)
  return { fields: [...fields], filters, nowMs }
}
