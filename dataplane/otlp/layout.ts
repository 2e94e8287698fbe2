/** Where things stand in the JSON text of a request, so that it can be forwarded in pieces without being parsed again. */
import { OversizedPayload } from './malformed.ts'

/** What one request may hold, so that a body of millions of empty elements cannot exhaust memory. */
const MAX_RECORDS = 1_000_000
const MAX_GROUPS = 100_000
const MAX_EDITS = 500_000

/** Replaces the bytes from `start` to `end` (exclusive) by `text`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The edits of a request, in the order they are found. */
export class EditList {
  readonly #edits: Edit[] = []

  add(start: number, end: number, text: string): void {
    if (this.#edits.length === MAX_EDITS) throw new OversizedPayload(`request: expected at most ${MAX_EDITS} fields in unusual form`)
    this.#edits.push({ start, end, text })
  }

  byPosition(): readonly Edit[] {
    return this.#edits.sort((x, y) => x.start - y.start)
  }
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

/** Collects the spans of a request as its parts are read, inner before outer. Leaves out what holds no records. */
export class LayoutBuilder {
  readonly #bounds: number[] = []
  readonly #resources: ResourceSpan[] = []
  #scopes: ScopeSpan[] = []
  #groupCount = 0
  #scopeFirstRecord = 0
  #resourceFirstRecord = 0

  get #recordCount(): number {
    return this.#bounds.length / 2
  }

  addRecord(start: number, end: number): void {
    this.#bounds.push(start, end)
    if (this.#bounds.length > 2 * MAX_RECORDS) throw new OversizedPayload(`request: expected at most ${MAX_RECORDS} log records`)
  }

  /** Ends a scope; its records are those added since the last one ended. */
  addScope(span: Omit<ScopeSpan, 'firstRecord' | 'endRecord'>): void {
    const firstRecord = this.#scopeFirstRecord
    const endRecord = this.#recordCount
    this.#scopeFirstRecord = endRecord
    this.#countGroup()
    if (endRecord === firstRecord) return
    this.#scopes.push({ ...span, firstRecord, endRecord })
  }

  /** Ends a resource; its scopes are those added since the last one ended. */
  addResource(span: Omit<ResourceSpan, 'scopes' | 'recordCount'>): void {
    const scopes = this.#scopes
    const recordCount = this.#recordCount - this.#resourceFirstRecord
    this.#scopes = []
    this.#resourceFirstRecord = this.#recordCount
    this.#countGroup()
    if (recordCount === 0) return
    this.#resources.push({ ...span, scopes, recordCount })
  }

  build(text: Uint8Array, edits: readonly Edit[]): RequestLayout {
    return { text, edits, resources: this.#resources, recordBounds: this.#bounds, recordCount: this.#recordCount }
  }

  #countGroup(): void {
    if (++this.#groupCount > MAX_GROUPS) throw new OversizedPayload(`request: expected at most ${MAX_GROUPS} resources and scopes`)
  }
}
