/** Binds a query to the fields of one index. */
import { queryShardError } from '../api-error.ts'
import type { IndexMapping } from '../mapping/field-types.ts'
import { bindFieldQuery } from './bind-field.ts'
import { ALL, allOf, anyOf, boosted, type Condition, NONE, unscored } from './condition.ts'
import { classOf, type Field, findField } from './field.ts'
import { resolveMinimumShouldMatch } from './minimum-should-match.ts'
import type { FieldQuery, Query } from './query.ts'
import { wildcardPattern } from './term-pattern.ts'

export interface BindContext {
  readonly index: string
  readonly mapping: IndexMapping
  /** What `now` means throughout the request. */
  readonly nowMs: number
}

/** Throws 400 where the index cannot run the query; fields that it does not have match nothing. */
export function bindQuery(query: Query, context: BindContext): Condition {
  return boosted(bindUnboosted(query, context), query.boost)
}

function bindUnboosted(query: Query, context: BindContext): Condition {
  switch (query.kind) {
    case 'match_all':
      return ALL
    case 'match_none':
      return NONE
    case 'ids':
      return query.values.length === 0 ? NONE : { op: 'ids', ids: new Set(query.values) }
    case 'bool':
      return bindBool(query, context)
    case 'constant_score':
      return constant(bindQuery(query.query, context))
    case 'any_field':
      return bindAnyField(query, context)
    default:
      return bindOnField(query, query.field, context)
  }
}

function constant(condition: Condition): Condition {
  return condition.op === 'none' ? NONE : { op: 'scored', of: condition, factor: 1, constant: true }
}

function bindBool(query: Extract<Query, { kind: 'bool' }>, context: BindContext): Condition {
  const bind = (clauses: readonly Query[]): readonly Condition[] => clauses.map(clause => bindQuery(clause, context))
  const required = [...bind(query.must), ...bind(query.filter).map(unscored)]
  const excluded = bind(query.mustNot).map((of): Condition => (of.op === 'none' ? unscored(ALL) : { op: 'not', of }))
  const optional = bind(query.should)
  const implied = required.length === 0 && optional.length > 0 ? 1 : 0
  const atLeast =
    query.minimumShouldMatch === undefined ? implied : resolveMinimumShouldMatch(query.minimumShouldMatch, query.should.length)
  if (atLeast > query.should.length) return NONE
  const choice = query.should.length === 0 ? [] : [anyOf(optional, 'sum', Math.max(atLeast, implied))]
  return allOf([...required, ...choice, ...excluded])
}

function bindAnyField(query: Extract<Query, { kind: 'any_field' }>, context: BindContext): Condition {
  const parts = query.fields.flatMap(({ pattern, boost }) =>
    expandFields(pattern, query.query, context.mapping).map(path => boosted(bindOnField(query.query, path, context), boost)),
  )
  return anyOf(parts, query.score)
}

/** `*` and other patterns stand for text, keyword, number and date fields; a plain name for itself. */
function expandFields(pattern: string, query: FieldQuery, mapping: IndexMapping): readonly string[] {
  if (!pattern.includes('*')) return [pattern]
  const names = wildcardPattern(pattern, false)
  return mapping.paths().filter(path => {
    if (!names.test(path)) return false
    const field = findField(mapping, path)
    return field?.isIndexed === true && isEligible(field, path, pattern, query)
  })
}

function isEligible(field: Field, path: string, pattern: string, query: FieldQuery): boolean {
  const fieldClass = classOf(field)
  if (fieldClass === 'flat' || fieldClass === 'object' || fieldClass === 'boolean')
    return query.kind === 'exists' && fieldClass !== 'object'
  const isMultiField = field.sourcePath.join('.') !== path
  // What `*` finds in `name.keyword`, it finds in `name`.
  return pattern !== '*' || !isMultiField
}

function bindOnField(query: FieldQuery, path: string, context: BindContext): Condition {
  if (path === '_index') return bindIndexName(query, context)
  if (path === '_id') return bindId(query)
  const field = findField(context.mapping, path)
  if (field === undefined) return NONE
  if (!field.isIndexed) throw queryShardError(`failed to create query: Cannot search on field [${path}] since it is not indexed.`)
  return bindFieldQuery(query, field, context)
}

/** The values a query on `_id` or `_index` compares with. */
function wantedNames(query: FieldQuery): readonly string[] {
  if (query.kind === 'terms') return query.values.map(String)
  if (query.kind === 'match' || query.kind === 'phrase') return [String(query.value)]
  throw queryShardError(
    `failed to create query: [${query.kind}] queries on [${query.field}] are not supported by the embedded search store`,
  )
}

function bindId(query: FieldQuery): Condition {
  if (query.kind === 'exists') return ALL
  return { op: 'ids', ids: new Set(wantedNames(query)) }
}

function bindIndexName(query: FieldQuery, context: BindContext): Condition {
  if (query.kind === 'exists') return ALL
  if (query.kind === 'prefix') return context.index.startsWith(query.value) ? ALL : NONE
  const patterns = query.kind === 'wildcard' ? [query.value] : wantedNames(query)
  return patterns.some(pattern => wildcardPattern(pattern, false).test(context.index)) ? ALL : NONE
}
