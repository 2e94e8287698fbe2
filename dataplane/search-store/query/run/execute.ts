/** Runs a search over the segments of its indices, its aggregations apart from its hits where these are fewer. */
import type { CollectContext, Vocabularies } from '../../aggregate/aggregation-collector.ts'
import { createVocabulary, NO_VOCABULARIES, showingAllTerms } from '../../aggregate/buckets/vocabulary.ts'
import { createCollectors } from '../../aggregate/create-collectors.ts'
import { ALL } from '../bind/condition.ts'
import { createPace, type Pace, SHOW_MS } from '../budget/pace.ts'
import type { SearchRequest } from '../parse/search-request.ts'
import { openUnits } from './bind-targets.ts'
import { type ExecuteContext, Search, type SearchOutcome } from './search.ts'
import type { SearchTarget } from './search-target.ts'
import type { SegmentUnit } from './segment-unit.ts'

/** Works on the documents as they are when it is called; other work runs in between. Throws 400 when no index can run the query. */
export async function executeSearch(
  targets: readonly SearchTarget[],
  request: SearchRequest,
  context: ExecuteContext,
): Promise<SearchOutcome> {
  const nowMs = context.clock.nowMs()
  const pace = createPace(context.clock, Math.min(context.leftMs(), request.timeoutMs ?? Number.POSITIVE_INFINITY), context.turns)
  const { units, hitUnits, failures } = await openUnits(targets, request, nowMs, pace)
  const collect = { nowMs, budget: { used: 0 }, memory: context.memory, vocabularies: NO_VOCABULARIES, showHit: context.showTopHit }
  const vocabularies = await readVocabularies(units, request, context, collect, pace)
  const newCollectors = createCollectors(request.aggregations, { ...collect, vocabularies })
  const collectors = newCollectors()
  const run = async (asked: SearchRequest, on: readonly SegmentUnit[], into: typeof collectors) => {
    const search = new Search(asked, on, context, nowMs, pace, into)
    await search.run()
    return search.outcome()
  }
  const newPace = () => createPace(context.clock, context.leftMs() + SHOW_MS, context.turns)
  if (hitUnits === units || collectors.size === 0) return { ...(await run(request, hitUnits, collectors)), failures, newPace }
  // `post_filter` leaves the aggregations all matches: they are collected apart from the hits.
  const hits = await run({ ...request, aggregations: [] }, hitUnits, new Map())
  const { searchAfter: _ofHits, ...whole } = request
  const { aggregations, timedOut } = await run({ ...whole, from: 0, size: 0, sort: [] }, units, collectors)
  return { ...hits, aggregations, timedOut, failures, newPace }
}

/** Goes over all documents once for the aggregations that show terms without a match, those too that the query and the filters of aliases leave out. */
async function readVocabularies(
  units: readonly SegmentUnit[],
  request: SearchRequest,
  context: ExecuteContext,
  collect: CollectContext,
  pace: Pace,
): Promise<Vocabularies> {
  const specs = showingAllTerms(request.aggregations)
  if (specs.length === 0) return NO_VOCABULARIES
  const allUnits = units.map(unit => ({ ...unit, bound: { ...unit.bound, condition: ALL } }))
  const vocabularies = specs.map(spec => ({ spec, ...createVocabulary(spec, collect) }))
  const aggregations = specs.map((spec, at) => ({ ...spec, name: String(at), below: [], pipelines: [], summaries: [] }))
  const collectors = new Map(vocabularies.map(({ collector }, at) => [String(at), collector]))
  const { terminateAfter: _ofMatches, ...whole } = request
  const asked = { ...whole, from: 0, size: 0, aggregations, sort: [] }
  await new Search(asked, allUnits, { ...context, behind: undefined }, collect.nowMs, pace, collectors).run()
  return new Map(vocabularies.map(({ spec, read }) => [spec, read()]))
}
