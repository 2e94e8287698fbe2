/** One log record as the search for a root cause sees it (Decisions 6). */
import type { Called } from './called-service.ts'

export interface ReadChange {
  /** For people. */
  readonly text: string
  /** The start of the message as it is: its fields may name whose change it is. */
  readonly whole: string
  /** An event of the platform, which tells of others. */
  readonly isEvent: boolean
}

export interface Observation {
  /** Event time, ms since the epoch, with a fraction. Records without a finite time are left out. */
  readonly timeMs: number
  readonly service: string
  /** `''`: none. */
  readonly traceId: string
  /** `''`: none. */
  readonly spanId: string
  /** The kind of record: equal for records of one log statement. */
  readonly template: string
  /** Level ERROR or FATAL. */
  readonly isError: boolean
  /** Level DEBUG or TRACE. */
  readonly isDebug?: boolean
  /** Level WARN, of the record or else in its text. */
  readonly isWarning?: boolean
  /** The pod, else the host, that wrote it. */
  readonly instance?: string
  /** The node on which it was written. */
  readonly node?: string
  readonly logId: string
  readonly patternId: string
  /** The masked message, for people. */
  readonly pattern: string
  /** The words of an error whose message was read. The pattern lacks what is quoted, and numbers. */
  readonly errorText?: string
  /** The other side of a call that failed, where the record of such an error names it in attributes. */
  readonly called?: Called
  /** The queue or topic of an error that was read, where its attributes name one. */
  readonly queue?: string
  /** The words of a record that may tell of a change, where it was read. */
  readonly change?: ReadChange
}
