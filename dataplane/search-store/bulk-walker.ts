/** Walks the documents of bulks in the thread that makes them, with what the store tells of its indices in its answers. */
import type { BulkWalker } from '../bulk-port/bulk-walker.ts'
import { type PackedCreations, packedCreations } from '../bulk-port/packed-bulk.ts'
import { LentBuffers } from '../memory/lent-buffers.ts'
import { IndexWalker } from './storage/log-engine/walked/index-walker.ts'
import type { WalkedDocuments, WalkerKnowledge, WalkerNews } from './storage/walked-documents.ts'

/** The message along with a bulk: an entry for each of its indices that is of interest. */
export type BulkWalk = readonly {
  readonly index: string
  /** Undefined: nothing. */
  readonly known: WalkerKnowledge | undefined
  readonly walked: WalkedDocuments | undefined
}[]

/** The message along with the answer to a bulk. */
export interface WalkAnswer {
  readonly news: readonly (readonly [index: string, news: WalkerNews])[]
  /** Memory that comes back. */
  readonly words: readonly ArrayBuffer[]
}

/** Fewer documents make no block, and a bulk costs as much as many of them. */
const MIN_DOCUMENTS = 64
/** Indices that are known at a time. */
const MAX_INDICES = 4
/** Most bulks that are left to the store after a new mapping, where one mapping follows the other. */
const MAX_PAUSE = 64
/** After so many bulks by one mapping the next mapping is no reason to pause. */
const CALM_BULKS = 16
/** Smaller parts of a form are copied. */
const MIN_TRANSFER_BYTES = 1024

interface KnownIndex {
  walker: IndexWalker | undefined
  /** Bulks that are left to the store as they are. */
  pause: number
  nextPause: number
  calm: number
}

export function createBulkWalker(): BulkWalker {
  const memory = new LentBuffers()
  /** The index used last is the last one. */
  const indices = new Map<string, KnownIndex>()

  function knownIndex(name: string): KnownIndex {
    const known = indices.get(name) ?? { walker: undefined, pause: 0, nextPause: 0, calm: 0 }
    indices.delete(name)
    indices.set(name, known)
    if (indices.size > MAX_INDICES) indices.delete(indices.keys().next().value!)
    return known
  }

  function walkOne(creations: PackedCreations): BulkWalk[number] | undefined {
    if (creations.count < MIN_DOCUMENTS) return undefined
    const { index } = creations
    const known = knownIndex(index)
    if (known.pause > 0) {
      known.pause--
      return undefined
    }
    if (++known.calm > CALM_BULKS) known.nextPause = 0
    const { walker } = known
    if (walker === undefined) return { index, known: undefined, walked: undefined }
    const walked = walker.walk(creations)
    return { index, known: { ...walker.knowledge, generation: walker.left === 0 ? -1 : walker.knowledge.generation }, walked }
  }

  function learnOne(name: string, news: WalkerNews): void {
    const known = indices.get(name)
    // Bulks that were under way together bring the same news.
    if (known === undefined || known.walker?.knows(news) === true || known.walker?.learn(news) === true) return
    known.walker = new IndexWalker(news, memory)
    known.calm = 0
    known.pause = known.nextPause
    known.nextPause = Math.min(MAX_PAUSE, 2 * known.nextPause + 1)
  }

  return {
    walk(bulk) {
      const message: BulkWalk = (packedCreations(bulk) ?? []).map(walkOne).filter(each => each !== undefined)
      return message.length === 0 ? undefined : { message, transfer: message.flatMap(({ walked }) => buffersOf(walked)) }
    },
    learn(message) {
      const { news, words } = message as WalkAnswer
      for (const each of words) memory.giveBack(Buffer.from(each))
      for (const [index, each] of news) learnOne(index, each)
    },
  }
}

function buffersOf(walked: WalkedDocuments | undefined): ArrayBuffer[] {
  if (walked === undefined) return []
  const buffers = new Set([walked.words])
  const add = ({ buffer, byteLength }: Uint8Array) => {
    if (byteLength >= MIN_TRANSFER_BYTES && byteLength === buffer.byteLength) buffers.add(buffer as ArrayBuffer)
  }
  add(walked.valueBytes)
  for (const { block } of walked.blocks)
    for (const part of [block.ids, block.data, block.messages, block.texts, block.values, block.rawMessages]) add(part)
  return [...buffers]
}
