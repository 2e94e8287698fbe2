/** Takes single top-level members out of stored documents without parsing these: hits that show a few fields cost a look at the bytes. */
import { BACKSLASH, CLOSE_OBJECT, COLON, COMMA, DOT, NOWHERE, OPEN_LIST, OPEN_OBJECT, QUOTE, skipSpace } from '../../../json/bytes.ts'
import { roughEnd } from '../../../json/rough.ts'
import { parseWritten } from '../../json/exact-numbers.ts'
import { createKeyTable, type KeyTable, nextKeyHash } from '../../json/key-table.ts'
import { JsonPieces } from './json-pieces.ts'
import { parentsOf } from './member-pick.ts'

/** The members of one document that were asked for. */
export interface StoredMembers {
  /** The JSON object of these members alone, each as it stands in the document and in its order. */
  text(names: ReadonlySet<string>): string
  /** The same parsed. */
  value(names: ReadonlySet<string>): Record<string, unknown>
  /** The same as `text`, added to `out`. */
  addTo(out: JsonPieces, names: ReadonlySet<string>): void
  /** Where the JSON of a member stands in the document; undefined: it has none. */
  find(name: string): MemberPlace | undefined
}

export interface MemberPlace {
  readonly source: Uint8Array
  /** Where the member's value begins and ends. */
  readonly start: number
  readonly end: number
}

/** Undefined where the bytes do not settle which members are meant: the document has to be parsed. */
export type ReadMembers = (source: Uint8Array) => StoredMembers | undefined

/**
 * For names that are members themselves: a key with dots is one name here. Of `shown` a filter of `_source` shows what stands below them, too; `read`
 * are names of fields, of which only the value itself is one.
 */
export function memberReader(shown: Iterable<string>, read: Iterable<string> = []): ReadMembers {
  const names = new Set([...shown, ...read])
  const wanted = createKeyTable(names)
  const withBelow = createKeyTable(shown)
  // `code` stands above `code.line` where it holds an object.
  const above = createKeyTable([...names].flatMap(parentsOf))
  return source => {
    const found: Found[] = []
    return scan(source, { wanted, withBelow, above }, found) ? new FoundMembers(source, found) : undefined
  }
}

const NO_KEYS = createKeyTable([])

/** For keys as they stand in the document, each with all that is below it. Where `code` and `code.line` are asked for, both are found. */
export function keyReader(keys: Iterable<string>): ReadMembers {
  const tables: Tables = { wanted: createKeyTable(keys), withBelow: NO_KEYS, above: NO_KEYS }
  return source => {
    const found: Found[] = []
    return scan(source, tables, found) ? new FoundMembers(source, found) : undefined
  }
}

interface Found {
  readonly name: string
  readonly keyStart: number
  /** Where the member's value begins and ends. */
  readonly start: number
  readonly end: number
}

interface Tables {
  readonly wanted: KeyTable
  /** Wanted names whose own members are shown as well. */
  readonly withBelow: KeyTable
  /** Names above those that are wanted. */
  readonly above: KeyTable
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
      hash = nextKeyHash(hash, byte)
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
      found.push({ name, keyStart: keyStart - 1, start, end })
    }
    if ((b[start] === OPEN_OBJECT || b[start] === OPEN_LIST) && above.find(b, keyStart, at, hash) !== undefined) return false
    p = skipSpace(b, end)
    if (b[p] === COMMA) p = skipSpace(b, p + 1)
    else if (b[p] !== CLOSE_OBJECT) return false
  }
  return true
}

class FoundMembers implements StoredMembers {
  readonly #source: Uint8Array
  readonly #found: readonly Found[]

  constructor(source: Uint8Array, found: readonly Found[]) {
    this.#source = source
    this.#found = found
  }

  addTo(out: JsonPieces, names: ReadonlySet<string>): void {
    out.addText('{')
    let start = NOWHERE
    let last = NOWHERE
    for (const { name, keyStart, end } of this.#found) {
      if (!names.has(name)) continue
      // Neighbours go together, with the comma between them.
      if (start !== NOWHERE && (keyStart !== last + 1 || this.#source[last] !== COMMA)) {
        out.addBytes(this.#source, start, last)
        out.addText(',')
        start = NOWHERE
      }
      if (start === NOWHERE) start = keyStart
      last = end
    }
    if (start !== NOWHERE) out.addBytes(this.#source, start, last)
    out.addText('}')
  }

  text(names: ReadonlySet<string>): string {
    scratch.cutTo(0)
    this.addTo(scratch, names)
    return scratch.take(true)!
  }

  value(names: ReadonlySet<string>): Record<string, unknown> {
    return this.#found.some(({ name }) => names.has(name)) ? (parseWritten(this.text(names)) as Record<string, unknown>) : {}
  }

  find(name: string): MemberPlace | undefined {
    for (const each of this.#found) if (each.name === name) return { source: this.#source, start: each.start, end: each.end }
    return undefined
  }
}

/** For one object at a time. */
const scratch = new JsonPieces()
