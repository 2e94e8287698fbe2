/** Groups of a segment's matches that are known without the matches. */
import { groupCounts } from './group-counts.ts'
import type { Grouping } from './group-matches.ts'
import { type GroupsKeeper, type KeptGroups, keptGroups } from './kept-matches.ts'
import type { SegmentUnit } from './segment-unit.ts'

/** By grouping the groups that are kept, or can be told from counts; none where the matches are those of a part of the segment, and do not come again. */
export function knownGroups(unit: SegmentUnit, groupings: readonly (Grouping | undefined)[]): readonly (KeptGroups | undefined)[] {
  const kept = keptGroups(unit)
  if (kept === undefined) return []
  return groupings.map(grouping => (grouping === undefined ? undefined : findGroups(unit, grouping, kept)))
}

function findGroups(unit: SegmentUnit, grouping: Grouping, kept: GroupsKeeper): KeptGroups | undefined {
  const known = kept.find(grouping)
  if (known !== undefined) return known
  const counted = groupCounts(unit, grouping)
  if (counted !== undefined) kept.put(grouping, counted.matches, counted.groups)
  return counted
}
