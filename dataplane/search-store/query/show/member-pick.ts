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

/** Characters of all parents of a name: one of 60,000 dots would have two thousand million. */
const MAX_PARENT_CHARACTERS = 1_048_576

/** `code` and `code.file` of `code.file.path`; the first ones of a name whose parents have more characters than that. */
export function parentsOf(name: string): readonly string[] {
  const parents: string[] = []
  let left = MAX_PARENT_CHARACTERS
  for (let dot = name.indexOf('.'); dot >= 0 && left >= dot; dot = name.indexOf('.', dot + 1)) {
    parents.push(name.slice(0, dot))
    left -= dot
  }
  return parents
}
