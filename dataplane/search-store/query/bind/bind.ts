/** Binds a query to the fields of one index. */

import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { ApiError, illegalArgument, queryShardError, unsupported } from '../../api-error.ts'
import { NOT_QUERIED } from '../../mapping/metadata-fields.ts'
import { type FieldQuery, MATCH_ALL, MAX_CLAUSES, type Query } from '../parse/query.ts'
import { bindFieldQuery } from './bind-field.ts'
import { ALL, allOf, anyOf, type BindContext, boosted, type Condition, NONE, unscored, VOID } from './condition.ts'
import { classOf, type Field, findField, hasDocValues, refuseKept } from './field.ts'
import { resolveMinimumShouldMatch } from './minimum-should-match.ts'

interface BindState extends BindContext {
  /** Fields that patterns stand for, looked up once. */
  readonly expanded: Map<string, readonly Field[]>
  /** Clauses that the query has come to. */
  readonly clauses: { count: number }
}

/** Throws 400 when the query comes to too many clauses: each word on each field is one. */
function counted(condition: Condition, { clauses }: BindState): Condition {
  clauses.count += clausesOf(condition)
  if (clauses.count > MAX_CLAUSES) throw new ApiError(400, 'too_many_clauses', `maxClauseCount is set to ${MAX_CLAUSES}`)
  return condition
}

function clausesOf(condition: Condition): number {
  if (condition.op === 'and' || condition.op === 'or') return condition.of.reduce((sum, each) => sum + clausesOf(each), 0)
  return condition.op === 'scored' || condition.op === 'not' ? clausesOf(condition.of) : condition.op === 'none' ? 0 : 1
}

/** Fields that one pattern may stand for, as in OpenSearch. */
const MAX_EXPANDED_FIELDS = 1024

/** Throws 400 where the index cannot run the query; fields that it does not have match nothing. */
export function bindQuery(query: Query, context: BindContext): Condition {
  return bindBoosted(query, { ...context, expanded: new Map(), clauses: { count: 0 } })
}

function bindBoosted(query: Query, context: BindState): Condition {
  return boosted(bindUnboosted(query, context), query.boost)
}

function bindUnboosted(query: Query, context: BindState): Condition {
  switch (query.kind) {
    case 'match_all':
      return ALL
    case 'match_none':
      return NONE
    case 'ids':
      return bindIds(query.values)
    case 'bool':
      return bindBool(query, context)
    case 'dis_max':
      return anyOf(
        query.queries.map(each => bindBoosted(each, context)),
        'max',
      )
    case 'constant_score':
      return constant(bindBoosted(query.query, context))
    case 'any_field':
      return bindAnyField(query, context)
    case 'exists':
      if (query.field.includes('*'))
        return anyOf(
          expandFields(query.field, query, context).map(field => counted(bindFieldQuery(query, field, context), context)),
          'max',
        )
      return bindOnField(query, query.field, context)
    default:
      return bindOnField(query, query.field, context)
  }
}

function constant(condition: Condition): Condition {
  return condition.op === 'none' ? NONE : { op: 'scored', of: condition, factor: 1, constant: true }
}

/** Whether a query can find nothing in an index, by its form alone. Clauses beside it are then not bound. */
function isNeverIn(query: Query, context: BindContext): boolean {
  if (query.kind === 'match_none') return true
  if (query.kind === 'bool' && query.isOfText !== true) return [...query.must, ...query.filter].some(clause => isNeverIn(clause, context))
  if (query.kind === 'constant_score') return isNeverIn(query.query, context)
  if (query.kind === 'dis_max') return false
  if (query.kind === 'ids') return query.values.length === 0
  if (!('field' in query) || query.kind === 'match' || query.kind === 'phrase') return false
  if (query.field === '_index') return bindIndexName(query, context).op === 'none'
  if (query.kind === 'terms' && query.values.length === 0) return true
  return query.field !== '_id' && findField(context.mapping, query.field) === undefined
}

function bindBool(query: Extract<Query, { kind: 'bool' }>, context: BindState): Condition {
  if (isNeverIn(query, context)) return NONE
  let voids = 0
  const bind = (clauses: readonly Query[]): readonly Condition[] => {
    const bound = clauses.map(clause => bindBoosted(clause, context))
    if (query.isOfText !== true) return bound
    const asked = bound.filter(condition => condition !== VOID)
    voids += bound.length - asked.length
    return asked
  }
  const required = [...bind(query.must), ...bind(query.filter).map(unscored)]
  const excluded = bind(query.mustNot).map((of): Condition => (of.op === 'none' ? unscored(ALL) : { op: 'not', of }))
  const optional = bind(query.should)
  if (voids > 0 && voids === writtenClauses(query)) return VOID
  if (required.length + excluded.length + optional.length === 0) return ALL
  const implied = required.length === 0 && optional.length > 0 ? 1 : 0
  // As in Lucene, a clause that only excludes takes no minimum.
  const isNegative = required.length + optional.length === 0
  const atLeast =
    query.minimumShouldMatch === undefined || isNegative ? implied : resolveMinimumShouldMatch(query.minimumShouldMatch, optional.length)
  if (atLeast > optional.length) return NONE
  const choice = optional.length === 0 ? [] : [anyOf(optional, 'sum', Math.max(atLeast, implied))]
  return allOf([...required, ...choice, ...excluded])
}

/** Counts the clauses of a text. One that stands for all documents beside an exclusion was not written. */
function writtenClauses({ must, filter, should, mustNot }: Extract<Query, { kind: 'bool' }>): number {
  return [...must, ...filter, ...should, ...mustNot].filter(clause => clause !== MATCH_ALL).length
}

function bindAnyField(query: Extract<Query, { kind: 'any_field' }>, context: BindState): Condition {
  const fields = query.fields.flatMap(({ pattern, boost }): readonly { field: Field | string; boost: number }[] => {
    if (!pattern.includes('*')) return hasField(pattern, context) ? [{ field: pattern, boost }] : []
    return expandFields(pattern, query.query, context).map(field => ({ field, boost }))
  })
  const { minimumShouldMatch } = query
  const counts = minimumShouldMatch !== undefined && fields.length === 1 && query.query.kind === 'match'
  const inner = counts ? ({ ...query.query, minimumShouldMatch } as FieldQuery) : query.query
  const parts = fields.map(({ field, boost }) =>
    boosted(
      typeof field === 'string' ? bindOnField(inner, field, context) : counted(bindFieldQuery(inner, field, context), context),
      boost,
    ),
  )
  return anyOf(parts, query.score)
}

const hasField = (path: string, { mapping }: BindContext): boolean =>
  path === '_id' || path === '_index' || findField(mapping, path) !== undefined

/** `*` and other patterns stand for text, keyword, number, date, boolean and `flat_object` fields. */
function expandFields(pattern: string, query: FieldQuery, { mapping, expanded }: BindState): readonly Field[] {
  const key = `${query.kind === 'exists'}:${pattern}`
  const known = expanded.get(key)
  if (known !== undefined) return known
  const names = wildcardPattern(pattern)
  const found = mapping.paths().flatMap(path => {
    const field = names.test(path) ? findField(mapping, path) : undefined
    return field?.isIndexed === true && isEligible(field, pattern, query) ? [[field.path, field] as const] : []
  })
  // A field and its aliases are one.
  const fields = [...new Map(found).values()]
  if (fields.length > MAX_EXPANDED_FIELDS)
    throw illegalArgument(`field expansion matches too many fields, limit: ${MAX_EXPANDED_FIELDS}, got: ${fields.length}`)
  expanded.set(key, fields)
  return fields
}

/** Clauses that `*` asks of a `flat_object`, too: one of its values is looked for. */
const ASKED_OF_FLAT = new Set<FieldQuery['kind']>(['exists', 'match', 'phrase', 'terms', 'prefix', 'wildcard'])

function isEligible(field: Field, pattern: string, query: FieldQuery): boolean {
  const fieldClass = classOf(field)
  if (fieldClass === 'object') return false
  if (fieldClass === 'flat' && !ASKED_OF_FLAT.has(query.kind)) return false
  const isMultiField = field.sourcePath.join('.') !== field.path
  // A text that `*` finds in `name.keyword`, it finds in `name`, too.
  return pattern !== '*' || !isMultiField
}

function bindOnField(query: FieldQuery, path: string, context: BindState): Condition {
  if (path === '_index') return bindIndexName(query, context)
  if (path === '_id') return bindId(query)
  if (NOT_QUERIED.has(path)) throw unsupported(`query on the field [${path}]`)
  const field = findField(context.mapping, path)
  if (field !== undefined) refuseKept(field)
  if (field === undefined) return NONE
  // An object has no values of its own: as for a field that is not there, nothing is found.
  if (classOf(field) === 'object' && query.kind !== 'exists') return NONE
  // A field that is not indexed is in the documents still; OpenSearch finds it by its doc values, which texts do not have.
  if (!field.isIndexed && query.kind === 'exists')
    return hasDocValues(field) ? counted(bindFieldQuery(query, field, context), context) : NONE
  if (!field.isIndexed)
    throw queryShardError(
      `failed to create query: Cannot search on field [${path}] since it is not indexed; searching its doc values is not supported by the embedded search store`,
    )
  return counted(bindFieldQuery(query, field, context), context)
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
  return query.kind === 'exists' ? ALL : bindIds(wantedNames(query))
}

const bindIds = (ids: readonly string[]): Condition => (ids.length === 0 ? NONE : { op: 'ids', ids: new Set(ids) })

function bindIndexName(query: FieldQuery, context: BindContext): Condition {
  if (query.kind === 'exists') return ALL
  if (query.kind === 'prefix') return context.index.startsWith(query.value) ? ALL : NONE
  const patterns = query.kind === 'wildcard' ? [query.value] : wantedNames(query)
  return patterns.some(pattern => wildcardPattern(pattern).test(context.index)) ? ALL : NONE
}
