import { type RankedDocument, TopDocuments } from '../../query/run/top-documents.ts'
import { type CollectContext, type Collector, eachPlace } from '../aggregation-collector.ts'
import type { SpecOf } from '../spec.ts'

/** Memory of a parsed document for each byte of its text, about. */
const PARSED_FACTOR = 4

const sourceBytes = ({ unit, doc }: RankedDocument): number => unit.segment.source(doc).length

/** The first matches of a bucket in an order of their own. */
export function createTopHits(spec: SpecOf<'top_hits'>, context: CollectContext): Collector {
  const top = new TopDocuments({ limit: spec.from + spec.size, sort: spec.sort, memory: context.memory })
  let count = 0
  return {
    collect: (view, places) => {
      const { documents, weights } = view
      if (documents === undefined) throw new Error('top_hits needs documents, and was given counts')
      const { unit, docs, firstSortValues } = documents
      eachPlace(view, places, place => {
        count += weights === undefined ? 1 : weights[place]!
        if (firstSortValues !== undefined && !top.mayHold(firstSortValues[place]!)) return
        top.enter(unit)
        const doc = docs[place]!
        if (!top.isPromising(doc)) return
        const candidate = top.rank(doc, documents.score(doc))
        if (candidate !== undefined) top.keep(candidate)
      })
    },
    result: () => {
      const ranked = top.ranked().slice(spec.from)
      const isScored = spec.sort.length === 0 || spec.sort.some(sort => sort.field === '_score')
      return {
        hits: {
          total: { value: count, relation: 'eq' },
          max_score: isScored && ranked.length > 0 ? Math.max(...ranked.map(document => document.score)) : null,
          hits: ranked.map(document => {
            context.memory.charge(PARSED_FACTOR * sourceBytes(document), 'fewer [top_hits], or a part of their [_source]')
            return context.showHit(document, spec)
          }),
        },
      }
    },
  }
}
