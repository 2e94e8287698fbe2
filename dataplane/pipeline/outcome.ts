/** The outcome of a step for one record. Bad data is an outcome, not an exception. */
export type Outcome<T> =
  | { readonly kind: 'emit'; readonly value: T }
  | { readonly kind: 'deadLetter'; readonly reason: string }
  | { readonly kind: 'drop'; readonly reason: string }

/** Records that a step takes from the bus: the part of a consumed record that pure code needs. */
export interface StepInput {
  readonly key: string
  readonly value: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}
