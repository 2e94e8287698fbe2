import { Buffer } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { recordIdentity, resourceIdentity, scopeIdentity } from '../../../domain/record-identity.ts'
import { addedAttribute } from '../../../otlp/added-attribute.ts'
import { EditedText } from '../../../otlp/edited-text.ts'
import { type Edit, type RequestLayout, settleEdits } from '../../../otlp/layout.ts'
import type { LogRecord, ResourceLogs, ScopeLogs } from '../../../otlp/payload.ts'

/** The attribute of the second and later of equal records (Decisions 4). */
const ORDINAL_KEY = 'record.ordinal'
/** After so long others get their turn. */
const TURN_MS = 10

/**
 * Gives the second and later ones of a request's equal records the attribute `record.ordinal`, an integer from 1 on, so that they become
 * documents of their own, and the same ones when the request is sent again (Decisions 4). A client's own attribute of that name is kept: the
 * ordinal is in `record.ordinal_2` then, or the next name that is free.
 * `marked` are the records that may be equal to others (`recordsOfEqualTime`); no others are looked at.
 */
export async function numberEqualRecords(layout: RequestLayout, marked: Uint8Array): Promise<RequestLayout> {
  const { recordBounds: bounds } = layout
  const request = new EqualRecords(layout)
  let turnEndsMs = performance.now() + TURN_MS
  for (const resource of layout.resources) {
    let ofResource: string | undefined
    for (const scope of resource.scopes) {
      let ofScope: string | undefined
      for (let i = scope.firstRecord; i < scope.endRecord; i++) {
        const [start, end] = [bounds[2 * i]!, bounds[2 * i + 1]!]
        if (marked[i] === 0 || end - start > MAX_BUS_MESSAGE_BYTES) continue
        if (performance.now() >= turnEndsMs) {
          await nextTurn()
          turnEndsMs = performance.now() + TURN_MS
        }
        ofResource ??= request.resource(resource)
        ofScope ??= request.scope(scope)
        request.record(start, end, ofResource, ofScope)
      }
    }
  }
  return request.numbered()
}

interface Around {
  readonly start: number
  readonly end: number
  readonly listStart: number
  readonly listEnd: number
}

class EqualRecords {
  readonly #layout: RequestLayout
  readonly #bytes: Buffer
  readonly #text: EditedText
  readonly #added: Edit[] = []
  /** How often each record was there so far. */
  readonly #counts = new Map<string, number>()
  /** Numbers of the pairs of resource and scope. */
  readonly #origins = new Map<string, number>()
  #origin = ''
  /** The record looked at last: where one that is equal byte by byte follows, it need not be parsed. */
  #lastStart = 0
  #lastEnd = 0
  #identity = ''
  #ordinalKey = ORDINAL_KEY

  constructor(layout: RequestLayout) {
    const { text, edits } = layout
    this.#layout = layout
    this.#bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
    this.#text = new EditedText(text, edits)
  }

  resource(around: Around): string {
    return resourceIdentity((this.#around(around) as ResourceLogs).resource)
  }

  scope(around: Around): string {
    return scopeIdentity((this.#around(around) as ScopeLogs).scope)
  }

  /** The object around a list, which is left empty. A larger one goes into no message. */
  #around({ start, end, listStart, listEnd }: Around): object {
    if (end - start - (listEnd - listStart) > MAX_BUS_MESSAGE_BYTES) return {}
    return this.#parsed(Buffer.concat([this.#text.bytes(start, listStart), this.#text.bytes(listEnd, end)]))
  }

  #parsed({ buffer, byteOffset, length }: Uint8Array): object {
    return JSON.parse(Buffer.from(buffer, byteOffset, length).toString())
  }

  record(start: number, end: number, ofResource: string, ofScope: string): void {
    const origin = this.#numberOf(ofResource + ofScope)
    if (origin !== this.#origin || this.#bytes.compare(this.#bytes, this.#lastStart, this.#lastEnd, start, end) !== 0) {
      const record = this.#parsed(this.#text.bytes(start, end)) as LogRecord
      this.#origin = origin
      this.#identity = `${origin} ${recordIdentity(record)}`
      this.#ordinalKey = ordinalKey(record)
    }
    this.#lastStart = start
    this.#lastEnd = end
    const ordinal = this.#counts.get(this.#identity) ?? 0
    this.#counts.set(this.#identity, ordinal + 1)
    if (ordinal === 0) return
    const attribute = `{"key":"${this.#ordinalKey}","value":{"intValue":"${ordinal}"}}`
    this.#added.push(addedAttribute(this.#layout.text, start, end, attribute))
  }

  #numberOf(origin: string): string {
    let number = this.#origins.get(origin)
    if (number === undefined) {
      number = this.#origins.size
      this.#origins.set(origin, number)
    }
    return String(number)
  }

  numbered(): RequestLayout {
    return this.#added.length === 0 ? this.#layout : { ...this.#layout, edits: settleEdits([...this.#layout.edits, ...this.#added]) }
  }
}

/** `record.ordinal`, or the first of `record.ordinal_2`, `_3` … that the record does not have. */
function ordinalKey({ attributes = [] }: LogRecord): string {
  if (!attributes.some(({ key }) => key === ORDINAL_KEY)) return ORDINAL_KEY
  const keys = new Set(attributes.map(({ key }) => key))
  let number = 2
  while (keys.has(`${ORDINAL_KEY}_${number}`)) number++
  return `${ORDINAL_KEY}_${number}`
}
