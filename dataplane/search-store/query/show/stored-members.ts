/** Takes single top-level members out of stored documents without parsing these: hits that show a few fields cost a look at the bytes. */
import { BACKSLASH, CLOSE_OBJECT, COLON, COMMA, DOT, NOWHERE, OPEN_LIST, OPEN_OBJECT, QUOTE, skipSpace } from '../../../json/bytes.ts'
import { roughEnd } from '../../../json/rough.ts'

/** The members of one document that were asked for. */
export interface StoredMembers {
  /** The JSON object of these members alone, each as it stands in the document and in its order. */
  text(names: ReadonlySet<string>): string
  /** The same parsed. */
  value(names: ReadonlySet<string>): Record<string, unknown>
}

/** Undefined where the bytes do not settle which members are meant: the document has to be parsed. */
export type ReadMembers = (source: Uint8Array) => StoredMembers | undefined

interface Name {
  readonly text: string
  readonly bytes: Uint8Array
  /** Others in the table may have the same hash. */
  readonly next: Name | undefined
}

/**
 * For names that are members themselves: a key with dots is one name here. Of `shown` a filter of `_source` shows what stands below them, too; `read`
 * are names of fields, of which only the value itself is one.
 */
export function memberReader(shown: Iterable<string>, read: Iterable<string> = []): ReadMembers {
  const names = new Set([...shown, ...read])
  const wanted = tableOf(names)
  const withBelow = tableOf(shown)
  // `code` stands above `code.line` where it holds an object.
  const above = tableOf([...names].flatMap(prefixesOf))
  return source => {
    const found: Found[] = []
    return scan(source, { wanted, withBelow, above }, found) ? membersOf(source, found) : undefined
  }
}

interface Found {
  readonly name: string
  readonly keyStart: number
  /** Where the member's value ends. */
  readonly end: number
}

interface Tables {
  readonly wanted: Table
  /** Wanted names whose own members are shown as well. */
  readonly withBelow: Table
  /** Names above those that are wanted. */
  readonly above: Table
}

/** False: not settled. */
function scan(b: Uint8Array, { wanted, withBelow, above }: Tables, found: Found[]): boolean {
  let p = skipSpace(b, 0)
  if (b[p] !== OPEN_OBJECT) return false
  p = skipSpace(b, p + 1)
  while (b[p] !== CLOSE_OBJECT) {
    if (b[p] !== QUOTE) return false
    const keyStart = p + 1
    let hash = 0
    let at = keyStart
    for (let byte = b[at]; byte !== QUOTE; byte = b[++at]) {
      if (byte === undefined || byte === BACKSLASH) return false
      // `user` is asked for, and the key is `user.id`.
      if (byte === DOT && withBelow.find(b, keyStart, at, hash) !== undefined) return false
      hash = nextHash(hash, byte)
    }
    p = skipSpace(b, at + 1)
    if (b[p] !== COLON) return false
    const start = skipSpace(b, p + 1)
    const end = roughEnd(b, start)
    if (end === NOWHERE) return false
    const name = wanted.find(b, keyStart, at, hash)
    if (name !== undefined) {
      // A key that stands twice is left to the parsed way, where the last one counts.
      if (found.some(other => other.name === name)) return false
      found.push({ name, keyStart: keyStart - 1, end })
    }
    if ((b[start] === OPEN_OBJECT || b[start] === OPEN_LIST) && above.find(b, keyStart, at, hash) !== undefined) return false
    p = skipSpace(b, end)
    if (b[p] === COMMA) p = skipSpace(b, p + 1)
    else if (b[p] !== CLOSE_OBJECT) return false
  }
  return true
}

function membersOf(source: Uint8Array, found: readonly Found[]): StoredMembers {
  const text = (names: ReadonlySet<string>) => objectText(source, found, names)
  return {
    text,
    value: names => (found.some(({ name }) => names.has(name)) ? (JSON.parse(text(names)) as Record<string, unknown>) : {}),
  }
}

/** Put together as bytes and decoded once: a text for each member would cost several times as much. */
function objectText(source: Uint8Array, found: readonly Found[], names: ReadonlySet<string>): string {
  if (scratch.length < source.length + 2) scratch = Buffer.allocUnsafe(2 * source.length)
  scratch[0] = OPEN_OBJECT
  let at = 1
  for (const { name, keyStart, end } of found) {
    if (!names.has(name)) continue
    if (at > 1) scratch[at++] = COMMA
    for (let from = keyStart; from < end; from++) scratch[at++] = source[from]!
  }
  scratch[at++] = CLOSE_OBJECT
  const text = scratch.toString('utf8', 0, at)
  if (scratch.length > MAX_SCRATCH_BYTES) scratch = Buffer.allocUnsafe(MAX_SCRATCH_BYTES)
  return text
}

/** Where objects are put together, one at a time. What a larger one takes is not kept. */
const MAX_SCRATCH_BYTES = 64 * 1024
let scratch = Buffer.allocUnsafe(MAX_SCRATCH_BYTES)

function prefixesOf(name: string): readonly string[] {
  const parts = name.split('.')
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('.'))
}

interface Table {
  /** The name that stands between two positions, whose hash is given. */
  find(b: Uint8Array, start: number, end: number, hash: number): string | undefined
}

const nextHash = (hash: number, byte: number): number => (Math.imul(hash, 31) + byte) | 0

function tableOf(names: Iterable<string>): Table {
  const byHash = new Map<number, Name>()
  for (const text of new Set(names)) {
    const bytes = Buffer.from(text)
    const hash = bytes.reduce(nextHash, 0)
    byHash.set(hash, { text, bytes, next: byHash.get(hash) })
  }
  return {
    find(b, start, end, hash) {
      for (let name = byHash.get(hash); name !== undefined; name = name.next) if (standsAt(b, start, end, name.bytes)) return name.text
      return undefined
    },
  }
}

function standsAt(b: Uint8Array, start: number, end: number, bytes: Uint8Array): boolean {
  if (bytes.length !== end - start) return false
  for (let at = 0; at < bytes.length; at++) if (b[start + at] !== bytes[at]) return false
  return true
}
