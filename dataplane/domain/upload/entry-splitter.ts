/** Splits an uploaded file into its entries as its bytes come: a JSON array, NDJSON, or objects that go over several lines. Holds one entry at a time. */
import { CLOSE_LIST, NOWHERE, OPEN_LIST, OPEN_OBJECT, SPACE } from '../../json/bytes.ts'
import { EntryEnd, type EntryKind } from './entry-end.ts'

/** `line` is that of the file in NDJSON, else the number of the entry; both count from 1. */
export type UploadEntry =
  | { readonly line: number; readonly bytes: Uint8Array }
  /** An entry that is none. */
  | { readonly line: number; readonly problem: string }

/** A larger one would be refused as a record: the bus takes messages of 900 KiB. */
const MAX_ENTRY_BYTES = 1024 * 1024

const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

type Mode =
  /** Before the first byte that counts. */
  | 'start'
  /** In a first line that begins as an object: it may be all of it, or go on in the next line. */
  | 'first line'
  | 'lines'
  | 'between objects'
  | 'in object'
  /** In a line between objects that belongs to none. */
  | 'stray line'
  | 'list'
  | 'behind list'
  | 'ended'

/** Which entries come out does not depend on where the chunks end. */
export class EntrySplitter {
  readonly #maxEntryBytes: number
  #mode: Mode = 'start'
  #line = 1
  /** The line of the file in which the object begins that is the first of it; 0 behind that. */
  #firstLine = 0
  readonly #end = new EntryEnd()
  /** The bytes of the entry, as far as they came. */
  #held: Uint8Array[] = []
  #heldBytes = 0
  /** Bytes of the mark at the start of the file. */
  #markBytes = 0
  #isBehindComma = false
  #found: UploadEntry[] = []

  constructor(maxEntryBytes = MAX_ENTRY_BYTES) {
    this.#maxEntryBytes = maxEntryBytes
  }

  /** The entries that end in this chunk. */
  push(chunk: Uint8Array): readonly UploadEntry[] {
    for (let p = 0; p < chunk.length; ) p = this.#steps[this.#mode](chunk, p)
    return this.#takeFound()
  }

  /** The entries left at the end of the file. */
  end(): readonly UploadEntry[] {
    const isCut = this.#end.isOpen
    if (this.#mode === 'in object' && isCut) this.#refuse('expected the end of the object, seen the end of the file')
    else if (this.#mode === 'list' && isCut) this.#refuse('expected the end of the entry and of the list, seen the end of the file')
    else {
      const isEntry = this.#release()
      if (this.#mode === 'list') {
        if (isEntry) this.#line++
        this.#refuse('expected "]", seen the end of the file')
      }
    }
    this.#mode = 'ended'
    return this.#takeFound()
  }

  /** Each takes bytes from `from` on, and returns how far it came. */
  readonly #steps: Readonly<Record<Mode, (chunk: Uint8Array, from: number) => number>> = {
    start: (chunk, from) => this.#begin(chunk, from),
    'first line': (chunk, from) => this.#takeFirstLine(chunk, from),
    lines: (chunk, from) => this.#takeLine(chunk, from, 'lines'),
    'stray line': (chunk, from) => this.#takeLine(chunk, from, 'between objects'),
    'between objects': (chunk, from) => this.#findObject(chunk, from),
    'in object': (chunk, from) => this.#takeObject(chunk, from),
    list: (chunk, from) => this.#takeElement(chunk, from),
    'behind list': (chunk, from) => this.#lookBehindList(chunk, from),
    ended: chunk => chunk.length,
  }

  #begin(chunk: Uint8Array, from: number): number {
    const byte = chunk[from]!
    if (byte === BYTE_ORDER_MARK[this.#markBytes]) this.#markBytes++
    else if (byte === LINE_FEED) this.#line++
    else if (byte > SPACE) {
      this.#mode = byte === OPEN_LIST ? 'list' : byte === OPEN_OBJECT ? 'first line' : 'lines'
      if (this.#mode !== 'list') return from
      this.#line = 1
    }
    return from + 1
  }

  #takeFirstLine(chunk: Uint8Array, from: number): number {
    const end = this.#holdEntry(chunk, from, 'line')
    if (end === NOWHERE) return chunk.length
    if (this.#end.mayGoOn) {
      this.#mode = 'in object'
      this.#firstLine = this.#line
      this.#line = 1
      return end
    }
    this.#mode = 'lines'
    this.#release()
    this.#line++
    return end + 1
  }

  #takeLine(chunk: Uint8Array, from: number, next: Mode): number {
    const end = chunk.indexOf(LINE_FEED, from)
    this.#hold(chunk, from, end < 0 ? chunk.length : end)
    if (end < 0) return chunk.length
    const isEntry = this.#release()
    if (next === 'lines' || isEntry) this.#line++
    this.#mode = next
    return end + 1
  }

  #findObject(chunk: Uint8Array, from: number): number {
    const byte = chunk[from]!
    if (byte <= SPACE) return from + 1
    this.#mode = byte === OPEN_OBJECT ? 'in object' : 'stray line'
    return from
  }

  #takeObject(chunk: Uint8Array, from: number): number {
    const end = this.#holdEntry(chunk, from, 'object')
    if (end === NOWHERE) return chunk.length
    if (this.#end.isBrokenOff && this.#firstLine > 0 && this.#releaseLines()) this.#mode = 'lines'
    else {
      this.#mode = 'between objects'
      this.#release()
      this.#line++
    }
    this.#firstLine = 0
    return end
  }

  #takeElement(chunk: Uint8Array, from: number): number {
    const end = this.#holdEntry(chunk, from, 'element')
    if (end === NOWHERE) return chunk.length
    const isLast = chunk[end] === CLOSE_LIST
    if (!this.#release() && (!isLast || this.#isBehindComma)) this.#refuse('expected an object, seen nothing')
    this.#isBehindComma = true
    this.#line++
    this.#mode = isLast ? 'behind list' : 'list'
    return end + 1
  }

  #lookBehindList(chunk: Uint8Array, from: number): number {
    if (chunk[from]! <= SPACE) return from + 1
    this.#refuse('expected the end of the file after the list, seen more')
    this.#mode = 'ended'
    return chunk.length
  }

  /** Holds the bytes up to the end of the entry, which it returns; all of them, and `NOWHERE`, where that is not in this chunk. */
  #holdEntry(chunk: Uint8Array, from: number, kind: EntryKind): number {
    const end = this.#end.find(chunk, from, kind)
    this.#hold(chunk, from, end === NOWHERE ? chunk.length : end)
    return end
  }

  #hold(chunk: Uint8Array, from: number, to: number): void {
    if (from === to) return
    this.#heldBytes += to - from
    if (this.#heldBytes <= this.#maxEntryBytes) this.#held.push(chunk.subarray(from, to))
    else this.#held = []
  }

  /** Gives what is held as an entry; false for blanks, which are none. */
  #release(): boolean {
    const sizeBytes = this.#heldBytes
    const bytes = this.#held.length === 1 ? this.#held[0]! : joined(this.#held)
    this.#held = []
    this.#heldBytes = 0
    this.#end.reset()
    if (sizeBytes > this.#maxEntryBytes) this.#refuse(`expected at most ${this.#maxEntryBytes} bytes, seen ${sizeBytes}`)
    else if (isBlank(bytes)) return false
    else this.#found.push({ line: this.#line, bytes })
    return true
  }

  /** Gives what is held as lines of NDJSON, up to the one that begins behind it; false where it is the start of an object over lines, or too large. */
  #releaseLines(): boolean {
    if (this.#heldBytes > this.#maxEntryBytes) return false
    const lines = splitLines(joined(this.#held))
    if (isBareBracket(lines[0]!)) return false
    this.#line = this.#firstLine
    for (const [i, line] of lines.entries()) {
      if (i > 0) this.#line++
      this.#held = [line]
      this.#heldBytes = line.length
      this.#release()
    }
    return true
  }

  #refuse(problem: string): void {
    this.#found.push({ line: this.#line, problem })
  }

  #takeFound(): readonly UploadEntry[] {
    const entries = this.#found
    this.#found = []
    return entries
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte <= SPACE)
}

function splitLines(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = []
  let from = 0
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
    lines.push(bytes.subarray(from, end))
    from = end + 1
  }
  return [...lines, bytes.subarray(from)]
}

/** Whether the line is that of an object whose fields all stand in lines of their own. */
function isBareBracket(line: Uint8Array): boolean {
  return line[0] === OPEN_OBJECT && isBlank(line.subarray(1))
}
