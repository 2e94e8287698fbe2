/** Remembers where documents of several kinds are cut, so that a block is seldom looked at for that. */
import type { DocumentRows } from '../document-rows.ts'
import { type DocumentCuts, NO_CUT } from './document-cuts.ts'
import { findCuts } from './find-cuts.ts'

export interface KnownCuts {
  /** Undefined: nothing is to be cut, or not yet. */
  for(documents: DocumentRows, from: number, to: number): DocumentCuts | undefined
}

const MAX_KNOWN = 8
/** Blocks between two searches for cuts, each of which costs as much as many blocks. */
const MIN_BLOCKS = 16
/** After so many blocks cuts are found anew: documents may have changed. */
const MAX_BLOCKS = 128
/** The share of its cuts that a document has to have. */
const MIN_SHARE = 0.6

interface Known {
  readonly cuts: DocumentCuts
  /** How many of them the documents had that were looked at. */
  readonly usual: number
  blocks: number
}

export function createKnownCuts(): KnownCuts {
  /** The last one first. */
  const all: Known[] = []
  let wait = 0

  function find(documents: DocumentRows, from: number, to: number): DocumentCuts | undefined {
    if (wait > 0) return undefined
    wait = MIN_BLOCKS
    const cuts = findCuts(documents, from, to)
    const usual = mostCuts(cuts, documents, from, to)
    if (usual === 0) return undefined
    all.unshift({ cuts, usual, blocks: 0 })
    all.length = Math.min(all.length, MAX_KNOWN)
    return cuts
  }

  return {
    for(documents, from, to) {
      if (wait > 0) wait--
      const place = bestOf(all, documents, from, to)
      if (place < 0) return find(documents, from, to)
      const [known] = all.splice(place, 1) as [Known]
      if (++known.blocks > MAX_BLOCKS && wait === 0) return find(documents, from, to)
      all.unshift(known)
      return known.cuts
    },
  }
}

/** The place of the cuts of which the documents have most; −1: they have too few of all. */
function bestOf(all: readonly Known[], documents: DocumentRows, from: number, to: number): number {
  let best = -1
  let most = 0
  for (const [place, { cuts, usual }] of all.entries()) {
    const count = mostCuts(cuts, documents, from, to)
    if (count < MIN_SHARE * usual || count <= most) continue
    best = place
    most = count
  }
  return best
}

/** The cuts that two documents have, the more of both. Two neighbours may be of different kinds; those far from each other seldom are both odd. */
const mostCuts = (cuts: DocumentCuts, documents: DocumentRows, from: number, to: number) =>
  Math.max(countCuts(cuts, documents, from), countCuts(cuts, documents, (from + to) >>> 1))

function countCuts(cuts: DocumentCuts, documents: DocumentRows, k: number): number {
  const memory = documents.memory(k)
  const view = new DataView(memory.buffer)
  const end = documents.end(k)
  const messageAt = documents.messageAt(k)
  let count = 0
  let p = documents.start(k)
  for (let cut = cuts.next(-1, memory, view, p, end, messageAt); cut !== NO_CUT; cut = cuts.next(cut, memory, view, p, end, messageAt)) {
    p = cuts.at
    count++
  }
  return count
}
