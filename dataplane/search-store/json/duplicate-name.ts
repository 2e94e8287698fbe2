/** Names that one object of JSON has twice, which `JSON.parse` passes over. */
import { CLOSE_OBJECT, COLON, NOWHERE, OPEN_OBJECT, QUOTE, stringEnd } from '../../json/bytes.ts'
import { hasMoreNamesThan } from '../../json/mark-count.ts'

/** The first such name of `json`, which was parsed to `value`; undefined without one. */
export function duplicateName(json: Uint8Array, value: unknown): string | undefined {
  return hasMoreNamesThan(json, namesIn(value)) ? findDuplicate(json) : undefined
}

function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const isList = Array.isArray(value)
  const members: readonly unknown[] = isList ? value : Object.values(value)
  let count = isList ? 0 : members.length
  for (const member of members) count += namesIn(member)
  return count
}

/** The first such name of `json`, which was not parsed and may be anything; undefined without one. */
export function duplicateNameOf(json: Uint8Array): string | undefined {
  return mayRepeatName(json) ? findDuplicate(json) : undefined
}

/** Names of one object that are compared each with each; an object with more goes the exact way. */
const MAX_FEW_NAMES = 256
const MAX_NAMES = 1_024
const MAX_LEVELS = 64
/** Hashes of the names of the open objects, and where those of each begin: at hand for every call. */
const hashes = new Int32Array(MAX_NAMES)
const starts = new Int32Array(MAX_LEVELS)

/**
 * Whether two names of an object have one hash; true as well where that is not easily told, as with escapes. Most documents are told by this, for less
 * than it takes to read their names.
 */
function mayRepeatName(json: Uint8Array): boolean {
  const { length } = json
  let level = 0
  let first = 0
  let count = 0
  for (let at = 0; at < length; at++) {
    const byte = json[at]!
    if (byte === 0x22) {
      const start = at
      for (at++; at < length && json[at] !== 0x22; at++) if (json[at] === 0x5c) at++
      // Names end with a colon, mostly at once.
      let next = at + 1
      while (json[next]! <= 0x20) next++
      if (json[next] !== 0x3a) continue
      let hash = at - start
      for (let k = start + 1; k < at; k++) {
        const letter = json[k]!
        if (letter === 0x5c) return true
        hash = (Math.imul(hash, 31) + letter) | 0
      }
      for (let k = first; k < count; k++) if (hashes[k] === hash) return true
      if (count === MAX_NAMES || count - first === MAX_FEW_NAMES) return true
      hashes[count++] = hash
      at = next
    } else if (byte === 0x7b) {
      if (level === MAX_LEVELS) return true
      starts[level++] = first
      first = count
    } else if (byte === 0x7d) {
      if (level === 0) return false
      count = first
      first = starts[--level]!
    }
  }
  return false
}

function findDuplicate(json: Uint8Array): string | undefined {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  const seen: Set<string>[] = []
  let start = NOWHERE
  let end = NOWHERE
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      start = at
      end = stringEnd(bytes, at)
      if (end === NOWHERE) return undefined
      at = end - 1
    } else if (byte === OPEN_OBJECT) seen.push(new Set())
    else if (byte === CLOSE_OBJECT) seen.pop()
    else if (byte === COLON) {
      const name = start === NOWHERE ? undefined : bytesOfName(bytes, start, end)
      const names = seen.at(-1)
      if (name === undefined || names === undefined) return undefined
      if (names.has(name)) return Buffer.from(name, 'latin1').toString()
      names.add(name)
    }
  }
  return undefined
}

/** The name that is written between two places, quotes included, as a text of one letter for each byte of it; undefined where it is no JSON. */
function bytesOfName(json: Buffer, start: number, end: number): string | undefined {
  const name = json.toString('latin1', start + 1, end - 1)
  if (!name.includes('\\')) return name
  try {
    return Buffer.from(JSON.parse(json.toString('utf8', start, end)) as string).toString('latin1')
  } catch {
    return undefined
  }
}
