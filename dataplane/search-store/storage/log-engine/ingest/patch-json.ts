/** Partial updates without parsing: changes members in the text of a document. */
import { CLOSE_OBJECT, COMMA, hasEscape, QUOTE, SPACE, skipSpace, stringEnd } from '../../../../json/bytes.ts'
import { isJsonObject } from '../../../../json/is-json-object.ts'
import { roughEnd } from '../../../../json/rough.ts'

interface Member {
  readonly name: string
  /** Where the value begins and ends. */
  readonly start: number
  readonly end: number
}

/**
 * Puts members into a stored JSON object by changing its text in place, so that all else keeps its bytes; the same array when
 * nothing changes. Undefined where that cannot be done: the stored or the new value is an object, or a name is not plain.
 */
export function patchJson(source: Uint8Array, members: Readonly<Record<string, unknown>>): Uint8Array | undefined {
  const text = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  const wanted = new Map(Object.entries(members))
  if ([...wanted.values()].some(isJsonObject)) return undefined
  const places = findMembers(text, wanted)
  if (places === undefined) return undefined
  const parts: Buffer[] = []
  let from = 0
  for (const { name, start, end } of places) {
    const value = JSON.stringify(wanted.get(name))
    wanted.delete(name)
    const before = text.toString('utf8', start, end)
    if (before.startsWith('{')) return undefined
    if (before === value || JSON.stringify(JSON.parse(before)) === value) continue
    parts.push(text.subarray(from, start), Buffer.from(value))
    from = end
  }
  if (wanted.size === 0 && parts.length === 0) return source
  const close = text.lastIndexOf(CLOSE_OBJECT)
  const isEmpty = text.subarray(1, close).every(byte => byte <= SPACE)
  const added = [...wanted].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')
  const comma = added === '' || isEmpty ? '' : ','
  return Buffer.concat([...parts, text.subarray(from, close), Buffer.from(comma + added), text.subarray(close)])
}

/** The members with a wanted name, in order; undefined for escapes in names and names that come twice. The object is known to be valid. */
function findMembers(text: Buffer, wanted: ReadonlyMap<string, unknown>): Member[] | undefined {
  const found: Member[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text[at] === QUOTE) {
    const nameEnd = stringEnd(text, at)
    if (hasEscape(text, at, nameEnd)) return undefined
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const end = roughEnd(text, start)
    const name = nameOf(text, at + 1, nameEnd - 1, wanted)
    if (name !== undefined) {
      if (found.some(each => each.name === name)) return undefined
      found.push({ name, start, end })
    }
    at = skipSpace(text, end)
    if (text[at] === COMMA) at = skipSpace(text, at + 1)
  }
  return found
}

/** The wanted name that stands there. */
function nameOf(text: Buffer, start: number, end: number, wanted: ReadonlyMap<string, unknown>): string | undefined {
  for (const name of wanted.keys()) {
    // Cheap tests first; only ASCII names are as long in bytes.
    if (name.length > end - start || (text[start] !== name.charCodeAt(0) && name.charCodeAt(0) < 0x80)) continue
    if (text.toString('utf8', start, end) === name) return name
  }
  return undefined
}
