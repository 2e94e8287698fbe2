/** Tells a query process what is committed in a log index. */
import type { MutableMapping } from '../../mapping/mapping.ts'
import type { FeedMessage, IndexFeed, LogFeedHead } from '../index-feed.ts'
import type { DeadDocuments } from './format/dead-documents.ts'
import type { HeldSegments } from './held-segments.ts'

/**
 * Tells a copy which segments there are, how far the tail is durable and which documents are dead. Documents and the index over them it does
 * not tell: the copy reads both from the same files, where nothing before the told ends ever changes.
 */
export function createLogFeed(
  identity: { readonly name: string; readonly uuid: string; readonly dir: string },
  mapping: MutableMapping,
  segments: HeldSegments,
): IndexFeed {
  let told = -1
  let toldMapping = -1
  let toldSealed: readonly number[] = []
  /** By segment that has dead documents: how many the copy knows of. A document that is dead stays so. */
  let toldDead = new Map<number, number>()

  /** A commit changes the tail alone: most messages say that all sealed segments are there still. */
  function sealedSince(): LogFeedHead['sealed'] {
    const { sealed } = segments
    let keep = 0
    while (keep < sealed.length && toldSealed[keep] === sealed[keep]!.number) keep++
    if (keep === sealed.length && keep === toldSealed.length) return { keep, add: [] }
    const add = sealed.slice(keep).map(({ number }) => number)
    toldSealed = [...toldSealed.slice(0, keep), ...add]
    return { keep, add }
  }

  function deadSince(): { readonly dead: LogFeedHead['dead']; readonly bytes: readonly Uint8Array[] } {
    const counts = new Map<number, number>()
    const dead: [number, number][] = []
    const bytes: Uint8Array[] = []
    const look = (number: number, documents: DeadDocuments) => {
      if (documents.count === 0) return
      counts.set(number, documents.count)
      if (documents.count === (toldDead.get(number) ?? 0)) return
      const bits = documents.toBytes()
      dead.push([number, bits.length])
      bytes.push(bits)
    }
    for (const segment of segments.sealed) look(segment.number, segment.dead)
    look(segments.tail.number, segments.tail.dead)
    toldDead = counts
    return { dead, bytes }
  }

  return {
    isOfLog: true,
    next(): FeedMessage[] {
      if (told === segments.revision && toldMapping === mapping.generation) return []
      const { dead, bytes } = deadSince()
      const { number, end, count } = segments.tail
      const head: LogFeedHead = {
        kind: 'log',
        ...identity,
        ...(toldMapping !== mapping.generation && { mappings: mapping.toJson() }),
        sealed: sealedSince(),
        tail: { number, end, count, logEnd: segments.logEnd },
        dead,
      }
      told = segments.revision
      toldMapping = mapping.generation
      return [{ head, bytes }]
    },
    reset() {
      told = -1
      toldMapping = -1
      toldSealed = []
      toldDead = new Map()
    },
    close() {},
  }
}
