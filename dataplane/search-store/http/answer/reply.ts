import type { Answer } from '../../../http/route.ts'
import type { QueryAnswer } from '../../calls/query-call.ts'

/** A handler's answer. */
export interface Reply extends Answer {
  readonly status: number
  /** JSON that is already written, for answers that carry stored documents. */
  readonly json?: string
  /** `filter_path` has been applied to it. */
  readonly isFiltered?: boolean
  readonly text?: string
  /** Where the next page of a scroll begins. */
  readonly cursor?: string
  /** Bytes that go out as they are; nothing else counts beside them. */
  readonly answer?: QueryAnswer
}

export const ok = (body: unknown): Reply => ({ status: 200, body })
export const acknowledged = (): Reply => ok({ acknowledged: true })
