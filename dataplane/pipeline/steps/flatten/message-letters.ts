/** Makes dead letters of the parts of a message that cannot be read. */
import type { Range } from '../../../json/rough.ts'
import type { PartPlace } from './message-parts.ts'

/** Dead letters of one message that carry one part each; all further unreadable parts share one letter. */
export const MAX_OWN_LETTERS = 100
/** Bytes of these letters: each repeats the resource and the scope of its part. */
const MAX_OWN_LETTER_BYTES = 4_194_304

/** Unreadable parts that stand in the shared letter: where there are more, it is the whole message. */
export const MAX_SHARED_PARTS = 10_000

/** An unreadable part of a message, as a message of its own, which can be replayed as it is. */
export interface DeadLetter {
  readonly value: Uint8Array
  readonly reason: string
}

interface SharedScope {
  readonly scope: Range | undefined
  readonly records: Range[]
}

/** An element as it is, or one with some of its own elements. */
interface SharedResource {
  readonly resource: Range | undefined
  readonly scopes: (Range | SharedScope)[]
}

/**
 * Makes the dead letters of one message out of its own bytes. None is larger than the message: a letter is the message without its other
 * records. Together they are bounded, too: parts beyond the bounds above stand in one letter, which names the resource of its parts once.
 */
export class MessageLetters {
  readonly #message: Buffer
  #own = 0
  #ownBytes = 0
  readonly #shared: (Range | SharedResource)[] = []
  #sharedParts = 0
  #sharedReason = ''

  constructor(message: Buffer) {
    this.#message = message
  }

  /** The letter of a part; undefined when the part goes into the shared one. */
  add(place: PartPlace, reason: string): DeadLetter | undefined {
    if (this.#own < MAX_OWN_LETTERS && this.#ownBytes + sizeOf(place) <= MAX_OWN_LETTER_BYTES) {
      this.#own++
      this.#ownBytes += sizeOf(place)
      return { value: letterOf(this.#message, place), reason }
    }
    if (place.level === 'message') return { value: this.#message, reason }
    if (this.#sharedParts++ === 0) this.#sharedReason = reason
    if (this.#sharedParts <= MAX_SHARED_PARTS) this.#share(place)
    return undefined
  }

  /** The letter of the parts that got none of their own. */
  shared(): DeadLetter | undefined {
    if (this.#sharedParts === 0) return undefined
    const reason = `${this.#sharedReason} (the first of ${this.#sharedParts} in this letter)`
    if (this.#sharedParts > MAX_SHARED_PARTS) return { value: this.#message, reason }
    const elements = this.#shared.map(element => ('start' in element ? [this.#slice(element)] : this.#resourceOf(element)))
    const value = Buffer.concat([OPEN, ...joined(elements), CLOSE])
    return { value, reason }
  }

  #share({ level, range, resource, scope }: PartPlace): void {
    if (level === 'resourceLogs') return void this.#shared.push(range)
    let last = this.#shared.at(-1)
    if (last === undefined || 'start' in last || last.resource?.start !== resource?.start) {
      last = { resource, scopes: [] }
      this.#shared.push(last)
    }
    if (level === 'scopeLogs') return void last.scopes.push(range)
    let lastScope = last.scopes.at(-1)
    if (lastScope === undefined || 'start' in lastScope || lastScope.scope?.start !== scope?.start) {
      lastScope = { scope, records: [] }
      last.scopes.push(lastScope)
    }
    lastScope.records.push(range)
  }

  #resourceOf({ resource, scopes }: SharedResource): Buffer[] {
    const elements = scopes.map(scope => ('start' in scope ? [this.#slice(scope)] : this.#scopeOf(scope)))
    return [...openResource(this.#message, resource), ...joined(elements), CLOSE]
  }

  #scopeOf({ scope, records }: SharedScope): Buffer[] {
    return [...openScope(this.#message, scope), ...joined(records.map(record => [this.#slice(record)])), CLOSE]
  }

  #slice({ start, end }: Range): Buffer {
    return this.#message.subarray(start, end)
  }
}

/** A message of this part alone. */
export function letterOf(message: Buffer, { level, range, resource, scope }: PartPlace): Uint8Array {
  if (level === 'message') return message
  const part = message.subarray(range.start, range.end)
  if (level === 'resourceLogs') return Buffer.concat([OPEN, part, CLOSE])
  if (level === 'scopeLogs') return Buffer.concat([OPEN, ...openResource(message, resource), part, CLOSE, CLOSE])
  return Buffer.concat([OPEN, ...openResource(message, resource), ...openScope(message, scope), part, CLOSE, CLOSE, CLOSE])
}

const OPEN = Buffer.from('{"resourceLogs":[')
const CLOSE = Buffer.from(']}')
const COMMA = Buffer.from(',')
const RESOURCE = Buffer.from('{"resource":')
const NEXT_SCOPE_LOGS = Buffer.from(',"scopeLogs":[')
const SCOPE_LOGS = Buffer.from('{"scopeLogs":[')
const SCOPE = Buffer.from('{"scope":')
const NEXT_LOG_RECORDS = Buffer.from(',"logRecords":[')
const LOG_RECORDS = Buffer.from('{"logRecords":[')

function openResource(message: Buffer, resource: Range | undefined): readonly Buffer[] {
  return resource === undefined ? [SCOPE_LOGS] : [RESOURCE, message.subarray(resource.start, resource.end), NEXT_SCOPE_LOGS]
}

function openScope(message: Buffer, scope: Range | undefined): readonly Buffer[] {
  return scope === undefined ? [LOG_RECORDS] : [SCOPE, message.subarray(scope.start, scope.end), NEXT_LOG_RECORDS]
}

function joined(elements: readonly (readonly Buffer[])[]): readonly Buffer[] {
  return elements.flatMap((element, i) => (i === 0 ? element : [COMMA, ...element]))
}

/** About. */
function sizeOf({ range, resource, scope }: PartPlace): number {
  return lengthOf(range) + (resource === undefined ? 0 : lengthOf(resource)) + (scope === undefined ? 0 : lengthOf(scope))
}

const lengthOf = ({ start, end }: Range) => end - start
