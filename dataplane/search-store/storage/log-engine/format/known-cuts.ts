/** Remembers where documents of several kinds are cut, so that a block is seldom looked at for that. */
import { NOWHERE } from '../../../../json/bytes.ts'
import { type DocumentCuts, NO_CUT } from './document-cuts.ts'
import { findCuts } from './find-cuts.ts'
import type { StagedDocument } from './staged-document.ts'

export interface KnownCuts {
  /** Undefined: nothing is to be cut, or not yet. */
  for(documents: readonly StagedDocument[]): DocumentCuts | undefined
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

  function find(documents: readonly StagedDocument[]): DocumentCuts | undefined {
    if (wait > 0) return undefined
    wait = MIN_BLOCKS
    const cuts = findCuts(documents)
    const usual = Math.max(...probes(documents).map(document => countCuts(cuts, document)))
    if (usual === 0) return undefined
    all.unshift({ cuts, usual, blocks: 0 })
    all.length = Math.min(all.length, MAX_KNOWN)
    return cuts
  }

  return {
    for(documents) {
      if (wait > 0) wait--
      const place = bestOf(all, documents)
      if (place < 0) return find(documents)
      const [known] = all.splice(place, 1) as [Known]
      if (++known.blocks > MAX_BLOCKS && wait === 0) return find(documents)
      all.unshift(known)
      return known.cuts
    },
  }
}

/** The place of the cuts of which the documents have most; −1: they have too few of all. */
function bestOf(all: readonly Known[], documents: readonly StagedDocument[]): number {
  let best = -1
  let most = 0
  for (const [place, { cuts, usual }] of all.entries()) {
    const count = Math.max(...probes(documents).map(document => countCuts(cuts, document)))
    if (count < MIN_SHARE * usual || count <= most) continue
    best = place
    most = count
  }
  return best
}

/** Two neighbours may be of different kinds; those far from each other seldom are both odd. */
const probes = (documents: readonly StagedDocument[]) => [documents[0]!, documents[documents.length >>> 1]!]

function countCuts(cuts: DocumentCuts, { source, message }: StagedDocument): number {
  const view = new DataView(source.buffer)
  const messageAt = message === undefined ? NOWHERE : message.start
  let count = 0
  let p = 0
  for (let cut = cuts.next(-1, source, view, 0, messageAt); cut !== NO_CUT; cut = cuts.next(cut, source, view, p, messageAt)) {
    p = cuts.at
    count++
  }
  return count
}
