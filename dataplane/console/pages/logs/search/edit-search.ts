/** Changes a search as clicks on values ask for it, and leaves what the user wrote as it is. */
import type { Expression, Test } from './expression.ts'
import { parseSearch } from './parse-search.ts'
import { formatTerm } from './spelling.ts'

export type FilterKind = 'in' | 'out' | 'none'

/** The terms that must all hold, as they are written; undefined where the search cannot be read. */
export function topTerms(text: string): readonly { readonly expression: Expression; readonly text: string }[] | undefined {
  const parsed = parseSearch(text)
  if (!parsed.ok) return undefined
  const { expression } = parsed
  if (expression.kind === 'everything') return []
  const parts = expression.kind === 'all' ? expression.parts : [expression]
  return parts.map(part => ({ expression: part, text: text.slice(part.at, part.end) }))
}

/** Whether the whole of it stands in one pair of parentheses. */
function isWrapped(text: string, { parts, at }: Extract<Expression, { kind: 'all' | 'any' }>): boolean {
  return text[at] === '(' && parts[0]!.at > at
}

/** The search with `text` as one more term that must hold. */
export function addTerm(search: string, term: string): string {
  const parsed = parseSearch(search)
  if (search.trim() === '' || !parsed.ok) return term
  const isLoose = parsed.expression.kind === 'any' && !isWrapped(search, parsed.expression)
  return `${isLoose ? `(${search.trim()})` : search.trim()} ${term}`
}

interface FieldTerm {
  readonly field: string
  readonly isOut: boolean
  /** Values that are given one by one; undefined where a pattern or a range is among them. */
  readonly values: readonly string[] | undefined
}

function fieldTermOf(expression: Expression): FieldTerm | undefined {
  if (expression.kind === 'field') return { field: expression.field, isOut: false, values: valuesOf(expression.test) }
  if (expression.kind === 'not' && expression.part.kind === 'field')
    return { field: expression.part.field, isOut: true, values: valuesOf(expression.part.test) }
  return undefined
}

function valuesOf(test: Test): readonly string[] | undefined {
  if (test.kind === 'is') return [test.value]
  if (test.kind !== 'any') return undefined
  const values = test.tests.map(one => (one.kind === 'is' ? one.value : undefined))
  return values.every(value => value !== undefined) ? values : undefined
}

function termOf(field: string, isOut: boolean, values: readonly string[]): string {
  return `${isOut ? '-' : ''}${formatTerm(field, ...values)}`
}

/** Whether the search asks for this value or leaves it out, in a term of its own. */
export function filterOf(search: string, field: string, value: string): FilterKind {
  for (const { expression } of topTerms(search) ?? []) {
    const term = fieldTermOf(expression)
    if (term?.field === field && term.values?.includes(value)) return term.isOut ? 'out' : 'in'
  }
  return 'none'
}

/** The search with a value asked for, left out, or neither. A second value of a field that is asked for widens the term. */
export function setFilter(search: string, field: string, value: string, kind: FilterKind): string {
  const terms = topTerms(search)
  if (terms === undefined) return kind === 'none' ? search : termOf(field, kind === 'out', [value])
  const kept: string[] = []
  let isDone = kind === 'none'
  for (const { expression, text } of terms) {
    const term = fieldTermOf(expression)
    if (term?.field !== field || term.values === undefined) {
      kept.push(text)
      continue
    }
    const others = term.values.filter(other => other !== value)
    const isSameKind = term.isOut === (kind === 'out')
    const values = !isDone && isSameKind ? [...others, value] : others
    if (values.length > others.length) isDone = true
    if (values.length > 0)
      kept.push(
        values.length === term.values.length && values.every((v, i) => v === term.values![i]) ? text : termOf(field, term.isOut, values),
      )
  }
  const rest = kept.join(' ')
  if (isDone) return rest
  return addTerm(rest, termOf(field, kind === 'out', [value]))
}

/** The search without terms on `field` that ask for values or leave them out: what a facet of that field counts. */
export function withoutField(search: string, field: string): string {
  const terms = topTerms(search)
  if (terms === undefined) return search
  return terms
    .filter(({ expression }) => fieldTermOf(expression)?.field !== field)
    .map(({ text }) => text)
    .join(' ')
}
