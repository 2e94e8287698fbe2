/** Finds the members of a JSON object in its bytes, without parsing them. */
import { anyStringEnd, skipSpace, valueEnd } from './json-scan.ts'

const QUOTE = 0x22

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
    const nameEnd = anyStringEnd(bytes, at + 1, end)
    const name = nameEnd < 0 ? undefined : parseString(bytes, at, nameEnd)
    at = skipSpace(bytes, nameEnd, end)
    if (name === undefined || bytes[at] !== 0x3a) return undefined
    const valueStart = skipSpace(bytes, at + 1, end)
    const behind = valueEnd(bytes, valueStart, end)
    if (behind === valueStart) return undefined
    members.set(name, { start: valueStart, end: behind })
    at = skipSpace(bytes, behind, end)
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
