/** The clauses on exact values: term, terms, range, exists, prefix, wildcard, ids, match_all, match_none. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { operatorsOf } from '../../analysis/regex-syntax.ts'
import { illegalArgument, parsingError, unsupported } from '../../api-error.ts'
import { parseTimeZone } from '../../dates/time-zone.ts'
import {
  type JsonObject,
  optionalBoolean,
  readArray,
  readNumber,
  readObject,
  readScalar,
  readSingleEntry,
  readString,
  refuseUnknown,
  words,
} from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import { parseFuzziness } from './fuzziness.ts'
import { type ClauseParser, MAX_TERMS, type MinimumShouldMatch, type Query, type RangeBounds, type Scalar } from './query.ts'

export const TERM_LEVEL_CLAUSES: Readonly<Record<string, ClauseParser>> = {
  match_all: body => ({ kind: 'match_all', boost: parseBoost(knownObject(body, 'match_all', []), 'match_all') }),
  match_none: body => ({ kind: 'match_none', boost: parseBoost(knownObject(body, 'match_none', []), 'match_none') }),
  term: parseTerm,
  terms: parseTerms,
  range: parseRange,
  exists: parseExists,
  prefix: (body, name) => parsePattern(body, name, 'prefix'),
  wildcard: (body, name) => parsePattern(body, name, 'wildcard'),
  regexp: parseRegexp,
  fuzzy: parseFuzzy,
  ids: parseIds,
}

export function parseBoost(content: JsonObject, where: string): number {
  if (content['boost'] === undefined) return 1
  const boost = readNumber(content['boost'], `${where}.boost`)
  if (boost < 0) throw illegalArgument(`negative [boost] are not allowed in [${where}], use a value between 0 and 1 to deboost`)
  return boost
}

/** `2`, `-25%`, or conditions such as `2<75% 9<-3` with space between. */
const MINIMUM = /^\s*(?:-?\d{1,9}%?|\d{1,9}<-?\d{1,9}%?(?:\s+\d{1,9}<-?\d{1,9}%?)*)\s*$/

/** Undefined when absent; form is checked here, its meaning depends on the number of clauses. */
export function parseMinimumShouldMatch(value: unknown, where: string): MinimumShouldMatch | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'string' && MINIMUM.test(value)) return value.trim()
  throw parsingError(`[${where}] must be an integer, a percentage or a combination such as [2<75%], found [${textOf(value)}]`)
}

function knownObject(body: unknown, name: string, known: readonly string[]): JsonObject {
  const content = readObject(body, name)
  refuseUnknown(content, name, [...known, 'boost', '_name'])
  return content
}

/** `{ field: value }` or `{ field: { value, … } }`, as term, prefix and wildcard take it. */
function readFieldValue(body: unknown, name: string, known: readonly string[]): { field: string; value: unknown; options: JsonObject } {
  if (isJsonObject(body) && Object.keys(body).length > 1)
    throw parsingError(`[${name}] query doesn't support multiple fields, found [${Object.keys(body)[0]}] and [${Object.keys(body)[1]}]`)
  const [field, content] = readSingleEntry(body, name)
  if (field === '') throw illegalArgument('field name is null or empty')
  if (!isJsonObject(content)) return { field, value: content, options: {} }
  refuseUnknown(content, name, [...known, 'value', 'boost', 'case_insensitive', '_name'])
  return { field, value: content['value'] ?? content[name], options: content }
}

function parseTerm(body: unknown): Query {
  const { field, value, options } = readFieldValue(body, 'term', ['term'])
  if (Array.isArray(value)) throw parsingError('[term] query does not support array of values')
  if (value === undefined || value === null) throw illegalArgument('value cannot be null')
  return {
    kind: 'terms',
    field,
    values: [readScalar(value, `term.${field}`)],
    caseInsensitive: optionalBoolean(options, 'case_insensitive'),
    lenient: false,
    boost: parseBoost(options, 'term'),
  }
}

function parseTerms(body: unknown): Query {
  const content = readObject(body, 'terms')
  const fields = Object.keys(content).filter(key => key !== 'boost' && key !== '_name' && key !== 'value_type')
  if (content['value_type'] !== undefined && content['value_type'] !== 'default') throw unsupported('[terms] parameter [value_type]')
  if (fields.length !== 1)
    throw parsingError(
      fields.length === 0
        ? '[terms] query requires a field name, followed by array of terms or a document lookup specification'
        : `[terms] query doesn't support multiple fields: [${fields.join('], [')}]`,
    )
  const field = fields[0]!
  if (isJsonObject(content[field])) throw unsupported('[terms] lookup')
  const values = readArray(content[field], `terms.${field}`)
  if (values.length > MAX_TERMS)
    throw illegalArgument(
      `The number of terms [${values.length}] used in the Terms Query request has exceeded the allowed maximum of [${MAX_TERMS}]. ` +
        'This maximum can be set by changing the [index.max_terms_count] index level setting.',
    )
  return {
    kind: 'terms',
    field,
    values: values.map(value => {
      if (value === null) throw parsingError('No value specified for terms query')
      return readScalar(value, `terms.${field}`)
    }),
    caseInsensitive: false,
    lenient: false,
    boost: parseBoost(content, 'terms'),
  }
}

const RANGE_KEYS = words('gt gte lt lte from to include_lower include_upper format time_zone relation boost _name')

function parseRange(body: unknown): Query {
  const [field, value] = readSingleEntry(body, 'range')
  const content = readObject(value, `range.${field}`)
  refuseUnknown(content, 'range', RANGE_KEYS)
  if (content['relation'] !== undefined) throw unsupported('[range] parameter [relation]')
  return { kind: 'range', field, bounds: readBounds(content, field), lenient: false, boost: parseBoost(content, 'range') }
}

function readBounds(content: JsonObject, field: string): RangeBounds {
  const bound = (key: string): Scalar | undefined => {
    const value = content[key]
    return value === undefined || value === null ? undefined : readScalar(value, `range.${field}.${key}`)
  }
  const from = bound('from')
  const to = bound('to')
  const gte = bound('gte') ?? (from !== undefined && content['include_lower'] !== false ? from : undefined)
  const gt = bound('gt') ?? (from !== undefined && content['include_lower'] === false ? from : undefined)
  const lte = bound('lte') ?? (to !== undefined && content['include_upper'] !== false ? to : undefined)
  const lt = bound('lt') ?? (to !== undefined && content['include_upper'] === false ? to : undefined)
  return {
    ...(gt !== undefined && { gt }),
    ...(gte !== undefined && { gte }),
    ...(lt !== undefined && { lt }),
    ...(lte !== undefined && { lte }),
    ...(content['format'] !== undefined && { format: readString(content['format'], `range.${field}.format`) }),
    ...(content['time_zone'] !== undefined && { timeZone: readZone(content['time_zone'], `range.${field}.time_zone`) }),
  }
}

function parseExists(body: unknown): Query {
  const content = knownObject(body, 'exists', ['field'])
  if (content['field'] === undefined) throw parsingError('[exists] must be provided with a [field]')
  const field = readString(content['field'], 'exists.field')
  if (field === '') throw illegalArgument('field name is null or empty')
  return { kind: 'exists', field, boost: parseBoost(content, 'exists') }
}

function parsePattern(body: unknown, name: string, kind: 'prefix' | 'wildcard'): Query {
  const { field, value, options } = readFieldValue(body, name, [kind, 'rewrite'])
  if (value === undefined || value === null) throw illegalArgument('value cannot be null')
  const common = {
    field,
    value: String(readScalar(value, `${name}.${field}`)),
    caseInsensitive: optionalBoolean(options, 'case_insensitive'),
    lenient: false,
    boost: parseBoost(options, name),
  }
  return kind === 'prefix' ? { kind, ...common } : { kind, isNormalized: false, ...common }
}

function parseRegexp(body: unknown): Query {
  const { field, value, options } = readFieldValue(body, 'regexp', ['regexp', 'rewrite', 'flags', 'flags_value', 'max_determinized_states'])
  if (value === undefined || value === null) throw illegalArgument('value cannot be null')
  if (options['flags_value'] !== undefined) throw unsupported('[regexp] parameter [flags_value]')
  const flags = options['flags'] === undefined ? 'ALL' : readString(options['flags'], `regexp.${field}.flags`)
  operatorsOf(flags)
  return {
    kind: 'regexp',
    field,
    value: String(readScalar(value, `regexp.${field}`)),
    caseInsensitive: optionalBoolean(options, 'case_insensitive'),
    flags,
    isNormalized: false,
    lenient: false,
    boost: parseBoost(options, 'regexp'),
  }
}

const FUZZY_KEYS = words('term fuzziness prefix_length max_expansions transpositions rewrite')

function parseFuzzy(body: unknown): Query {
  const { field, value, options } = readFieldValue(body, 'fuzzy', FUZZY_KEYS)
  if (value === undefined || value === null) throw illegalArgument('query value cannot be null')
  return {
    kind: 'fuzzy',
    field,
    value: String(readScalar(value, `fuzzy.${field}`)),
    fuzzy: parseFuzziness(options, { prefixLength: 'prefix_length', expansions: 'max_expansions', transpositions: 'transpositions' }),
    isNormalized: false,
    lenient: false,
    boost: parseBoost(options, 'fuzzy'),
  }
}

function parseIds(body: unknown): Query {
  const content = knownObject(body, 'ids', ['values'])
  const given = content['values'] ?? []
  const values = Array.isArray(given) ? given : [given]
  return { kind: 'ids', values: values.map(value => String(readScalar(value, 'ids.values'))), boost: parseBoost(content, 'ids') }
}

/** The name of a time zone that there is. */
export function readZone(value: unknown, where: string): string {
  const name = readString(value, where)
  parseTimeZone(name)
  return name
}
