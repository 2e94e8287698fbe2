/** The segments that an index must find at its next start: which ones, how long, with how many deletions. Kept in `index.json`. */

export interface ListedSegment {
  readonly number: number
  /** Its file has at least so many. */
  readonly bytes: number
  /** The bytes are commits, from which the rest can be made anew. False: the segment was sealed before 2026-11-30, and they are the whole file. */
  readonly areCommits: boolean
  /** Its `.del` names at least so many documents. */
  readonly dead: number
  /** The segments that it takes the place of: either it is there, or all of these are. Empty for any other. */
  readonly of: readonly ListedSegment[]
}

/** A segment as a start finds it. */
export interface SeenSegment {
  readonly bytes: number
  readonly dead: number
}

/** Segments in the directory of an index at a start. */
export interface SeenSegments {
  readonly segments: ReadonlyMap<number, SeenSegment>
  /** Numbers that segments which are there took the place of. */
  readonly replaced: ReadonlySet<number>
  /** Numbers whose loss was accepted. */
  readonly accepted: ReadonlySet<number>
}

export type Loss = { readonly listed: ListedSegment; readonly seen: SeenSegment | undefined }

/** The listed segments that are missing, or have less than they had. */
export function lossesOf(list: readonly ListedSegment[], seen: SeenSegments): readonly Loss[] {
  return list.filter(each => !isWhole(each, seen)).map(listed => ({ listed, seen: seen.segments.get(listed.number) }))
}

function isWhole(listed: ListedSegment, seen: SeenSegments): boolean {
  const { number, bytes, dead, of } = listed
  if (seen.accepted.has(number) || seen.replaced.has(number)) return true
  const found = seen.segments.get(number)
  if (found !== undefined && found.bytes >= bytes && found.dead >= dead) return true
  return of.length > 0 && of.every(each => isWhole(each, seen))
}

/** The highest number in the list; 0 without any. */
export const lastListed = (list: readonly ListedSegment[]): number =>
  list.reduce((last, { number, of }) => Math.max(last, number, lastListed(of)), 0)

type Row = readonly [number: number, bytes: number, dead: number, of?: readonly Row[], areCommits?: 1]

export const rowsOf = (list: readonly ListedSegment[]): readonly Row[] =>
  list.map(({ number, bytes, areCommits, dead, of }): Row => {
    if (areCommits) return [number, bytes, dead, rowsOf(of), 1]
    return of.length === 0 ? [number, bytes, dead] : [number, bytes, dead, rowsOf(of)]
  })

export const listOfRows = (rows: readonly Row[]): readonly ListedSegment[] =>
  rows.map(([number, bytes, dead, of = [], areCommits]) => ({ number, bytes, areCommits: areCommits === 1, dead, of: listOfRows(of) }))
