/** A query bound to the fields of one index: the condition that a document must fulfil, and its score. */

import type { TermPattern } from '../../analysis/term-pattern.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import type { Field } from './field.ts'

export type Condition =
  | { readonly op: 'all' }
  | { readonly op: 'none' }
  /** The field holds one of the terms. */
  | { readonly op: 'terms'; readonly field: Field; readonly terms: ReadonlySet<string>; readonly isExact?: true }
  /** The field holds a term that fits. */
  | { readonly op: 'pattern'; readonly field: Field; readonly pattern: TermPattern }
  /** A text field holds the words next to each other, moved by at most `slop` places. */
  | {
      readonly op: 'phrase'
      readonly field: Field
      readonly words: readonly string[]
      readonly slop: number
      readonly lastIsPrefix: boolean
    }
  /** A number or date lies between the bounds. */
  | { readonly op: 'range'; readonly field: Field; readonly range: NumberRange; readonly exact?: ExactRange }
  | { readonly op: 'exists'; readonly field: Field }
  | { readonly op: 'ids'; readonly ids: ReadonlySet<string> }
  | { readonly op: 'and'; readonly of: readonly Condition[] }
  /** At least `atLeast` hold; 0 is for the score alone. */
  | { readonly op: 'or'; readonly of: readonly Condition[]; readonly atLeast: number; readonly score: 'sum' | 'max' }
  | { readonly op: 'not'; readonly of: Condition }
  /** `constant`: a match scores `factor`; else its own score times `factor`. */
  | { readonly op: 'scored'; readonly of: Condition; readonly factor: number; readonly constant: boolean }

/** The index that a query is bound to. */
export interface BindContext {
  readonly index: string
  readonly mapping: IndexMapping
  /** The time of `now` throughout the request. */
  readonly nowMs: number
}

interface Bounds<T> {
  readonly min: T
  readonly max: T
  readonly includeMin: boolean
  readonly includeMax: boolean
}

/** Infinite bounds are open. */
export type NumberRange = Bounds<number>

/** Bounds that doubles do not hold; the `range` beside them is as wide or wider. */
export type ExactRange = Bounds<bigint | undefined>

export const ALL: Condition = { op: 'all' }
export const NONE: Condition = { op: 'none' }

/** A piece of a query text without words. It finds nothing, and does not count among the clauses of its text. */
export const VOID: Condition = { op: 'none' }

/** Segments know the bounds of this field. */
export const TIMESTAMP = 'timestamp'

export function inRange(value: number, range: NumberRange): boolean {
  return (
    (value > range.min || (range.includeMin && value === range.min)) && (value < range.max || (range.includeMax && value === range.max))
  )
}

export function inExactRange(value: number | bigint, { min, max, includeMin, includeMax }: ExactRange): boolean {
  return (
    (min === undefined || (includeMin ? value >= min : value > min)) && (max === undefined || (includeMax ? value <= max : value < max))
  )
}

export function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.some(condition => condition.op === 'none')) return NONE
  if (conditions.length === 0) return ALL
  return conditions.length === 1 ? conditions[0]! : { op: 'and', of: conditions }
}

export function anyOf(conditions: readonly Condition[], score: 'sum' | 'max' = 'sum', atLeast = 1): Condition {
  const possible = conditions.filter(condition => condition.op !== 'none')
  if (conditions.length > 0 && conditions.every(condition => condition === VOID)) return VOID
  if (possible.length < atLeast) return NONE
  if (possible.length === 1 && atLeast === 1) return possible[0]!
  return { op: 'or', of: possible, atLeast, score }
}

/** Takes part in matching, not in the score. */
export function unscored(condition: Condition): Condition {
  return condition.op === 'none' ? condition : { op: 'scored', of: condition, factor: 0, constant: true }
}

export function boosted(condition: Condition, factor: number): Condition {
  return factor === 1 || condition.op === 'none' ? condition : { op: 'scored', of: condition, factor, constant: false }
}
