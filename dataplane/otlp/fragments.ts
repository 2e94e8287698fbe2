/** Cuts an accepted request into `resourceLogs` elements that fit a bus message (Decisions 3: bus messages). */
import { Buffer } from 'node:buffer'
import { startsWith } from '../json/bytes.ts'
import { EditedText } from './edited-text.ts'
import type { Edit, RequestLayout, ResourceSpan, ScopeSpan } from './layout.ts'
import { OversizedPayload } from './malformed.ts'
import { messageMemory } from './message-memory.ts'
import { soundEdits } from './sound-edits.ts'
import { allSteps, type Steps } from './steps.ts'

/** One element of `resourceLogs`, as bytes in pieces. */
export interface Fragment {
  readonly resource: ResourceSpan
  readonly chunks: readonly Uint8Array[]
  readonly sizeBytes: number
  readonly recordCount: number
  /** The message of this element alone, where the request was just that: it need not be copied. */
  readonly message?: Uint8Array
}

export interface Fragments {
  readonly fragments: readonly Fragment[]
  /** Records that fit no message, not even alone. */
  readonly rejectedRecords: number
  /** Bytes of resources and scopes that stand in the fragments once more, because their records are in several. */
  readonly repeatedBytes: number
}

/** Bytes of resources and scopes that the messages of one request repeat. */
export const MAX_REPEATED_BYTES = 16_777_216

const OPENING = Buffer.from('{"resourceLogs":[')
const CLOSING = Buffer.from(']}')
const COMMA = Buffer.from(',')

/** Bytes of a message beside its elements and the commas between them. */
export const ENVELOPE_BYTES = OPENING.length + CLOSING.length

/** The message `{"resourceLogs":[…]}` of these elements, in memory that is lent. */
export function joinFragments(fragments: readonly Fragment[]): Uint8Array {
  const [first] = fragments
  if (fragments.length === 1 && first?.message !== undefined) return first.message
  const commas = COMMA.length * Math.max(0, fragments.length - 1)
  const sizeBytes = fragments.reduce((sum, fragment) => sum + fragment.sizeBytes, ENVELOPE_BYTES + commas)
  const message = messageMemory.take(sizeBytes).subarray(0, sizeBytes)
  let at = 0
  const put = (bytes: Uint8Array) => {
    message.set(bytes, at)
    at += bytes.length
  }
  put(OPENING)
  for (const [index, { chunks }] of fragments.entries()) {
    if (index > 0) put(COMMA)
    for (const chunk of chunks) put(chunk)
  }
  put(CLOSING)
  return message
}

/** Records of one message: a small message may hold hundreds of thousands, each of them work for every step behind. */
export const MAX_MESSAGE_RECORDS = 10_000

/** Elements without records are left out. Order is kept. Throws `OversizedPayload` when the messages would repeat more than `MAX_REPEATED_BYTES`. */
export function cutFragments(request: RequestLayout, maxMessageBytes: number): Fragments {
  const cut = new RequestCutter(request, editsOf(request) ?? allSteps(soundEdits(request, maxMessageBytes)), maxMessageBytes)
  for (const resource of request.resources) if (!cut.addWhole(resource)) allSteps(cut.addCut(resource))
  return cut
}

/** The same, with rests. */
export function* cutFragmentSteps(request: RequestLayout, maxMessageBytes: number): Steps<Fragments> {
  const cut = new RequestCutter(request, editsOf(request) ?? (yield* soundEdits(request, maxMessageBytes)), maxMessageBytes)
  for (const resource of request.resources) if (!cut.addWhole(resource)) yield* cut.addCut(resource)
  return cut
}

function editsOf({ edits }: RequestLayout): readonly Edit[] | undefined {
  return edits.length === 0 ? edits : undefined
}

class RequestCutter implements Fragments {
  readonly fragments: Fragment[] = []
  rejectedRecords = 0
  repeatedBytes = 0
  readonly #request: RequestLayout
  readonly #text: EditedText
  readonly #limit: number

  constructor(request: RequestLayout, edits: readonly Edit[], maxMessageBytes: number) {
    this.#request = request
    this.#text = new EditedText(request.text, edits)
    this.#limit = maxMessageBytes - ENVELOPE_BYTES
  }

  /** Adds a resource that fits one message; false for any other. */
  addWhole(resource: ResourceSpan): boolean {
    const { start, end, recordCount } = resource
    const sizeBytes = this.#text.size(start, end)
    if (sizeBytes > this.#limit || recordCount > MAX_MESSAGE_RECORDS) return false
    const message = isWhole(this.#request, resource) ? { message: this.#request.text } : undefined
    if (recordCount > 0) this.fragments.push({ resource, chunks: this.#text.pieces(start, end), sizeBytes, recordCount, ...message })
    return true
  }

  *addCut(resource: ResourceSpan): Steps<void> {
    const cutter = new ResourceCutter(this.#request, this.#text, resource, this.#limit, MAX_REPEATED_BYTES - this.repeatedBytes)
    const { fragments, rejectedRecords, repeatedBytes } = yield* cutter.cut()
    for (const fragment of fragments) this.fragments.push(fragment)
    this.rejectedRecords += rejectedRecords
    this.repeatedBytes += repeatedBytes
  }
}

/** Whether the request is, byte by byte, the message of this one element. */
function isWhole({ text, edits }: RequestLayout, { start, end }: ResourceSpan): boolean {
  return (
    edits.length === 0 &&
    start === OPENING.length &&
    text.length === end + CLOSING.length &&
    startsWith(text, 0, OPENING) &&
    startsWith(text, end, CLOSING)
  )
}

/** Fills fragments of one resource, record by record, each until it is full. Each fragment repeats the resource and the scope around its records. */
class ResourceCutter {
  readonly #bounds: readonly number[]
  readonly #text: EditedText
  readonly #resource: ResourceSpan
  readonly #limit: number
  readonly #resourceBytes: number
  readonly #maxRepeatedBytes: number
  readonly #fragments: Fragment[] = []
  #chunks: Uint8Array[] = []
  #sizeBytes = 0
  #recordCount = 0
  #rejectedRecords = 0
  #repeatedBytes = 0

  constructor(request: RequestLayout, text: EditedText, resource: ResourceSpan, limit: number, maxRepeatedBytes: number) {
    this.#bounds = request.recordBounds
    this.#text = text
    this.#resource = resource
    this.#limit = limit
    this.#maxRepeatedBytes = maxRepeatedBytes
    this.#resourceBytes = text.size(resource.start, resource.listStart) + text.size(resource.listEnd, resource.end)
  }

  *cut(): Steps<Fragments> {
    for (const scope of this.#resource.scopes) yield* this.#addScope(scope)
    this.#closeFragment()
    return { fragments: this.#fragments, rejectedRecords: this.#rejectedRecords, repeatedBytes: this.#repeatedBytes }
  }

  *#addScope(scope: ScopeSpan): Steps<void> {
    if (scope.firstRecord === scope.endRecord) return
    const scopeBytes = this.#text.size(scope.start, scope.listStart) + this.#text.size(scope.listEnd, scope.end)
    const alone = this.#resourceBytes + scopeBytes
    /** The surroundings of the records are too large to be repeated: as many records as fit go into one fragment. */
    const once = alone > this.#limit / 2
    let first = scope.firstRecord
    while (first < scope.endRecord) {
      const used = this.#chunks.length === 0 ? this.#resourceBytes : this.#sizeBytes + COMMA.length
      const most = Math.min(scope.endRecord, first + MAX_MESSAGE_RECORDS - this.#recordCount)
      const end = this.#runEnd(first, most, this.#limit - used - scopeBytes)
      if (end > first) {
        if (this.#chunks.length === 0 && this.#fragments.length > 0) this.#noteRepeated(this.#resourceBytes)
        if (first > scope.firstRecord) this.#noteRepeated(scopeBytes)
        this.#addRun(scope, first, end, scopeBytes)
        first = end
        yield
        if (once && end < most) {
          this.#rejectedRecords += scope.endRecord - first
          return
        }
      } else if (this.#chunks.length > 0) this.#closeFragment()
      else {
        this.#rejectedRecords++
        first++
      }
    }
  }

  #noteRepeated(bytes: number): void {
    this.#repeatedBytes += bytes
    if (this.#repeatedBytes <= this.#maxRepeatedBytes) return
    throw new OversizedPayload(
      `request: each message on the bus repeats the resource and scope of its records, which comes to more than ${MAX_REPEATED_BYTES} bytes for this request; send fewer records in a request, or smaller attributes of resource and scope`,
    )
  }

  /** How far the records from `first` fit into `room` bytes. */
  #runEnd(first: number, limit: number, room: number): number {
    const start = this.#bounds[2 * first]!
    let end = first
    while (end < limit && this.#text.size(start, this.#bounds[2 * end + 1]!) <= room) end++
    return end
  }

  #addRun(scope: ScopeSpan, first: number, end: number, scopeBytes: number): void {
    const from = this.#bounds[2 * first]!
    const to = this.#bounds[2 * end - 1]!
    if (this.#chunks.length === 0) {
      this.#append(this.#resource.start, this.#resource.listStart)
      this.#sizeBytes = this.#resourceBytes
    } else {
      this.#chunks.push(COMMA)
      this.#sizeBytes += COMMA.length
    }
    this.#append(scope.start, scope.listStart)
    this.#append(from, to)
    this.#append(scope.listEnd, scope.end)
    this.#sizeBytes += scopeBytes + this.#text.size(from, to)
    this.#recordCount += end - first
  }

  #append(start: number, end: number): void {
    for (const piece of this.#text.pieces(start, end)) this.#chunks.push(piece)
  }

  #closeFragment(): void {
    if (this.#chunks.length === 0) return
    this.#append(this.#resource.listEnd, this.#resource.end)
    this.#fragments.push({
      resource: this.#resource,
      chunks: this.#chunks,
      sizeBytes: this.#sizeBytes,
      recordCount: this.#recordCount,
    })
    this.#chunks = []
    this.#sizeBytes = 0
    this.#recordCount = 0
  }
}
