/** Results of searches over all documents of a sealed segment, kept for searches that ask the same. */
import type { KeptResults, Segment } from '../../storage/index-storage.ts'
import { compact, type DocSet } from '../plan/doc-set.ts'
import { reduceForSegment } from '../plan/plan.ts'
import { conditionKey } from './condition-key.ts'
import type { Grouping, Groups } from './group-matches.ts'
import type { SegmentUnit } from './segment-unit.ts'

interface Kept {
  readonly results: KeptResults
  readonly key: string
}

function keptOf({ segment, bound }: SegmentUnit): Kept | undefined {
  const results = segment.kept
  if (results === undefined) return undefined
  const key = conditionKey(reduceForSegment(bound.condition, segment))
  return key === undefined ? undefined : { results, key }
}

export interface KeptGroups {
  /** All matches, in groups or not. */
  readonly matches: number
  readonly groups: Groups
}

export interface GroupsKeeper {
  find(grouping: Grouping): KeptGroups | undefined
  /** Nothing is kept where matches were not grouped. */
  put(grouping: Grouping, matches: number, groups: Groups | undefined): void
}

/** Undefined for conditions that hardly come again, and segments that are not sealed. */
export function keptGroups(unit: SegmentUnit): GroupsKeeper | undefined {
  const kept = keptOf(unit)
  if (kept === undefined) return undefined
  const { results, key } = kept
  const nameOf = (grouping: Grouping): string => `groups ${grouping.key} ${key}`
  return {
    find: grouping => results.get(nameOf(grouping)),
    put(grouping, matches, groups) {
      if (groups !== undefined) results.put(nameOf(grouping), { matches, groups }, groups.sizeBytes)
    },
  }
}

export interface MatchesKeeper {
  /** Every document that fulfils the condition; deleted ones may be missing. */
  find(): DocSet | undefined
  put(docs: Uint32Array): void
}

/** The same for the matches themselves, which took reading documents. */
export function keptMatches(unit: SegmentUnit): MatchesKeeper | undefined {
  const kept = keptOf(unit)
  if (kept === undefined || kept.key === 'all' || kept.key === 'none') return undefined
  const { results, key } = kept
  return {
    find: () => results.get<DocSet>(`matches ${key}`),
    put(docs) {
      const set = compact({ kind: 'list', docs: docs.slice() }, unit.segment.size)
      results.put(`matches ${key}`, set, bytesOf(set, unit.segment))
    },
  }
}

const bytesOf = (set: DocSet, { size }: Segment): number => (set.kind === 'list' ? 4 * set.docs.length : size >>> 3)
