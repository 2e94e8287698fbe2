/** The clauses that hold other clauses: bool, constant_score, dis_max. */
import { parsingError, unsupported } from '../../api-error.ts'
import { readArray, readNumber, readObject, refuseUnknown } from '../../json/json-reader.ts'
import { parseBoost, parseMinimumShouldMatch } from './parse-term-level.ts'
import type { ParseState, Query } from './query.ts'

type ParseInner = (body: unknown, state: ParseState) => Query

const BOOL_KEYS = ['must', 'filter', 'should', 'must_not', 'mustNot', 'minimum_should_match', 'boost', 'adjust_pure_negative', '_name']

export function parseBool(body: unknown, state: ParseState, parse: ParseInner): Query {
  const content = readObject(body, 'bool')
  refuseUnknown(content, 'bool', BOOL_KEYS)
  const inner: ParseState = { ...state, depth: state.depth + 1 }
  const clauses = (value: unknown): readonly Query[] => {
    if (value === undefined || value === null) return []
    return (Array.isArray(value) ? value : [value]).map(item => parse(item, inner))
  }
  const minimum = parseMinimumShouldMatch(content['minimum_should_match'], 'bool.minimum_should_match')
  return {
    kind: 'bool',
    must: clauses(content['must']),
    filter: clauses(content['filter']),
    should: clauses(content['should']),
    mustNot: [...clauses(content['must_not']), ...clauses(content['mustNot'])],
    ...(minimum !== undefined && { minimumShouldMatch: minimum }),
    boost: parseBoost(content, 'bool'),
  }
}

export function parseConstantScore(body: unknown, state: ParseState, parse: ParseInner): Query {
  const content = readObject(body, 'constant_score')
  refuseUnknown(content, 'constant_score', ['filter', 'boost', '_name'])
  if (content['filter'] === undefined) throw parsingError('[constant_score] requires a [filter] element')
  return {
    kind: 'constant_score',
    query: parse(content['filter'], { ...state, depth: state.depth + 1 }),
    boost: content['boost'] === undefined ? 1 : readNumber(content['boost'], 'constant_score.boost'),
  }
}

export function parseDisMax(body: unknown, state: ParseState, parse: ParseInner): Query {
  const content = readObject(body, 'dis_max')
  refuseUnknown(content, 'dis_max', ['queries', 'tie_breaker', 'boost', '_name'])
  if (content['tie_breaker'] !== undefined && readNumber(content['tie_breaker'], 'dis_max.tie_breaker') !== 0)
    throw unsupported('[dis_max] parameter [tie_breaker]')
  const inner: ParseState = { ...state, depth: state.depth + 1 }
  const queries = readArray(content['queries'] ?? [], 'dis_max.queries').map(item => parse(item, inner))
  if (queries.length === 0) throw parsingError("[dis_max] requires 'queries' field with at least one clause")
  return { kind: 'dis_max', queries, boost: parseBoost(content, 'dis_max') }
}
