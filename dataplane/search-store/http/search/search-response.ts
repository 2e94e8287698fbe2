/** Search results as JSON text: stored documents go in as they are, without being parsed. */

import { hasEscape, QUOTE } from '../../../json/bytes.ts'
import { withSummaries } from '../../aggregate/pipelines/pipelines.ts'
import type { SpecOf } from '../../aggregate/spec.ts'
import { typedResults } from '../../aggregate/typed-keys.ts'
import { ApiError } from '../../api-error.ts'
import { parseExact } from '../../json/exact-numbers.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import { bindQuery } from '../../query/bind/bind.ts'
import type { Condition } from '../../query/bind/condition.ts'
import { findField } from '../../query/bind/field.ts'
import { QUERY_BUDGET_MS, SHOW_MS } from '../../query/budget/pace.ts'
import type { QueryMemory } from '../../query/budget/query-memory.ts'
import { namedQueries } from '../../query/parse/query.ts'
import type { SearchRequest } from '../../query/parse/search-request.ts'
import { matches } from '../../query/run/matches.ts'
import type { SearchOutcome } from '../../query/run/search.ts'
import { allShardsFailed, type ShardFailure, shownFailure } from '../../query/run/search-target.ts'
import { readExactDocument, sourceText } from '../../query/run/segment-unit.ts'
import { parsedOf, type RankedDocument, shownSortValues } from '../../query/run/top-documents.ts'
import { fieldsShown, type ShowFields } from '../../query/show/field-formats.ts'
import { highlightDocument } from '../../query/show/highlight.ts'
import { JsonPieces } from '../../query/show/json-pieces.ts'
import { memberPick } from '../../query/show/member-pick.ts'
import { applySourceFilter, plainNamesOf } from '../../query/show/source-filter.ts'
import { type MemberPlace, memberReader, type ReadMembers, type StoredMembers } from '../../query/show/stored-members.ts'
import type { Segment } from '../../storage/index-storage.ts'

export interface ShardCounts {
  readonly total: number
  readonly successful: number
  readonly skipped: number
  readonly failed: number
  readonly failures?: readonly unknown[]
}

/** Throws the failure itself when no index could answer, not even in part. */
export function shardCounts(total: number, failures: readonly ShardFailure[]): ShardCounts {
  if (failures.length > 0 && failures.length === total && !failures.some(({ isPartial }) => isPartial)) throw allShardsFailed(failures)
  return {
    total,
    successful: total - failures.length,
    skipped: 0,
    failed: failures.length,
    ...(failures.length > 0 && { failures: failures.map(shownFailure) }),
  }
}

export interface SearchResponseOptions {
  readonly tookMs: number
  readonly indexCount: number
  /** `hits.total` as a bare number. */
  readonly totalAsInt: boolean
  /** `typed_keys` */
  readonly typedKeys: boolean
  readonly memory: QueryMemory
  readonly nowMs: number
  /** Names by which a client goes on: `_scroll_id`, `pit_id`. */
  readonly name: Readonly<Record<string, string>>
}

/** Charged to `options.memory`, and written in turns. */
export async function searchJson(request: SearchRequest, outcome: SearchOutcome, options: SearchResponseOptions): Promise<string> {
  const shards = shardCounts(options.indexCount, outcome.failures)
  const total =
    outcome.total === undefined ? (options.totalAsInt ? -1 : undefined) : options.totalAsInt ? outcome.total.value : outcome.total
  const early = outcome.terminatedEarly === undefined ? undefined : { terminated_early: outcome.terminatedEarly }
  const head = JSON.stringify({ ...options.name, took: options.tookMs, timed_out: outcome.timedOut, ...early, _shards: shards })
  // OpenSearch answers a search on no index like this.
  const isNowhere = options.indexCount === 0
  const hits = JSON.stringify({ ...(total !== undefined && { total }), max_score: outcome.maxScore ?? (isNowhere ? 0 : null) })
  const list = await hitsJson(outcome, request, options)
  const aggregations =
    outcome.aggregations === undefined || isNowhere ? '' : `,"aggregations":${aggregationsJson(request, outcome.aggregations, options)}`
  options.memory.charge(CHARACTER_BYTES * aggregations.length, 'fewer buckets')
  return `${head.slice(0, -1)},"hits":${hits.slice(0, -1)},"hits":[${list.join(',')}]}${aggregations}}`
}

function aggregationsJson(
  { aggregations, summaries }: SearchRequest,
  results: Record<string, unknown>,
  { typedKeys }: SearchResponseOptions,
): string {
  const all = withSummaries(results, summaries)
  return JSON.stringify(typedKeys ? typedResults({ below: aggregations, summaries }, all) : all)
}

/** Memory of a character of an answer until it is sent, bytes, about. */
const CHARACTER_BYTES = 2

async function hitsJson(
  { hits, newPace }: SearchOutcome,
  request: SearchRequest,
  { memory, nowMs }: SearchResponseOptions,
): Promise<readonly string[]> {
  const pace = newPace()
  const list: string[] = []
  const matchedNames = matchedNamesOf(request, nowMs)
  const isOfMembers = request.sort.length === 0 && request.highlight === undefined && matchedNames === undefined
  const form: HitForm = {
    ...{ request, memory, matchedNames, isOfMembers, showFields: fieldsShown(request.fields), shownFrom: showsOf(request, isOfMembers) },
  }
  const keep = (text: string | undefined) => {
    if (text === undefined) return
    memory.charge(CHARACTER_BYTES * text.length, 'fewer hits, or a part of their [_source]')
    list.push(text)
  }
  const pieces = new JsonPieces()
  const addPlain = plainHits(form, pieces)
  for (const document of hits) {
    if (pace.isDueSoon()) await pace.step()
    if (pace.isTimedOut || !pace.run(() => showHit(document)))
      throw new ApiError(
        408,
        'timeout_exception',
        `the hits could not be shown within ${QUERY_BUDGET_MS + SHOW_MS} ms of the request; ask for fewer, or for less of each`,
      )
    delete document.parsed
    keep(pieces.take())
  }
  keep(pieces.take(true))
  return list

  function showHit(document: RankedDocument): true {
    const shown = form.shownFrom(document)
    if (addPlain(document, shown)) return true
    keep(pieces.take(true))
    keep(hitJson(document, form, shown))
    return true
  }
}

/** Adds a hit that consists of members as they stand in the stored document; false for any other, which leaves nothing behind. */
type AddPlainHit = (document: RankedDocument, shown: Shown) => boolean

function plainHits({ request, showFields, isOfMembers }: HitForm, pieces: JsonPieces): AddPlainHit {
  const sourceNames = plainNamesOf(request.source)
  if (!isOfMembers || sourceNames === undefined) return () => false
  return ({ unit: { segment, bound }, doc, score }, { members }) => {
    const fields = showFields.plainFields(bound.mapping)
    if (members === undefined || fields === undefined) return false
    const start = pieces.length
    if (start > 0) pieces.addText(',')
    pieces.addText(hitHead(segment, doc, bound.index, score, request))
    pieces.addText(',"_source":')
    members.addTo(pieces, sourceNames)
    let before = ',"fields":{'
    for (const { path, ignoreAbove } of fields) {
      const place = members.find(path)
      if (place === undefined) continue
      if (!isPlainString(place, ignoreAbove)) {
        pieces.cutTo(start)
        return false
      }
      pieces.addText(`${before}${JSON.stringify(path)}:[`)
      pieces.addBytes(place.source, place.start, place.end)
      pieces.addText(']')
      before = ','
    }
    pieces.addText(before === ',' ? '}}' : '}')
    return true
  }
}

/** Whether the value is a string without escapes, and surely no longer. */
function isPlainString({ source, start, end }: MemberPlace, maxLength: number): boolean {
  return source[start] === QUOTE && end - start - 2 <= maxLength && !hasEscape(source, start, end)
}

function isScored({ sort, trackScores }: SearchRequest): boolean {
  return sort.length === 0 || trackScores || sort.some(spec => spec.field === '_score')
}

interface HitForm {
  readonly request: SearchRequest
  readonly memory: QueryMemory
  readonly showFields: ShowFields
  readonly shownFrom: (document: RankedDocument) => Shown
  /** Whether hits show members of their documents and nothing that is made of other parts. */
  readonly isOfMembers: boolean
  /** Undefined where no clause has a name. */
  readonly matchedNames: ((document: RankedDocument) => readonly string[]) | undefined
}

/** The names of the clauses that a hit matches. */
function matchedNamesOf({ query, postFilter }: SearchRequest, nowMs: number): HitForm['matchedNames'] {
  const named = [...namedQueries(query), ...(postFilter === undefined ? [] : namedQueries(postFilter))]
  if (named.length === 0) return undefined
  const bound = new Map<string, readonly (readonly [string, Condition])[]>()
  return document => {
    const { unit, doc } = document
    const { index, mapping } = unit.bound
    const conditions = bound.get(index) ?? named.map(([name, each]) => [name, bindQuery(each, { index, mapping, nowMs })] as const)
    bound.set(index, conditions)
    const view = {
      id: unit.segment.id(doc),
      source: parsedOf(document),
      exact: () => readExactDocument(unit.segment, doc),
    }
    return conditions.filter(([, condition]) => matches(condition, view)).map(([name]) => name)
  }
}

/** Without the brace at the end. */
function hitHead(segment: Segment, doc: number, index: string, score: number, request: SearchRequest): string {
  let head = `{"_index":${JSON.stringify(index)}`
  if (request.showId) head += `,"_id":${JSON.stringify(segment.id(doc))}`
  if (request.showVersion) head += `,"_version":${segment.version(doc)}`
  if (request.showSeqNo) head += `,"_seq_no":${segment.seqNo(doc)},"_primary_term":1`
  return `${head},"_score":${isScored(request) ? score : null}`
}

function hitJson(document: RankedDocument, { request, memory, showFields, matchedNames }: HitForm, shown: Shown): string {
  const { unit, doc, score } = document
  const { segment, bound } = unit
  const parts = [hitHead(segment, doc, bound.index, score, request)]
  const source = shown.source()
  if (source !== undefined) parts.push(`"_source":${source}`)
  if (request.fields.length > 0) {
    const fields = showFields(bound.mapping, shown.values(), () => readExactDocument(segment, doc))
    if (Object.keys(fields).length > 0) parts.push(`"fields":${JSON.stringify(fields)}`)
  }
  if (request.highlight !== undefined) {
    const highlight = highlightDocument(request.highlight, bound.query, bound.mapping, parsedOf(document), memory)
    if (Object.keys(highlight).length > 0) parts.push(`"highlight":${JSON.stringify(highlight)}`)
  }
  const names = matchedNames?.(document) ?? []
  if (names.length > 0) parts.push(`"matched_queries":${JSON.stringify(names)}`)
  if (request.sort.length > 0) parts.push(`"sort":${JSON.stringify(shownSortValues(document, shown.values))}`)
  return `${parts.join(',')}}`
}

/** The part of a document that its hit shows. */
interface Shown {
  /** Where all of it are members of the stored bytes. */
  readonly members?: StoredMembers
  /** JSON text; undefined: nothing. */
  source(): string | undefined
  /** The document, or as much of it as `fields` and `sort` read. */
  values(): unknown
}

/** Members are taken out of the stored bytes where that is all that a search shows, and where the bytes tell them. */
function showsOf(request: SearchRequest, isShownAtOnce: boolean): (document: RankedDocument) => Shown {
  const sourceNames = request.source === false ? NO_NAMES : plainNamesOf(request.source)
  const isPlain = request.fields.every(({ names }) => names === undefined) && request.highlight === undefined
  const valueNames = new Set([...request.fields.map(({ pattern }) => pattern), ...request.sort.map(({ field }) => field)])
  const read: ReadMembers | undefined = isPlain ? memberReader(sourceNames ?? NO_NAMES, valueNames) : undefined
  const fits = new Map<IndexMapping, boolean>()
  const fitsIn = (mapping: IndexMapping): boolean => {
    const known = fits.get(mapping) ?? [...valueNames].every(name => isOwnMember(name, mapping))
    fits.set(mapping, known)
    return known
  }
  const whole = (document: RankedDocument): Shown => ({
    source: () => sourceJson(document, request.source),
    values() {
      const { segment, bound } = document.unit
      const isRead = read !== undefined && request.source === true && segment.parsed === undefined && fitsIn(bound.mapping)
      return (isRead ? read(segment.source(document.doc))?.value(valueNames) : undefined) ?? parsedOf(document)
    },
  })
  if (read === undefined || sourceNames === undefined) return whole
  const names = new Set([...sourceNames, ...valueNames])
  // A hit that reads its document for something else as well would find another one in the memory of the pick.
  const pick = isShownAtOnce ? memberPick(names) : undefined
  const sourceOf = (segment: Segment, doc: number): Uint8Array =>
    (pick && segment.pick?.(doc, pick)) ??
    (segment.bareMember === undefined || names.has(segment.bareMember) ? segment.source(doc) : segment.bareSource!(doc))
  return document => {
    const { segment, bound } = document.unit
    const members = segment.parsed === undefined && fitsIn(bound.mapping) ? read(sourceOf(segment, document.doc)) : undefined
    if (members === undefined) return whole(document)
    let values: unknown
    return {
      members,
      source: () => (request.source === false ? undefined : members.text(sourceNames)),
      values: () => {
        values ??= members.value(valueNames)
        return values
      },
    }
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** A multi-field has the values of its parent, which is another member. */
function isOwnMember(name: string, mapping: IndexMapping): boolean {
  const field = findField(mapping, name)
  return field === undefined || field.sourcePath.join('.') === name
}

function sourceJson(document: RankedDocument, filter: SearchRequest['source']): string | undefined {
  if (filter === false) return undefined
  if (filter === true) return sourceText(document.unit.segment, document.doc)
  return JSON.stringify(applySourceFilter(exactDocument(document), filter))
}

/** For showing: numbers as they were sent. */
const exactDocument = ({ unit, doc }: RankedDocument): unknown => parseExact(sourceText(unit.segment, doc))

/** A hit of a `top_hits` aggregation. */
export function topHit(document: RankedDocument, spec: SpecOf<'top_hits'>): Record<string, unknown> {
  const { unit, doc, score } = document
  const { source } = spec
  const sorted = spec.sort.length > 0
  return {
    _index: unit.bound.index,
    _id: unit.segment.id(doc),
    ...(spec.showVersion && { _version: unit.segment.version(doc) }),
    ...(spec.showSeqNo && { _seq_no: unit.segment.seqNo(doc), _primary_term: 1 }),
    _score: !sorted || spec.sort.some(sort => sort.field === '_score') ? score : null,
    ...(source !== false && { _source: source === true ? exactDocument(document) : applySourceFilter(exactDocument(document), source) }),
    ...(sorted && { sort: shownSortValues(document, () => parsedOf(document)) }),
  }
}
