/** A request that asks for documents by a query, and how it is run: in this thread or in a process of its own. */
import type { Clock } from '../../ports/clock.ts'
import type { ResolveOptions } from '../catalog/resolve.ts'
import type { LeasedIndex } from '../leases/lease.ts'
import type { MemoryLease } from '../memory-pool.ts'
import type { QueryTurns } from '../query/budget/pace.ts'
import type { QueryMemory } from '../query/budget/query-memory.ts'
import type { PointInTime } from '../query/parse/search-request.ts'
import type { SearchTarget } from '../query/run/search-target.ts'
import type { Damage } from '../storage/index-storage.ts'

/** `matches` lists what matches, for `_delete_by_query`. */
export type QueryOperation = 'search' | 'multiSearch' | 'count' | 'validate' | 'matches'

export interface QueryCall {
  readonly operation: QueryOperation
  /** Index expression of the path; undefined: all. */
  readonly index: string | undefined
  readonly parameters: URLSearchParams
  readonly body: Buffer
  readonly acceptsGzip: boolean
  /** Queries of users go first. */
  readonly isBackground?: boolean
  readonly page?: ScrollPage
}

/** Parts of a call that only a page of a scroll has. */
export interface ScrollPage {
  /** As the answer shows it; undefined: the scroll ends with this page. */
  readonly id: string | undefined
  /** The end of the page before; undefined: this is the first page. */
  readonly cursor: string | undefined
}

/** A call whose answer goes to a client. */
export interface ClientCall extends QueryCall {
  /** For what is held of the answer until the client has read it; given back by the caller. */
  readonly answerMemory: MemoryLease
  /** Asked instead of what the index expression stands for. */
  readonly indices?: readonly LeasedIndex[]
}

export interface QueryAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes of all pieces, which are there then; undefined where they are made as they are read, and may break off with an ApiError. */
  readonly length: number | undefined
  /** To be read once. When a reader stops before the end, the rest is thrown away. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** The whole answer, where it is a single piece. */
  readonly whole?: Uint8Array
  /** Where the next page of a scroll begins. */
  readonly cursor?: string
}

export interface QueryCounters {
  readonly running: number
  /** Queries given up because their client went away. */
  readonly cancelled: number
  /** Queries refused or ended because too many ran. */
  readonly refused: number
  /** Query processes that were ended, or ended by themselves, by reason. */
  readonly ended: Readonly<Record<string, number>>
}

/** Runs queries on what is committed when they arrive. */
export interface QueryRunner {
  /**
   * Answers with status 200. Throws ApiError: 400 and 404 for the request, 408 when the query held up its process or was not answered in
   * time, all attempts and waiting included, 429 when it took too much memory, there is none left for its answer or there are too many queries. Rejects with the signal's reason when that aborts.
   */
  run(call: ClientCall, signal: AbortSignal): Promise<QueryAnswer>
  /** A user is there who may ask soon. Absent: it is always ready. */
  expectUser?(): void
  readonly counters: QueryCounters
  /** Ends what runs. */
  stop(): Promise<void>
}

/** The context of a query. */
export interface QueryContext {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly turns: QueryTurns
  /** Time that the query still has, ms, counted from its arrival; below 0 when it is over. */
  leftMs(): number
  /** Tells the store that a part of an index is damaged: it says so in its log, once, and mends what it can. */
  tellDamage?(damage: Damage): void
  /** Memory of the whole request; charged as the answer grows. */
  readonly memory: QueryMemory
  /** The indices that an expression stands for, with what is committed in them. Throws 404 for one that is not there. */
  resolve(expression: string, options: ResolveOptions): Promise<readonly SearchTarget[]>
  /** The indices as they were. Throws 404 when the point in time is over. */
  resolvePointInTime(pointInTime: PointInTime): Promise<readonly SearchTarget[]>
}

/** Whether the body may name a point in time, so that the path is not what the search is about. A sure look costs more than a wrong guess. */
export const mayNamePointInTime = ({ index, body }: Pick<QueryCall, 'index' | 'body'>): boolean =>
  index === undefined && body.includes('"pit"')
