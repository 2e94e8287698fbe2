/** Room for the documents of one segment, lent to one search at a time: a new list for each segment would be much memory to take and to give back. */

/** Documents of a segment, at most; larger segments get a list of their own. */
const LENGTH = 1 << 16
/** Lists that are kept: as many searches as are in the middle of a segment at once. */
const MAX_KEPT = 4

const kept: Uint32Array[] = []

/** Undefined where documents of so many have no room in it. */
export function lendList(size: number): Uint32Array | undefined {
  return size > LENGTH ? undefined : (kept.pop() ?? new Uint32Array(LENGTH))
}

/** To be called once nobody looks at the list any more. */
export function giveListBack(list: Uint32Array | undefined): void {
  if (list !== undefined && kept.length < MAX_KEPT) kept.push(list)
}
