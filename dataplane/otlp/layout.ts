/** Where things stand in the JSON text of a request, so that it can be forwarded in pieces without being parsed again. */

/** Replaces the bytes from `start` to `end` (exclusive) by `text`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface ScopeSpan {
  readonly start: number
  readonly end: number
  /** Just after the `[` of `logRecords`. */
  readonly listStart: number
  /** At the `]` of `logRecords`. */
  readonly listEnd: number
  /** Number of the first record, counted over the whole request. */
  readonly firstRecord: number
  /** Number after the last record. */
  readonly endRecord: number
}

export interface ResourceSpan {
  readonly start: number
  readonly end: number
  /** Just after the `[` of `scopeLogs`. */
  readonly listStart: number
  /** At the `]` of `scopeLogs`. */
  readonly listEnd: number
  readonly scopes: readonly ScopeSpan[]
  readonly recordCount: number
  /** The resource attribute `service.name`, when it is a string. */
  readonly service: string | undefined
  /** The resource attribute `tenant_id`, when it is a string. */
  readonly tenantId: string | undefined
}

/** An accepted request: OTLP JSON text, and where its parts lie. */
export interface RequestLayout {
  readonly text: Uint8Array
  readonly resources: readonly ResourceSpan[]
  readonly recordCount: number
  /** Start and end of every record, in turn. */
  readonly recordBounds: readonly number[]
  /** What must change on the way out, by position, not overlapping. */
  readonly edits: readonly Edit[]
}
