/** Likely mistakes in a search that finds nothing. */
import type { Expression } from './expression.ts'
import type { FieldCatalog } from './field-catalog.ts'
import { formatTerm } from './spelling.ts'

const ASSIGNMENT = /^([\w.@-]+)==?(.*)$/

/** Sentences for the page; `catalog` has all fields that records have. */
export function hintsFor(expression: Expression, catalog: FieldCatalog): readonly string[] {
  return [...new Set(termsOf(expression).flatMap(term => hintFor(term, catalog) ?? []))]
}

type Term = Extract<Expression, { readonly kind: 'field' | 'text' }>

/** Terms that a record must meet. */
function termsOf(expression: Expression): readonly Term[] {
  if (expression.kind === 'all' || expression.kind === 'any') return expression.parts.flatMap(termsOf)
  return expression.kind === 'field' || expression.kind === 'text' ? [expression] : []
}

function hintFor(term: Term, catalog: FieldCatalog): string | undefined {
  if (term.kind === 'field') return hasField(catalog, term.field) ? undefined : `No record has a field ${term.field}.`
  if (term.test.kind !== 'is' || term.test.isQuoted) return undefined
  const [, field = '', value = ''] = ASSIGNMENT.exec(term.test.value) ?? []
  return hasField(catalog, field)
    ? `A value of a field is written with a colon: ${formatTerm(field, value === '' ? 'value' : value)}`
    : undefined
}

/** Fields within others are not told one by one. */
function hasField(catalog: FieldCatalog, field: string): boolean {
  const [first = ''] = field.split('.', 1)
  return catalog.has(field) || catalog.get(first) === 'flat'
}
