/** Names that one object of JSON has twice, which `JSON.parse` passes over. */
import { CLOSE_OBJECT, COLON, OPEN_OBJECT, QUOTE, stringEnd } from '../../json/bytes.ts'
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

function findDuplicate(json: Uint8Array): string | undefined {
  const seen: Set<string>[] = []
  let last: Uint8Array | undefined
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) {
      const end = stringEnd(json, at)
      last = json.subarray(at, end)
      at = end - 1
    } else if (byte === OPEN_OBJECT) seen.push(new Set())
    else if (byte === CLOSE_OBJECT) seen.pop()
    else if (byte === COLON) {
      const name = JSON.parse(Buffer.from(last!).toString()) as string
      if (seen.at(-1)!.has(name)) return name
      seen.at(-1)!.add(name)
    }
  }
  return undefined
}
