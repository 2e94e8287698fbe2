/** Where things stand in the JSON text of a request, so that it can be forwarded in pieces without being parsed again. */
import { OversizedPayload } from './malformed.ts'

/** Bounds of one request, so that a body of millions of empty elements cannot exhaust memory. */
export const MAX_RECORDS = 1_000_000
export const MAX_GROUPS = 100_000
const MAX_EDITS = 500_000
const NO_EDITS: readonly Edit[] = []

/** Replaces the bytes from `start` to `end` (exclusive) by `text`; of no bytes, it inserts. */
export interface Edit {
  readonly start: number
  readonly end: number
  /** ASCII. */
  readonly text: string
}

/**
 * Edits by position, of which no two overlap: of two that would, the wider stays, of equal ones the later. Insertions at one place stand in
 * the order they were made.
 */
export function settleEdits(edits: readonly Edit[]): readonly Edit[] {
  const settled: Edit[] = []
  for (const edit of [...edits].sort((x, y) => x.start - y.start || x.end - y.end)) {
    const last = settled.at(-1)
    if (last === undefined || last.end <= edit.start) settled.push(edit)
    else if (edit.end - edit.start >= last.end - last.start) settled[settled.length - 1] = edit
  }
  return settled
}

/** The edits of a request, in the order they are found. */
export class EditList {
  readonly #edits: Edit[] = []

  add(start: number, end: number, text: string): void {
    if (this.#edits.length === MAX_EDITS) throw new OversizedPayload(`request: expected at most ${MAX_EDITS} fields in unusual form`)
    this.#edits.push({ start, end, text })
  }

  get count(): number {
    return this.#edits.length
  }

  /** Forgets all but the first so many. */
  cutTo(count: number): void {
    this.#edits.length = count
  }

  settled(): readonly Edit[] {
    return this.#edits.length === 0 ? NO_EDITS : settleEdits(this.#edits)
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
  /** A key for each record, equal for records of equal time (`time-key.ts`). */
  readonly timeKeys: readonly number[]
  /** Changes of the text on its way out, by position; no two overlap. */
  readonly edits: readonly Edit[]
  /** Its edits around the records say whose they are: it is refused where they cannot be made. */
  readonly needsEdits?: boolean
}

/** Collects the spans of a request as its parts are read, inner before outer. Parts without records are left out. */
export class LayoutBuilder {
  readonly #bounds: number[] = []
  readonly #timeKeys: number[] = []
  readonly #resources: ResourceSpan[] = []
  #scopes: ScopeSpan[] = []
  #groupCount = 0
  #scopeFirstRecord = 0
  #resourceFirstRecord = 0

  get #recordCount(): number {
    return this.#bounds.length / 2
  }

  /** `timeKey` as in `time-key.ts`. */
  addRecord(start: number, end: number, timeKey: number): void {
    this.#bounds.push(start, end)
    this.#timeKeys.push(timeKey)
    this.expectRecords(0)
  }

  /** Comes before `count` records are read. Throws `OversizedPayload` where they are too many. */
  expectRecords(count: number): void {
    if (this.#recordCount + count > MAX_RECORDS) throw new OversizedPayload(`request: expected at most ${MAX_RECORDS} log records`)
  }

  /** The same of resources and scopes. */
  expectGroups(count: number): void {
    if (this.#groupCount + count > MAX_GROUPS) throw new OversizedPayload(`request: expected at most ${MAX_GROUPS} resources and scopes`)
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
    return {
      text,
      edits,
      resources: this.#resources,
      recordBounds: this.#bounds,
      timeKeys: this.#timeKeys,
      recordCount: this.#recordCount,
    }
  }

  #countGroup(): void {
    this.#groupCount++
    this.expectGroups(0)
  }
}
