import type { Clock } from '../../ports/clock.ts'
import type { ResolveOptions } from '../catalog/resolve.ts'
import type { QueryTurns } from '../query/budget/pace.ts'
import type { QueryMemory } from '../query/budget/query-memory.ts'
import type { SearchTarget } from '../query/run/search-target.ts'

/** What a query runs with. */
export interface QueryContext {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly turns: QueryTurns
  /** Of the whole request; charged as the answer grows. */
  readonly memory: QueryMemory
  /** The indices that an expression stands for, with what is committed in them. Throws 404 for one that is not there. */
  resolve(expression: string, options: ResolveOptions): Promise<readonly SearchTarget[]>
}
