/** A consistent look at some indices that a client may come back to, for a while. */
import type { Query } from '../query/parse/query.ts'
import type { FrozenIndex } from '../storage/frozen-index.ts'

export interface LeasedIndex {
  readonly storage: FrozenIndex
  /** The filter of the alias through which the index was named. */
  readonly filter: Query | undefined
}

/** The search that a scroll goes on with. */
export interface ScrolledSearch {
  /** Index expression of the path. */
  readonly index: string | undefined
  readonly parameters: string
  readonly body: Buffer
}

export type LeaseKind = 'scroll' | 'pit'

export interface Lease {
  readonly id: string
  readonly kind: LeaseKind
  readonly createdAtMs: number
  readonly indices: readonly LeasedIndex[]
  keepAliveMs: number
  /** The search that a scroll pages through. */
  readonly search: ScrolledSearch | undefined
  /** Where the next page of a scroll begins; undefined before the first. */
  cursor: string | undefined
}
