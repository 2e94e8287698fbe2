/** A search as a tree. `at` and `end` are places in the text that it was read from. */

export interface Place {
  readonly at: number
  readonly end: number
}

export interface Bound {
  readonly value: string
  readonly isIncluded: boolean
}

/** The condition on a value. */
export type Test =
  | { readonly kind: 'is'; readonly value: string; readonly isQuoted: boolean }
  /** With `*` for any characters and `?` for one. Other such characters are escaped with a backslash. */
  | { readonly kind: 'like'; readonly pattern: string }
  | { readonly kind: 'between'; readonly from?: Bound; readonly to?: Bound }
  | { readonly kind: 'exists' }
  | { readonly kind: 'any'; readonly tests: readonly Test[] }

export type Expression =
  | ({ readonly kind: 'everything' } & Place)
  | ({ readonly kind: 'all' | 'any'; readonly parts: readonly Expression[] } & Place)
  | ({ readonly kind: 'not'; readonly part: Expression } & Place)
  | ({ readonly kind: 'text'; readonly test: Test } & Place)
  | ({ readonly kind: 'field'; readonly field: string; readonly test: Test } & Place)

/** A fault of a search: its place, and the text to write instead. */
export interface SearchProblem extends Place {
  readonly message: string
  readonly instead: string
}

export type Parsed = { readonly ok: true; readonly expression: Expression } | { readonly ok: false; readonly problem: SearchProblem }
