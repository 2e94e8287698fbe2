/** The clauses on words: match, match_bool_prefix, match_phrase, match_phrase_prefix, multi_match, query_string, simple_query_string. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { parsingError, unsupported } from '../../api-error.ts'
import {
  type JsonObject,
  optionalBoolean,
  readInteger,
  readNumber,
  readObject,
  readScalar,
  readSingleEntry,
  readString,
  readStrings,
  refuseUnknown,
  words,
} from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import { AUTO, parseFuzziness } from './fuzziness.ts'
import { parseBoost, parseMinimumShouldMatch, readZone } from './parse-term-level.ts'
import type { ClauseParser, FieldBoost, FieldQuery, Query } from './query.ts'
import { parseQueryString } from './query-string.ts'
import { parseSimpleQueryString } from './simple-query-string.ts'

export const FULL_TEXT_CLAUSES: Readonly<Record<string, ClauseParser>> = {
  match: body => parseMatch(body),
  match_bool_prefix: body => parseMatch(body, 'match_bool_prefix'),
  match_phrase: body => parsePhrase(body, 'match_phrase', false),
  match_phrase_prefix: body => parsePhrase(body, 'match_phrase_prefix', true),
  multi_match: body => parseMultiMatch(body),
  query_string: body => parseStringQuery(body, 'query_string'),
  simple_query_string: body => parseStringQuery(body, 'simple_query_string'),
}

/** Options that change nothing here: one analyzer, exact scoring left out. */
const NEUTRAL = ['boost', '_name', 'auto_generate_synonyms_phrase_query', 'prefix_length', 'max_expansions', 'fuzzy_transpositions']

/** How words that are near are asked for. */
const OF_MATCH = { prefixLength: 'prefix_length', expansions: 'max_expansions', transpositions: 'fuzzy_transpositions' }
const OF_STRING = { prefixLength: 'fuzzy_prefix_length', expansions: 'fuzzy_max_expansions', transpositions: 'fuzzy_transpositions' }

function refuseAnalyzer(content: JsonObject, clause: string): void {
  const analyzer = content['analyzer']
  if (analyzer !== undefined && analyzer !== 'standard') throw unsupported(`[${clause}] analyzer [${textOf(analyzer)}]`)
}

function readOperator(content: JsonObject, key: string, where: string): 'and' | 'or' {
  const value = content[key] === undefined ? 'or' : readString(content[key], `${where}.${key}`).toLowerCase()
  if (value === 'and' || value === 'or') return value
  throw parsingError(`[${where}.${key}] must be [and] or [or], found [${value}]`)
}

function readZeroTerms(content: JsonObject, where: string): 'none' | 'all' {
  const value = content['zero_terms_query']
  if (value === undefined) return 'none'
  const name = readString(value, `${where}.zero_terms_query`).toLowerCase()
  if (name !== 'none' && name !== 'all') throw parsingError(`Unsupported zero_terms_query value [${name}]`)
  return name
}

/** `{ field: text }` or `{ field: { query: text, … } }`. */
function readFieldText(body: unknown, clause: string): { field: string; content: JsonObject } {
  const [field, value] = readSingleEntry(body, clause)
  return { field, content: isJsonObject(value) ? value : { query: value } }
}

const MATCH_KEYS = [
  'query',
  'operator',
  'minimum_should_match',
  'fuzziness',
  'fuzzy_rewrite',
  'analyzer',
  'lenient',
  'zero_terms_query',
  ...NEUTRAL,
]

function parseMatch(body: unknown, clause = 'match'): Query {
  const { field, content } = readFieldText(body, clause)
  refuseUnknown(content, clause, MATCH_KEYS)
  return { ...matchOn(field, content, clause), ...(clause === 'match_bool_prefix' && LAST_IS_PREFIX) }
}

const LAST_IS_PREFIX = { lastIsPrefix: true }

function matchOn(field: string, content: JsonObject, clause: string): FieldQuery {
  refuseAnalyzer(content, clause)
  if (content['query'] === undefined) throw parsingError(`No text specified for text query`)
  const minimum = parseMinimumShouldMatch(content['minimum_should_match'], `${clause}.minimum_should_match`)
  return {
    kind: 'match',
    field,
    value: readScalar(content['query'], `${clause}.query`),
    operator: readOperator(content, 'operator', clause),
    ...(minimum !== undefined && { minimumShouldMatch: minimum }),
    zeroTerms: readZeroTerms(content, clause),
    lenient: optionalBoolean(content, 'lenient'),
    ...(content['fuzziness'] !== undefined && { fuzzy: parseFuzziness(content, OF_MATCH) }),
    boost: parseBoost(content, clause),
  }
}

function parsePhrase(body: unknown, clause: string, lastIsPrefix: boolean): Query {
  const { field, content } = readFieldText(body, clause)
  refuseUnknown(content, clause, ['query', 'slop', 'analyzer', 'zero_terms_query', ...NEUTRAL])
  return phraseOn(field, content, clause, lastIsPrefix)
}

function phraseOn(field: string, content: JsonObject, clause: string, lastIsPrefix: boolean): FieldQuery {
  refuseAnalyzer(content, clause)
  if (content['query'] === undefined) throw parsingError('No text specified for text query')
  return {
    kind: 'phrase',
    field,
    value: readScalar(content['query'], `${clause}.query`),
    slop: content['slop'] === undefined ? 0 : readInteger(content['slop'], `${clause}.slop`, 0, 1000),
    lastIsPrefix,
    zeroTerms: readZeroTerms(content, clause),
    lenient: optionalBoolean(content, 'lenient'),
    boost: parseBoost(content, clause),
  }
}

/** `message^2` → pattern and boost. */
function parseFieldBoost(text: string): FieldBoost {
  const at = text.lastIndexOf('^')
  if (at <= 0) return { pattern: text, boost: 1 }
  return { pattern: text.slice(0, at), boost: readNumber(text.slice(at + 1), `boost of field ${text.slice(0, at)}`) }
}

export function readFields(value: unknown, clause: string): readonly FieldBoost[] {
  if (Array.isArray(value) && value.includes(null)) throw parsingError(`[${clause}] field name in [fields] cannot be null`)
  return readStrings(value, `${clause}.fields`).map(parseFieldBoost)
}

const MULTI_MATCH_KEYS = [...MATCH_KEYS, 'fields', 'type', 'slop', 'tie_breaker']

function parseMultiMatch(body: unknown): Query {
  const content = readObject(body, 'multi_match')
  refuseUnknown(content, 'multi_match', MULTI_MATCH_KEYS)
  const type = content['type'] === undefined ? 'best_fields' : readString(content['type'], 'multi_match.type')
  const fields = content['fields'] === undefined ? [{ pattern: '*', boost: 1 }] : readFields(content['fields'], 'multi_match')
  if (fields.length === 0) throw parsingError('No fields specified for multi_match query')
  const inner = { ...content, boost: 1, lenient: content['lenient'] ?? isEveryField(fields) }
  const build: Readonly<Record<string, () => FieldQuery>> = {
    best_fields: () => matchOn('', inner, 'multi_match'),
    most_fields: () => matchOn('', inner, 'multi_match'),
    bool_prefix: () => ({ ...matchOn('', inner, 'multi_match'), ...LAST_IS_PREFIX }),
    phrase: () => phraseOn('', inner, 'multi_match', false),
    phrase_prefix: () => phraseOn('', inner, 'multi_match', true),
  }
  if (content['fuzziness'] !== undefined && ['cross_fields', 'phrase', 'phrase_prefix'].includes(type))
    throw parsingError(`Fuzziness not allowed for type [${type}]`)
  if (content['slop'] !== undefined && type === 'bool_prefix') throw parsingError('[slop] not allowed for type [bool_prefix]')
  if (!Object.hasOwn(build, type)) throw unsupported(`[multi_match] type [${type}]`)
  return {
    kind: 'any_field',
    fields,
    query: build[type]!(),
    score: type === 'most_fields' || type === 'bool_prefix' ? 'sum' : 'max',
    boost: parseBoost(content, 'multi_match'),
  }
}

/** On all fields a text that is no value of one is not looked for there, unless that is asked for. */
function isEveryField(fields: readonly FieldBoost[]): boolean {
  return fields.length === 1 && fields[0]!.pattern === '*'
}

const STRING_KEYS = [
  ...words(`
  query default_field fields default_operator lenient minimum_should_match analyze_wildcard allow_leading_wildcard analyzer
  quote_analyzer phrase_slop type tie_breaker time_zone flags enable_position_increments escape fuzziness rewrite
  max_determinized_states fuzzy_max_expansions fuzzy_prefix_length fuzzy_rewrite
`),
  ...NEUTRAL,
]

function parseStringQuery(body: unknown, clause: 'query_string' | 'simple_query_string'): Query {
  const content = readObject(body, clause)
  refuseUnknown(content, clause, STRING_KEYS)
  if (content['query'] === undefined) throw parsingError(`[${clause}] must be provided with a [query]`)
  if (content['flags'] !== undefined && content['flags'] !== 'ALL' && content['flags'] !== -1)
    throw unsupported(`[${clause}] parameter [flags]`)
  const analyzer = content['analyzer']
  if (analyzer !== undefined && analyzer !== 'standard') throw unsupported(`[${clause}] analyzer [${textOf(analyzer)}]`)
  // Fields are looked at one by one, and words by themselves: the other types of `multi_match` would find other documents.
  const type = content['type'] === undefined ? 'best_fields' : readString(content['type'], `${clause}.type`)
  if (type !== 'best_fields' && type !== 'most_fields') throw unsupported(`[${clause}] type [${type}]`)
  const fields = readDefaultFields(content, clause)
  const minimum = parseMinimumShouldMatch(content['minimum_should_match'], `${clause}.minimum_should_match`)
  const options = {
    fields: fields ?? [{ pattern: '*', boost: 1 }],
    operator: readOperator(content, 'default_operator', clause),
    lenient: optionalBoolean(content, 'lenient', fields === undefined),
    phraseSlop: content['phrase_slop'] === undefined ? 0 : readInteger(content['phrase_slop'], `${clause}.phrase_slop`, 0, 1000),
    ...(minimum !== undefined && { minimumShouldMatch: minimum }),
    ...(content['time_zone'] !== undefined && { timeZone: readZone(content['time_zone'], `${clause}.time_zone`) }),
    refusesLeadingWildcard: !optionalBoolean(content, 'allow_leading_wildcard', true),
    fuzzyWith: (fuzziness: string | undefined) => parseFuzziness(content, OF_STRING, fuzziness ?? content['fuzziness'] ?? AUTO),
    boost: parseBoost(content, clause),
  }
  const text = String(readScalar(content['query'], `${clause}.query`))
  if (clause === 'simple_query_string') return parseSimpleQueryString(text, options)
  return parseQueryString(optionalBoolean(content, 'escape') ? escaped(text) : text, options)
}

/** The signs of the language as characters; its words, such as `AND`, stay what they are. */
const escaped = (text: string): string => text.replace(/[\\+\-!():^[\]"{}~*?|&/]/g, '\\$&')

function readDefaultFields(content: JsonObject, clause: string): readonly FieldBoost[] | undefined {
  if (content['fields'] !== undefined) {
    if (content['default_field'] !== undefined)
      throw parsingError(`[${clause}] cannot use [fields] parameter in conjunction with [default_field]`)
    const fields = readFields(content['fields'], clause)
    return fields.length === 0 || isEveryField(fields) ? undefined : fields
  }
  if (content['default_field'] === undefined || content['default_field'] === '*') return undefined
  return [parseFieldBoost(readString(content['default_field'], `${clause}.default_field`))]
}
