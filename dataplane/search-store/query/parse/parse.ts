/** Query DSL to `Query`: the table of clauses. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { ApiError, illegalArgument, parsingError, unknownName, unsupported } from '../../api-error.ts'
import { type JsonObject, kindOf, readSingleEntry, readString, words } from '../../json/json-reader.ts'
import { parseBool, parseConstantScore, parseDisMax } from './parse-compound.ts'
import { FULL_TEXT_CLAUSES } from './parse-full-text.ts'
import { TERM_LEVEL_CLAUSES } from './parse-term-level.ts'
import { type ClauseParser, MAX_CLAUSES, MAX_QUERY_DEPTH, type ParseState, type Query } from './query.ts'

const CLAUSES: Readonly<Record<string, ClauseParser>> = {
  ...FULL_TEXT_CLAUSES,
  ...TERM_LEVEL_CLAUSES,
  bool: (body, _name, state) => parseBool(body, state, parseClause),
  dis_max: (body, _name, state) => parseDisMax(body, state, parseClause),
  constant_score: (body, _name, state) => parseConstantScore(body, state, parseClause),
}

/** Queries that OpenSearch has and this store has not. */
const KNOWN_ELSEWHERE = new Set(
  words(`
    terms_set nested has_child has_parent parent_id script script_score function_score boosting more_like_this
    intervals span_term span_near span_or span_not span_first span_multi span_containing span_within field_masking_span
    combined_fields geo_distance geo_bounding_box geo_polygon geo_shape xy_shape rank_feature distance_feature
    percolate wrapper pinned knn neural hybrid agentic template common
  `),
)

/** Parses the value of a `query` member (or of a filter). Throws 400 for what is malformed, unknown or too deep. */
export function parseQuery(body: unknown): Query {
  return parseClause(body, { depth: 1, clauses: { count: 0 } })
}

/**
 * The query of a search. The filter that the door of one tenant puts around a caller's query (`dataplane/tenant-search`) counts for nothing: through
 * that door, too, callers have all the levels and clauses that there are.
 */
export function parseSearchQuery(body: unknown): Query {
  return isInTenantFilter(body) ? parseClause(body, { depth: 0, clauses: { count: -2 } }) : parseQuery(body)
}

function isInTenantFilter(body: unknown): boolean {
  const bool = isJsonObject(body) && Object.keys(body).length === 1 ? body['bool'] : undefined
  if (!isJsonObject(bool) || Object.keys(bool).length !== 2) return false
  const { filter, must } = bool
  if (!Array.isArray(filter) || filter.length !== 1 || !Array.isArray(must) || must.length !== 1) return false
  const term = isJsonObject(filter[0]) ? filter[0]['term'] : undefined
  return isJsonObject(term) && Object.keys(term).length === 1 && typeof term['tenant_id'] === 'string'
}

function parseClause(body: unknown, state: ParseState): Query {
  if (state.depth > MAX_QUERY_DEPTH) throw parsingError(`the query is nested deeper than ${MAX_QUERY_DEPTH} levels`)
  if (++state.clauses.count > MAX_CLAUSES) throw new ApiError(400, 'too_many_clauses', `maxClauseCount is set to ${MAX_CLAUSES}`)
  if (!isJsonObject(body)) throw parsingError(`a query must be an object, found ${kindOf(body)}`)
  if (Object.keys(body).length === 0) throw illegalArgument('query malformed, empty clause found')
  const [name, content] = readSingleEntry(body, 'query')
  if (!Object.hasOwn(CLAUSES, name)) {
    if (KNOWN_ELSEWHERE.has(name)) throw unsupported(`query [${name}]`)
    throw unknownName(`unknown query [${name}]`)
  }
  const own = isJsonObject(content)
    ? [content, ...Object.values(content)].find(part => isJsonObject(part) && part['_name'] !== undefined)
    : undefined
  const query = CLAUSES[name]!(content, name, state)
  return own === undefined ? query : { ...query, name: readString((own as JsonObject)['_name'], `${name}._name`) }
}
