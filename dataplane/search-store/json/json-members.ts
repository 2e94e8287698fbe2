/** Finds the members of a JSON object in its bytes, without parsing them. */

const QUOTE = 0x22
const BACKSLASH = 0x5c

export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Top-level members of the object that `bytes[start, end)` holds; undefined when it is malformed at the top level. */
export function membersOf(bytes: Uint8Array, start: number, end: number): ReadonlyMap<string, ByteRange> | undefined {
  const members = new Map<string, ByteRange>()
  let at = skipSpace(bytes, start, end)
  if (bytes[at] !== 0x7b) return undefined
  at = skipSpace(bytes, at + 1, end)
  if (bytes[at] === 0x7d) return skipSpace(bytes, at + 1, end) === end ? members : undefined
  while (at < end) {
    if (bytes[at] !== QUOTE) return undefined
    const nameEnd = skipString(bytes, at, end)
    const name = parseString(bytes, at, nameEnd)
    at = skipSpace(bytes, nameEnd, end)
    if (name === undefined || bytes[at] !== 0x3a) return undefined
    const valueStart = skipSpace(bytes, at + 1, end)
    const valueEnd = skipValue(bytes, valueStart, end)
    if (valueEnd === valueStart) return undefined
    members.set(name, { start: valueStart, end: valueEnd })
    at = skipSpace(bytes, valueEnd, end)
    if (bytes[at] === 0x7d) return skipSpace(bytes, at + 1, end) === end ? members : undefined
    if (bytes[at] !== 0x2c) return undefined
    at = skipSpace(bytes, at + 1, end)
  }
  return undefined
}

function parseString(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')) as string
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)) at++
  return at
}

/** Just behind the closing quote. */
function skipString(bytes: Uint8Array, from: number, end: number): number {
  let at = from + 1
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return Math.min(at + 1, end)
}

/** Just behind a value; nested brackets are counted, not checked. */
function skipValue(bytes: Uint8Array, from: number, end: number): number {
  let depth = 0
  let at = from
  while (at < end) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at = skipString(bytes, at, end)
      if (depth === 0) return at
      continue
    }
    if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return trimEnd(bytes, from, at)
      if (--depth === 0) return at + 1
    } else if (depth === 0 && byte === 0x2c) return trimEnd(bytes, from, at)
    at++
  }
  return trimEnd(bytes, from, at)
}

function trimEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = end
  while (at > from && bytes[at - 1]! <= 0x20) at--
  return at
}
