/** Messages between the store and its query process. Bytes travel beside a message. */
import type { ApiErrorOptions } from '../api-error.ts'
import type { QueryOperation, ScrollPage } from '../calls/query-call.ts'
import type { ResolveOptions } from '../catalog/resolve.ts'
import type { Query } from '../query/parse/query.ts'
import type { PointInTime } from '../query/parse/search-request.ts'
import type { FeedHead } from '../storage/index-feed.ts'
import type { Damage } from '../storage/index-storage.ts'

/** An ApiError on its way. */
export interface Refusal {
  readonly status: number
  readonly type: string
  readonly reason: string
  readonly options: ApiErrorOptions
}

export type ToProcess =
  /** The bytes are the body. `nowMs`: the store's time; `leftMs`: time that the query still has. */
  | {
      readonly kind: 'query'
      readonly id: number
      readonly operation: QueryOperation
      readonly index: string | undefined
      readonly parameters: string
      readonly acceptsGzip: boolean
      readonly isBackground: boolean
      readonly page: ScrollPage | undefined
      readonly nowMs: number
      readonly leftMs: number
    }
  /** Answers an `ask`; ask 0 of a query is answered unasked, for the index expression of its path, unless it may name a point in time. */
  | {
      readonly kind: 'resolved'
      readonly id: number
      readonly ask: number
      readonly targets: readonly (readonly [handle: number, filter: Query | undefined])[] | Refusal
    }
  /** The committed state of an index; comes before the answers that name the index. */
  | { readonly kind: 'told'; readonly handle: number; readonly head: FeedHead }
  | { readonly kind: 'forget'; readonly handle: number }
  /** No query asks for the log index now, and one may soon. */
  | { readonly kind: 'follow'; readonly handle: number }
  /** The process has just begun, and queries may soon ask for these log indices; the newest first. */
  | { readonly kind: 'warmUp'; readonly handles: readonly number[] }
  /** So many bytes of the answer have gone on. */
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'cancel'; readonly id: number }
  /** Answered at once, also while queries are under way. */
  | { readonly kind: 'areYouThere' }

export type FromProcess =
  /** Asks for the indices of an expression. `gone`: indices whose last known state is no longer true. */
  | {
      readonly kind: 'ask'
      readonly id: number
      readonly ask: number
      readonly expression: string
      readonly options: ResolveOptions
      /** Asked for instead of the expression. */
      readonly pointInTime: PointInTime | undefined
      readonly gone: readonly number[]
    }
  /** `isWhole`: the bytes are all of it. */
  | {
      readonly kind: 'answer'
      readonly isWhole: boolean
      readonly id: number
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly length: number | undefined
      readonly cursor: string | undefined
    }
  /** The bytes are the piece. */
  | { readonly kind: 'piece'; readonly id: number }
  | { readonly kind: 'end'; readonly id: number }
  /** Answers `areYouThere`; the id is that of no query. */
  | { readonly kind: 'here'; readonly id: 0 }
  /** The query came upon damage, and goes on without that segment. */
  | { readonly kind: 'damage'; readonly id: number; readonly damage: Damage }
  | { readonly kind: 'failed'; readonly id: number; readonly error: Refusal | { readonly stack: string } }
