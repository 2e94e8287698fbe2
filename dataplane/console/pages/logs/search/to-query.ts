/** The query of a search: clauses that OpenSearch and the embedded store both have. */
import type { Bound, Expression, Parsed, SearchProblem, Test } from './expression.ts'
import { type FieldCatalog, type FieldKind, kindOfField } from './field-catalog.ts'
import { parseSearch } from './parse-search.ts'
import { SearchError } from './tokens.ts'

export type Query = Readonly<Record<string, unknown>>

export type Translated =
  | { readonly ok: true; readonly query: Query; readonly expression: Expression }
  | { readonly ok: false; readonly problem: SearchProblem }

export const MATCH_ALL: Query = { match_all: {} }

/** Where free text is looked for. */
const TEXT_FIELD = 'message'
/** Free text that is an id is looked for there, too. */
const ID_FIELDS: readonly (readonly [form: RegExp, fields: readonly string[]])[] = [
  [/^[0-9a-f]{32}$/i, ['trace_id']],
  [/^[0-9a-f]{16}$/i, ['span_id', 'pattern_id']],
  [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, ['log_id']],
]
/** Ways to write a level. The store has the names on the right (Decisions 3). */
const LEVEL_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    warning: 'WARN',
    err: 'ERROR',
    critical: 'FATAL',
    crit: 'FATAL',
    emergency: 'FATAL',
    emerg: 'FATAL',
    alert: 'FATAL',
    panic: 'FATAL',
    notice: 'INFO',
    information: 'INFO',
  }),
)
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const DATE =
  /^(\d{4}-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d{1,9})?)?)?)?)?(Z|[+-]\d{2}:?\d{2})?|\d{4}|\d{11,14}|now([+-]\d+[smhdwMy])*(\/[smhdwMy])?)$/
const WORD_PART = /[\p{L}\p{N}]+/gu

/** The query of what stands in the search box. */
export function translateSearch(text: string, catalog: FieldCatalog): Translated {
  return translate(parseSearch(text), catalog)
}

export function translate(parsed: Parsed, catalog: FieldCatalog): Translated {
  if (!parsed.ok) return parsed
  try {
    return { ok: true, query: queryOf(parsed.expression, catalog), expression: parsed.expression }
  } catch (error) {
    if (error instanceof SearchError) return { ok: false, problem: error.problem }
    throw error
  }
}

function queryOf(expression: Expression, catalog: FieldCatalog): Query {
  if (expression.kind === 'everything') return MATCH_ALL
  if (expression.kind === 'not') return { bool: { must_not: [queryOf(expression.part, catalog)] } }
  if (expression.kind === 'text') return textQuery(expression.test, expression)
  if (expression.kind === 'field') return testQuery(expression.field, expression.test, expression, catalog)
  if (expression.kind === 'all') return allOf(expression.parts, catalog)
  return anyOf(expression.parts.map(part => queryOf(part, catalog)))
}

/** Terms that are turned stand in one `must_not`, which reads better and costs less. */
function allOf(parts: readonly Expression[], catalog: FieldCatalog): Query {
  const filter = parts.filter(part => part.kind !== 'not').map(part => queryOf(part, catalog))
  const without = parts.filter(part => part.kind === 'not').map(part => queryOf(part.part, catalog))
  return { bool: { ...(filter.length > 0 && { filter }), ...(without.length > 0 && { must_not: without }) } }
}

function anyOf(queries: readonly Query[]): Query {
  return queries.length === 1 ? queries[0]! : { bool: { should: queries, minimum_should_match: 1 } }
}

function textQuery(test: Test, place: Expression): Query {
  if (test.kind !== 'is') return wordsQuery(TEXT_FIELD, test, place)
  const ids = ID_FIELDS.filter(([form]) => form.test(test.value)).flatMap(([, fields]) => fields)
  return anyOf([wordsQuery(TEXT_FIELD, test, place), ...ids.map(field => ({ term: { [field]: test.value.toLowerCase() } }))])
}

/** On a text field: words beside each other, in any case. */
function wordsQuery(field: string, test: Test, place: Expression): Query {
  if (test.kind === 'is') {
    if (test.value.match(WORD_PART) === null)
      throw problem(
        place,
        `${JSON.stringify(test.value)} holds no word, and messages are searched by words.`,
        'a letter or a digit beside it',
      )
    return { match_phrase: { [field]: test.value } }
  }
  if (test.kind !== 'like') throw problem(place, `${field} is text, which has no ranges.`, `${field}:word`)
  const { pattern } = test
  const start = pattern.slice(0, -1)
  const isPrefix = pattern.endsWith('*') && !/[*?]/.test(unescaped(start)) && start !== ''
  if (isPrefix && (plainOf(start).match(WORD_PART)?.length ?? 0) > 1) return { match_phrase_prefix: { [field]: plainOf(start) } }
  if (/[^\p{L}\p{N}*?_.']/u.test(plainOf(pattern)))
    throw problem(
      place,
      'A * or ? in text stands within one word.',
      `"${plainOf(pattern).replace(/[*?"]/g, '').trim()}" in quotes without it`,
    )
  const word = pattern.toLowerCase()
  return isPrefix ? { prefix: { [field]: { value: plainOf(start).toLowerCase() } } } : { wildcard: { [field]: { value: word } } }
}

const plainOf = (pattern: string): string => pattern.replace(/\\(.)/g, '$1')
/** Without what is escaped. */
const unescaped = (pattern: string): string => pattern.replace(/\\./g, '')

function testQuery(field: string, test: Test, place: Expression, catalog: FieldCatalog): Query {
  const kind = kindOfField(catalog, field)
  if (kind === 'stored')
    throw problem(place, `${field} is kept with the record and cannot be searched.`, field === 'pattern' ? 'pattern_id:…' : 'timestamp:>=…')
  if (test.kind === 'exists') return { exists: { field } }
  if (test.kind === 'any') return anyOfValues(field, test.tests, place, catalog)
  if (kind === 'text') return wordsQuery(field, test, place)
  if (kind === 'flat') throw problem(place, `${field} holds other fields.`, `${field}.name:value`)
  if (test.kind === 'between') return rangeQuery(field, kind, test, place)
  if (test.kind === 'like') return likeQuery(field, kind, test.pattern, place)
  return { term: { [field]: typedValue(field, kind, test.value, place) } }
}

function anyOfValues(field: string, tests: readonly Test[], place: Expression, catalog: FieldCatalog): Query {
  const kind = kindOfField(catalog, field)
  if (kind !== 'text' && tests.every(test => test.kind === 'is'))
    return { terms: { [field]: tests.map(test => typedValue(field, kind, test.value, place)) } }
  return anyOf(tests.map(test => testQuery(field, test, place, catalog)))
}

function rangeQuery(field: string, kind: FieldKind, { from, to }: Extract<Test, { kind: 'between' }>, place: Expression): Query {
  if (kind === 'boolean') throw problem(place, `${field} is true or false, which has no range.`, `${field}:true`)
  const bound = ({ value }: Bound) => typedValue(field, kind, value, place)
  return {
    range: {
      [field]: {
        ...(from !== undefined && { [from.isIncluded ? 'gte' : 'gt']: bound(from) }),
        ...(to !== undefined && { [to.isIncluded ? 'lte' : 'lt']: bound(to) }),
      },
    },
  }
}

function likeQuery(field: string, kind: FieldKind, pattern: string, place: Expression): Query {
  if (kind !== 'keyword')
    throw problem(place, `${field} holds ${NAMES[kind]}, which have no * or ?.`, kind === 'number' ? `${field}:>=500` : `${field}:value`)
  const cased = field === 'level' ? pattern.toUpperCase() : pattern
  const start = cased.slice(0, -1)
  if (cased.endsWith('*') && !cased.endsWith('\\*') && !/[*?]/.test(unescaped(start)))
    return { prefix: { [field]: { value: plainOf(start) } } }
  return { wildcard: { [field]: { value: cased } } }
}

const NAMES: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  keyword: 'words',
  number: 'numbers',
  date: 'times',
  boolean: 'true or false',
  flat: 'other fields',
  stored: 'text',
}

function typedValue(field: string, kind: FieldKind, value: string, place: Expression): string | number | boolean {
  if (kind === 'number') {
    if (!NUMBER.test(value))
      throw problem(place, `${field} holds numbers, and ${JSON.stringify(value)} is none.`, `${field}:500, or ${field}:>=500`)
    const number = Number(value)
    // A long beyond those of JavaScript stays as it is written.
    return Number.isInteger(number) && !Number.isSafeInteger(number) ? value : number
  }
  if (kind === 'boolean') {
    if (value !== 'true' && value !== 'false')
      throw problem(place, `${field} is true or false, and not ${JSON.stringify(value)}.`, `${field}:true`)
    return value === 'true'
  }
  if (kind === 'date' && !DATE.test(value))
    throw problem(place, `${JSON.stringify(value)} is no time.`, `${field}:>=now-1h, or ${field}:[2026-01-31 TO 2026-02-01]`)
  if (field === 'level') return LEVEL_NAMES.get(value.toLowerCase()) ?? value.toUpperCase()
  return kind === 'date' ? value.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T') : value
}

function problem({ at, end }: Expression, message: string, instead: string): SearchError {
  return new SearchError({ at, end, message, instead })
}

/** Words and phrases that records are shown with marks on: those of the message that are asked for. */
export function wordsToMark(expression: Expression): readonly string[] {
  if (expression.kind === 'all' || expression.kind === 'any') return expression.parts.flatMap(wordsToMark)
  if (expression.kind === 'text' || (expression.kind === 'field' && expression.field === TEXT_FIELD)) return wordsOf(expression.test)
  return []
}

function wordsOf(test: Test): readonly string[] {
  if (test.kind === 'is') return [test.value]
  if (test.kind === 'any') return test.tests.flatMap(wordsOf)
  if (test.kind === 'like') return [test.pattern]
  return []
}
