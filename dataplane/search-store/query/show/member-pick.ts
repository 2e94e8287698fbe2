/** Picks of top-level members by name: segments note what they found out for each. */
import { createKeyTable } from '../../json/key-table.ts'
import type { MemberPick } from '../../storage/member-pick.ts'

const MAX_KNOWN = 100
const known = new Map<string, MemberPick>()

/**
 * The members of these names; also those that stand above or below one of them (`code`, `code.line`), since their values may be meant. The same object
 * for the same names, as a rule.
 */
export function memberPick(names: Iterable<string>): MemberPick {
  const sorted = [...new Set(names)].sort()
  const key = JSON.stringify(sorted)
  const made = known.get(key)
  if (made !== undefined) return made
  const pick = { names: createKeyTable(sorted.flatMap(name => [name, ...parentsOf(name)])), parents: createKeyTable(sorted) }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, pick)
  return pick
}

/** `code` and `code.file` of `code.file.path`. */
export function parentsOf(name: string): readonly string[] {
  const parts = name.split('.')
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('.'))
}
