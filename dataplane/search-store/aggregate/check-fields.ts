import type { Query } from '../query/parse/query.ts'
import { groupField, numberField } from './field-values.ts'
import type { MatchView } from './match-view.ts'
import type { AggregationSpec } from './spec.ts'

const ANY_FIELD = new Set<AggregationSpec['type']>(['terms', 'value_count', 'cardinality', 'missing'])

export interface FieldsOfIndex extends Pick<MatchView, 'field'> {
  /** Throws 400 where the index cannot run the query. */
  bind(query: Query): unknown
}

/** Throws 400 where an index has a field of a kind that the aggregation cannot use. */
export function checkFields(specs: readonly AggregationSpec[], lookup: FieldsOfIndex): void {
  for (const spec of specs) {
    if (spec.type === 'filter') lookup.bind(spec.query)
    if (spec.type === 'filters') for (const { query } of spec.filters) lookup.bind(query)
    if ('field' in spec) {
      if (ANY_FIELD.has(spec.type)) groupField(lookup, spec.field)
      else numberField(lookup, spec.field, spec.type)
    }
    checkFields(spec.below, lookup)
  }
}
