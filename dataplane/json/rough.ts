/** Finds the ends of JSON values by brackets and quotes alone: also of values that are no JSON inside, so that one of them does not hide its neighbours. */
import { Buffer } from 'node:buffer'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  NOWHERE,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
  skipSpace,
  stringEnd,
  textBetween,
} from './bytes.ts'
import { isDeeperThan, MAX_PARSED_DEPTH } from './depth.ts'
import { hasMoreValues } from './mark-count.ts'

/** Where something stands in a message: from `start` up to `end`, which is behind it. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** The same range, counted from `origin` on. */
export function countedFrom(range: Range | undefined, origin: number): Range | undefined {
  return range && { start: range.start - origin, end: range.end - origin }
}

/** After the value that starts at `from`; `NOWHERE` when none does, or when it goes on beyond `end`. */
export function roughEnd(b: Uint8Array, from: number, end = b.length): number {
  const first = b[from]
  if (first === QUOTE) return stringEnd(b, from, end)
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return wordEnd(b, from, end)
  // Numbers stand in the loop itself (`bytes.ts`): it goes over whole requests.
  let depth = 0
  for (let p = from; p < end; p++) {
    const byte = b[p]!
    if (byte === 0x22) {
      for (p++; p < end; p++) {
        const inner = b[p]!
        if (inner === 0x22) break
        if (inner === 0x5c) p++
      }
      if (p >= end) return NOWHERE
    } else if (byte === 0x7b || byte === 0x5b) depth++
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return p + 1
  }
  return NOWHERE
}

/** A number, `true`, `null`, or what else stands there up to the next mark. */
function wordEnd(b: Uint8Array, from: number, end: number): number {
  let p = from
  while (p < end && !isMark(b[p]!)) p++
  return p === from ? NOWHERE : p
}

function isMark(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === COLON || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte === QUOTE
}

/** The values of an object's members by their names, the last of equal ones; undefined when it is no object of members. */
export function roughMembers(b: Uint8Array, { start, end }: Range): ReadonlyMap<string, Range> | undefined {
  const members = new Map<string, Range>()
  let p = skipSpace(b, start + 1)
  if (b[start] !== OPEN_OBJECT || b[end - 1] !== CLOSE_OBJECT) return undefined
  if (p === end - 1) return members
  for (;;) {
    const nameEnd = b[p] === QUOTE ? stringEnd(b, p, end) : NOWHERE
    const name = nameEnd === NOWHERE ? undefined : parseRange(b, { start: p, end: nameEnd })
    const colon = nameEnd === NOWHERE ? NOWHERE : skipSpace(b, nameEnd)
    if (name === undefined || 'problem' in name || b[colon] !== COLON) return undefined
    const valueStart = skipSpace(b, colon + 1)
    const valueEnd = roughEnd(b, valueStart, end)
    if (valueEnd === NOWHERE) return undefined
    members.set(name.value as string, { start: valueStart, end: valueEnd })
    p = skipSpace(b, valueEnd)
    if (p === end - 1) return members
    if (b[p] !== COMMA) return undefined
    p = skipSpace(b, p + 1)
  }
}

/** The elements of a list one by one; the last is undefined when from there on it is no list of elements. */
export function* roughElements(b: Uint8Array, { start, end }: Range): Generator<Range | undefined> {
  let p = skipSpace(b, start + 1)
  if (p === end - 1) return
  for (;;) {
    const elementEnd = roughEnd(b, p, end)
    if (elementEnd === NOWHERE) return yield undefined
    yield { start: p, end: elementEnd }
    p = skipSpace(b, elementEnd)
    if (p === end - 1) return
    if (b[p] !== COMMA) return yield undefined
    p = skipSpace(b, p + 1)
  }
}

/** Values that a range may hold to be parsed: each takes some 30 bytes or more, and may stand in two. */
const MAX_PARSED_VALUES = 500_000
/** Ranges up to this length hold neither too many values nor too many levels to take much memory. */
const MAX_UNCHECKED_BYTES = 100_000

/** The value that stands in a range, or why it is not read: it is no JSON, or has more levels or values than are parsed. */
export function parseRange(b: Uint8Array, { start, end }: Range): { readonly value: unknown } | { readonly problem: string } {
  if (end - start > MAX_UNCHECKED_BYTES) {
    const json = b.subarray(start, end)
    if (isDeeperThan(json, MAX_PARSED_DEPTH)) return { problem: `more than ${MAX_PARSED_DEPTH} levels` }
    if (hasMoreValues(json, MAX_PARSED_VALUES)) return { problem: `more than ${MAX_PARSED_VALUES} values` }
  }
  try {
    return { value: JSON.parse(textBetween(b, start, end)) }
  } catch (error) {
    return { problem: `not JSON (${error instanceof Error ? error.message : error})` }
  }
}

/** Whether the text breaks off between a backslash and what it escapes. */
function endsInEscape(b: Uint8Array): boolean {
  let p = b.length
  while (b[p - 1] === BACKSLASH) p--
  return (b.length - p) % 2 === 1
}

/** The text with the brackets and the quote closed that are open at its end; itself when none is, or more than are parsed. */
export function closeBrackets(b: Buffer): Buffer {
  const open: number[] = []
  for (let p = 0; p < b.length; p++) {
    const byte = b[p]!
    if (open.length > MAX_PARSED_DEPTH) return b
    if (byte === OPEN_OBJECT) open.push(CLOSE_OBJECT)
    else if (byte === OPEN_LIST) open.push(CLOSE_LIST)
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) open.pop()
    else if (byte === QUOTE) {
      const end = stringEnd(b, p)
      if (end === NOWHERE) {
        open.push(QUOTE)
        if (endsInEscape(b)) open.push(BACKSLASH)
        break
      }
      p = end - 1
    }
  }
  return open.length === 0 ? b : Buffer.concat([b, Buffer.from(open.reverse())])
}
