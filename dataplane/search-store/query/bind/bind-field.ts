/** The meaning of each field query on each class of field. */

import { fuzzyPattern } from '../../analysis/edit-distance.ts'
import { normalized } from '../../analysis/normalizers.ts'
import { type RegexOptions, regexPattern } from '../../analysis/regular-expression.ts'
import { tokens } from '../../analysis/standard-analyzer.ts'
import { equalIgnoringCase, prefixPattern, type TermPattern, wildcardPattern } from '../../analysis/term-pattern.ts'
import { ApiError, failedToCreate, notABoolean, notANumber, queryShardError } from '../../api-error.ts'
import { fitsType } from '../../mapping/values.ts'
import { type FieldQuery, type Fuzziness, MAX_CLAUSES, type Scalar } from '../parse/query.ts'
import { bindAddress, bindRange, dateRange, numberNamed, refuseOutOfRange } from './bind-range.ts'
import { ALL, allOf, anyOf, type BindContext, type Condition, NONE, VOID } from './condition.ts'
import { classOf, exactNamed, type Field, findField, hasDocValues, isExact, isLarge, isWholeNumber } from './field.ts'
import { resolveMinimumShouldMatch } from './minimum-should-match.ts'

type QueryOf<K extends FieldQuery['kind']> = Extract<FieldQuery, { kind: K }>

export function bindFieldQuery(query: FieldQuery, field: Field, context: BindContext): Condition {
  switch (query.kind) {
    case 'exists':
      return bindExists(field, context)
    case 'match':
      return bindMatch(query, field, context)
    case 'phrase':
      return bindPhrase(query, field, context)
    case 'terms':
      return bindTerms(query.values, query.caseInsensitive, field, context, query.lenient)
    case 'range':
      return lenient(query.lenient, () => bindRange(query, field, context))
    case 'prefix':
    case 'wildcard':
    case 'regexp':
    case 'fuzzy':
      return bindPattern(query, field)
  }
}

/** A value that does not fit the field matches nothing instead of failing the request. */
function lenient(isLenient: boolean, bind: () => Condition): Condition {
  try {
    return bind()
  } catch (error) {
    if (isLenient) return NONE
    throw error
  }
}

function bindExists(field: Field, context: BindContext): Condition {
  if (classOf(field) !== 'object') return { op: 'exists', field }
  const prefix = `${field.path}.`
  const below = context.mapping.paths().filter(path => path.startsWith(prefix))
  return anyOf(
    below.flatMap((path): readonly Condition[] => {
      const inner = findField(context.mapping, path)
      return inner === undefined || !(inner.isIndexed || hasDocValues(inner)) ? [] : [{ op: 'exists', field: inner }]
    }),
    'max',
  )
}

/** The words of the text that was analyzed last: one text is asked of many fields in a row. */
let lastWords: { readonly text: string; readonly words: readonly string[] } | undefined

function wordsOf(value: Scalar): readonly string[] {
  const text = String(value)
  if (lastWords?.text === text) return lastWords.words
  const words: string[] = []
  for (const { term } of tokens(text)) {
    if (words.length === MAX_CLAUSES) throw new ApiError(400, 'too_many_clauses', `maxClauseCount is set to ${MAX_CLAUSES}`)
    words.push(term)
  }
  lastWords = { text, words }
  return words
}

/** Words of a phrase whose words may be moved: each place of each of them is tried. */
const MAX_SLOPPY_WORDS = 64

const NO_WORDS = { none: NONE, all: ALL, void: VOID } as const

function bindMatch(query: QueryOf<'match'>, field: Field, context: BindContext): Condition {
  const { fuzzy, lastIsPrefix } = query
  if ((classOf(field) === 'keyword' || classOf(field) === 'flat') && !field.isAddress && lastIsPrefix === true)
    return bindPattern(
      { kind: 'prefix', field: query.field, value: String(query.value), caseInsensitive: false, lenient: query.lenient, boost: 1 },
      field,
    )
  if (classOf(field) !== 'text' && fuzzy !== undefined)
    return bindPattern(
      { kind: 'fuzzy', field: query.field, value: String(query.value), fuzzy, isNormalized: false, lenient: query.lenient, boost: 1 },
      field,
    )
  if (classOf(field) !== 'text') return bindTerms([query.value], false, field, context, query.lenient)
  const words = wordsOf(query.value)
  if (words.length === 0) return NO_WORDS[query.zeroTerms]
  const { minimumShouldMatch: minimum, operator } = query
  // One word alone takes no minimum; with one, a word counts as often as the text has it.
  const isCounted = minimum !== undefined && words.length > 1
  const last = lastIsPrefix === true ? words.at(-1) : undefined
  const whole = last === undefined ? words : words.slice(0, -1)
  const each = (isCounted ? whole : [...new Set(whole)]).map(
    (word): Condition =>
      fuzzy === undefined ? { op: 'terms', field, terms: new Set([word]) } : { op: 'pattern', field, pattern: nearPattern(word, fuzzy) },
  )
  if (last !== undefined) each.push({ op: 'pattern', field, pattern: prefixPattern(last, false) })
  const atLeast = isCounted ? resolveMinimumShouldMatch(minimum, operator === 'or' ? words.length : 0) : 0
  if (operator === 'or') return anyOf(each, 'sum', Math.max(1, atLeast))
  return atLeast > 0 ? NONE : allOf(each)
}

function bindPhrase(query: QueryOf<'phrase'>, field: Field, context: BindContext): Condition {
  if (classOf(field) !== 'text') {
    if (query.lastIsPrefix) {
      if (query.lenient) return NONE
      throw queryShardError(
        `failed to create query: Can only use phrase prefix queries on text fields - not on [${field.path}] which is of type [${field.type}]`,
      )
    }
    return bindTerms([query.value], false, field, context, query.lenient)
  }
  const words = wordsOf(query.value)
  if (words.length === 0) return NO_WORDS[query.zeroTerms]
  if (query.slop > 0 && words.length > MAX_SLOPPY_WORDS)
    throw queryShardError(`failed to create query: a phrase with [slop] may hold at most ${MAX_SLOPPY_WORDS} words, found ${words.length}`)
  if (words.length > 1) return { op: 'phrase', field, words, slop: query.slop, lastIsPrefix: query.lastIsPrefix }
  if (query.lastIsPrefix) return { op: 'pattern', field, pattern: prefixPattern(words[0]!, false) }
  return { op: 'terms', field, terms: new Set(words) }
}

function bindTerms(values: readonly Scalar[], caseInsensitive: boolean, field: Field, context: BindContext, isLenient: boolean): Condition {
  if (values.length === 0) return NONE
  if (classOf(field) === 'date')
    return anyOf(
      values.map(value => lenient(isLenient, () => dateRange({ gte: value, lte: value }, field, context))),
      'max',
    )
  if (field.isAddress)
    return anyOf(
      values.map(value => lenient(isLenient, () => bindAddress(value, field))),
      'max',
    )
  const texts = values.flatMap(value => termText(value, field, isLenient))
  if (texts.length === 0) return NONE
  // An empty text is found by its case alone, in Lucene too.
  if (caseInsensitive && texts.every(text => text === '')) return NONE
  if (caseInsensitive) return { op: 'pattern', field, pattern: equalIgnoringCase(texts) }
  const isLongNumber = isExact(field) && texts.some(text => isLarge(Number(text)))
  return { op: 'terms', field, terms: new Set(texts), ...(isLongNumber && { isExact: true }) }
}

/** The text under which the field's index has the value; none when it cannot hold it. */
function termText(value: Scalar, field: Field, isLenient: boolean): readonly string[] {
  switch (classOf(field)) {
    case 'number':
      return numberText(value, field, isLenient)
    case 'boolean':
      if (value === true || value === 'true') return ['true']
      if (value === false || value === 'false') return ['false']
      if (isLenient) return []
      throw notABoolean(value)
    default:
      return [normalized(String(value), field.normalizer)]
  }
}

function numberText(value: Scalar, field: Field, isLenient: boolean): readonly string[] {
  const number = numberNamed(value)
  if (isWholeNumber(field) && Math.abs(number) === Number.POSITIVE_INFINITY) return []
  if (!Number.isFinite(number)) {
    if (isLenient) return []
    throw notANumber(value)
  }
  if (isWholeNumber(field)) {
    if (!Number.isInteger(number)) return []
    if (isLenient && !fitsType(number, field.type)) return []
    refuseOutOfRange(number, field)
    if (isExact(field)) return [String(exactNamed(value, number))]
  }
  return [String(field.type === 'float' ? Math.fround(number) : number)]
}

const MAX_PATTERN_LENGTH = 1000

function nearPattern(word: string, { edits, prefixLength, transpositions }: Fuzziness): TermPattern {
  const { length } = [...word]
  const allowed = typeof edits === 'number' ? edits : length < edits.low ? 0 : length < edits.high ? 1 : 2
  return fuzzyPattern(word, { edits: allowed, prefixLength, transpositions })
}

type PatternQuery = QueryOf<'prefix' | 'wildcard' | 'regexp' | 'fuzzy'>

function bindPattern(query: PatternQuery, field: Field): Condition {
  const fieldClass = classOf(field)
  if (field.isAddress || (fieldClass !== 'text' && fieldClass !== 'keyword' && fieldClass !== 'flat')) {
    if (query.lenient) return NONE
    const failed = query.kind === 'fuzzy' ? 'failed to create query: ' : ''
    throw queryShardError(
      `${failed}Can only use ${query.kind} queries on keyword and text fields - not on [${field.path}] which is of type [${field.isAddress ? 'ip' : field.type}]`,
    )
  }
  if (query.value.length > MAX_PATTERN_LENGTH && query.kind !== 'regexp')
    throw queryShardError(
      `failed to create query: a ${query.kind} may be at most ${MAX_PATTERN_LENGTH} characters long, found ${query.value.length}`,
    )
  // Not even the empty text, in Lucene too.
  if (query.kind === 'wildcard' && query.value === '') return NONE
  const own = { ...query, value: normalized(query.value, field.normalizer) }
  return lenient(query.lenient, () => ({ op: 'pattern', field, pattern: patternOf(own, fieldClass === 'text') }))
}

function patternOf(query: PatternQuery, isText: boolean): TermPattern {
  switch (query.kind) {
    case 'prefix':
      return prefixPattern(query.value, query.caseInsensitive)
    case 'wildcard':
      return wildcardPattern(query.isNormalized && isText ? query.value.toLowerCase() : query.value, query)
    case 'fuzzy':
      return nearPattern(query.isNormalized && isText ? query.value.toLowerCase() : query.value, query.fuzzy)
    case 'regexp':
      return regexOf(query.isNormalized && isText ? lowerOutsideEscapes(query.value) : query.value, query)
  }
}

/** `\\D` is not `\\d`. */
const lowerOutsideEscapes = (text: string): string =>
  text.replace(/\\.|[^\\]+/gsu, part => (part.startsWith('\\') ? part : part.toLowerCase()))

function regexOf(text: string, options: RegexOptions): TermPattern {
  try {
    return regexPattern(text, options)
  } catch (error) {
    if (error instanceof ApiError) throw failedToCreate(error.type, error.message)
    throw error
  }
}
