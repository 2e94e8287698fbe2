/**
 * Splits an uploaded file into its entries as its bytes come: a JSON array, NDJSON, or objects that go over several lines. Holds one entry at a time.
 * Looks at quotes and brackets alone, so that an entry that is no JSON does not hide its neighbours.
 */
import { CLOSE_LIST, NOWHERE, OPEN_LIST, OPEN_OBJECT, SPACE } from '../../json/bytes.ts'

/** `line` is that of the file in NDJSON, else the number of the entry; both count from 1. */
export type UploadEntry =
  | { readonly line: number; readonly bytes: Uint8Array }
  /** An entry that is none. */
  | { readonly line: number; readonly problem: string }

/** Which entries come out does not depend on where the chunks end. */
export interface EntrySplitter {
  /** The entries that end in this chunk. */
  push(chunk: Uint8Array): readonly UploadEntry[]
  /** The entries left at the end of the file. */
  end(): readonly UploadEntry[]
}

/** A larger one would be refused as a record: the bus takes messages of 900 KiB. */
export const MAX_ENTRY_BYTES = 1024 * 1024

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

/** Takes the bytes from `from` on, and returns how far it came. */
type Step = (chunk: Uint8Array, from: number) => number

export function createEntrySplitter(maxEntryBytes = MAX_ENTRY_BYTES): EntrySplitter {
  let mode: Mode = 'start'
  let line = 1
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isBehindComma = false
  let held: Uint8Array[] = []
  let heldBytes = 0
  let seenBytes = 0
  let found: UploadEntry[] = []

  const hold = (chunk: Uint8Array, from: number, to: number) => {
    if (from === to) return
    heldBytes += to - from
    if (heldBytes <= maxEntryBytes) held.push(chunk.subarray(from, to))
    else held = []
  }
  const refuse = (problem: string) => void found.push({ line, problem })
  /** Gives what is held as an entry, whose number counts also when it is blank. */
  const release = (): boolean => {
    const sizeBytes = heldBytes
    const bytes = held.length === 1 ? held[0]! : joined(held)
    held = []
    heldBytes = 0
    depth = 0
    isInString = false
    isEscaped = false
    if (sizeBytes > maxEntryBytes) refuse(`expected at most ${maxEntryBytes} bytes, seen ${sizeBytes}`)
    else if (isBlank(bytes)) return false
    else found.push({ line, bytes })
    return true
  }

  /** Where the entry ends: before the line feed, the comma or bracket of the list, or behind the object's last bracket. `NOWHERE`: not in this chunk. */
  const findEnd = (chunk: Uint8Array, from: number, kind: 'line' | 'element' | 'object'): number => {
    for (let p = from; p < chunk.length; p++) {
      const byte = chunk[p]!
      if (byte === 0x0a && kind === 'line') return p
      if (isEscaped) isEscaped = false
      else if (isInString) {
        if (byte === 0x22) isInString = false
        else if (byte === 0x5c) isEscaped = true
      } else if (byte === 0x22) isInString = true
      else if (byte === 0x7b || byte === 0x5b) depth++
      else if (depth === 0) {
        if (kind === 'element' && (byte === 0x2c || byte === 0x5d)) return p
      } else if (byte === 0x7d || byte === 0x5d) {
        if (--depth === 0 && kind === 'object') return p + 1
      }
    }
    return NOWHERE
  }

  const takeLine = (chunk: Uint8Array, from: number, next: Mode): number => {
    const end = chunk.indexOf(LINE_FEED, from)
    hold(chunk, from, end < 0 ? chunk.length : end)
    if (end < 0) return chunk.length
    const isEntry = release()
    if (next === 'lines' || isEntry) line++
    mode = next
    return end + 1
  }

  const steps: Readonly<Record<Mode, Step>> = {
    start(chunk, from) {
      const byte = chunk[from]!
      if (byte === BYTE_ORDER_MARK[seenBytes]) seenBytes++
      else if (byte === LINE_FEED) line++
      else if (byte > SPACE) {
        mode = byte === OPEN_LIST ? 'list' : byte === OPEN_OBJECT ? 'first line' : 'lines'
        if (mode === 'list') line = 1
        return mode === 'list' ? from + 1 : from
      }
      return from + 1
    },
    'first line'(chunk, from) {
      const end = findEnd(chunk, from, 'line')
      hold(chunk, from, end === NOWHERE ? chunk.length : end)
      if (end === NOWHERE) return chunk.length
      if (depth > 0 && !isInString) {
        mode = 'in object'
        line = 1
        return end
      }
      mode = 'lines'
      release()
      line++
      return end + 1
    },
    lines: (chunk, from) => takeLine(chunk, from, 'lines'),
    'stray line': (chunk, from) => takeLine(chunk, from, 'between objects'),
    'between objects'(chunk, from) {
      const byte = chunk[from]!
      if (byte <= SPACE) return from + 1
      mode = byte === OPEN_OBJECT ? 'in object' : 'stray line'
      return from
    },
    'in object'(chunk, from) {
      const end = findEnd(chunk, from, 'object')
      hold(chunk, from, end === NOWHERE ? chunk.length : end)
      if (end === NOWHERE) return chunk.length
      mode = 'between objects'
      release()
      line++
      return end
    },
    list(chunk, from) {
      const end = findEnd(chunk, from, 'element')
      hold(chunk, from, end === NOWHERE ? chunk.length : end)
      if (end === NOWHERE) return chunk.length
      const isLast = chunk[end] === CLOSE_LIST
      if (!release() && (!isLast || isBehindComma)) refuse('expected an object, seen nothing')
      isBehindComma = true
      line++
      mode = isLast ? 'behind list' : 'list'
      return end + 1
    },
    'behind list'(chunk, from) {
      if (chunk[from]! <= SPACE) return from + 1
      refuse('expected the end of the file after the list, seen more')
      mode = 'ended'
      return chunk.length
    },
    ended: chunk => chunk.length,
  }

  const given = (): readonly UploadEntry[] => {
    const entries = found
    found = []
    return entries
  }
  return {
    push(chunk) {
      for (let p = 0; p < chunk.length; ) p = steps[mode](chunk, p)
      return given()
    },
    end() {
      const isCut = depth > 0 || isInString
      if (mode === 'in object' && isCut) {
        refuse('expected the end of the object, seen the end of the file')
      } else if (mode === 'list') {
        if (isCut) refuse('expected the end of the entry and of the list, seen the end of the file')
        else {
          if (release()) line++
          refuse('expected "]", seen the end of the file')
        }
      } else release()
      mode = 'ended'
      return given()
    },
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
