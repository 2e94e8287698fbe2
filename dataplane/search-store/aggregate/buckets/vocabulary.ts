/** The terms of a field in all documents of a search's indices: `min_doc_count` 0 asks for those without a match, too. */
import { illegalArgument } from '../../api-error.ts'
import { classOf } from '../../query/bind/field.ts'
import type { CollectContext, Collector, TermKey, Vocabularies, Vocabulary } from '../aggregation-collector.ts'
import { groupField } from '../field-values.ts'
import type { MatchView } from '../match-view.ts'
import type { AggregationSpec, SpecOf } from '../spec.ts'
import { NO_BELOW } from './bucket-table.ts'
import { keyOrder } from './key-order.ts'
import { collectTerms, keywordStandIn } from './terms.ts'

export const NO_VOCABULARIES: Vocabularies = new Map()

/** The aggregations that show terms without a match, at any depth. */
export function showingAllTerms(specs: readonly AggregationSpec[]): readonly SpecOf<'terms'>[] {
  return specs.flatMap(spec => [...(spec.type === 'terms' && spec.minDocCount === 0 ? [spec] : []), ...showingAllTerms(spec.below)])
}

/** Terms that are put in order, in one piece of work. */
const MAX_VOCABULARY = 262_144

/** Collects all documents; `read` at the end gives their terms, which are put in order when a bucket asks for them. */
export function createVocabulary(spec: SpecOf<'terms'>, context: CollectContext): { collector: Collector; read(): Vocabulary } {
  const { collect, table, shownField } = collectTerms(spec, NO_BELOW, context)
  let sorted: readonly TermKey[] | undefined
  /** The keyword that stands for no value is a term, although no document may lack one. */
  const collectWithStandIn = (view: MatchView, places: Uint32Array | undefined): void => {
    collect(view, places)
    const field = groupField(view, spec.field)
    const keyword = field !== undefined && classOf(field) === 'keyword' ? keywordStandIn(spec, field) : undefined
    if (keyword !== undefined) table.ordinal(keyword)
  }
  const read = (): Vocabulary => ({
    field: shownField(),
    get keys() {
      if (table.keys.length > MAX_VOCABULARY)
        throw illegalArgument(
          `aggregation [${spec.name}]: with [min_doc_count] 0 a field may have at most ${MAX_VOCABULARY} terms, found ${table.keys.length}`,
        )
      sorted ??= table.keys.toSorted(keyOrder(shownField()))
      return sorted
    },
  })
  return { collector: { collect: collectWithStandIn, result: () => ({}) }, read }
}
