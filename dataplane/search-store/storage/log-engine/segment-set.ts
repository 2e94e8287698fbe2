/** The segments of one log index, put together from what holds, lists, seals and merges them and from the batch that is being committed. */
import type { MutableMapping } from '../../mapping/mapping.ts'
import { HeldSegments } from './held-segments.ts'
import { IdPlaces } from './ids/id-places.ts'
import { IdRuns } from './ids/id-runs.ts'
import type { FoundSegments } from './index-directory.ts'
import { RunningBatch } from './running-batch.ts'
import { SavedList } from './saved-list.ts'
import type { SealedSegment } from './sealed/sealed-segment.ts'
import type { SegmentContext } from './segment-context.ts'
import { SegmentFiles } from './segment-files.ts'
import type { ListedSegment } from './segment-list.ts'
import { SegmentMerges } from './segment-merges.ts'
import { replayTail } from './tail/replay-tail.ts'
import type { Tail } from './tail/tail.ts'
import { TailSealing } from './tail-sealing.ts'

export interface SegmentSet {
  readonly held: HeldSegments
  readonly list: SavedList
  readonly batch: RunningBatch
  readonly sealing: TailSealing
  readonly merges: SegmentMerges
}

/** An index whose segments are to be opened. */
export interface SegmentSetConfig {
  readonly dir: string
  readonly mapping: MutableMapping
  /** In the folder. */
  readonly found: FoundSegments
  /** In `index.json`. */
  readonly listed: readonly ListedSegment[]
  readonly saveState: (segments: readonly ListedSegment[]) => void
  readonly maxIdsInMemory?: number | undefined
}

/** Replays what was not sealed. */
export async function openSegmentSet(context: SegmentContext, config: SegmentSetConfig): Promise<SegmentSet> {
  const { dir, mapping, found, listed, saveState, maxIdsInMemory } = config
  const files = new SegmentFiles(context, dir)
  const places = new IdPlaces<SealedSegment | Tail>(new IdRuns(context.files, dir), maxIdsInMemory)
  const held = new HeldSegments(context, mapping, files, places, found.nextNumber)
  const list = new SavedList(held, found, listed, saveState)
  const set = { held, list, batch: new RunningBatch(held), sealing: new TailSealing(held, list), merges: new SegmentMerges(held, list) }
  context.onDamage = number => set.merges.noteDamage(number)
  await fill(set, found)
  held.places.open()
  if (found.accepted.length > 0 && list.trySave()) files.forgetLost(found.accepted)
  await set.merges.dropEmpty()
  return set
}

async function fill({ held, list, sealing }: SegmentSet, { sealed, open }: FoundSegments): Promise<void> {
  for (const segment of sealed) held.addSealed(segment)
  for (const found of open) {
    const { tail, nextSeqNo } = replayTail(held.context, held.mapping, found, held.high, (segment, doc) => {
      // A dropped segment keeps its number: its deletions must never count for another segment.
      held.nextNumber = Math.max(held.nextNumber, segment + 1)
      held.sealed.find(each => each.number === segment)?.dead.add(doc)
    })
    list.opened(found.number)
    for (const doc of found.dead ?? []) tail.dead.add(doc)
    held.nextSeqNo = Math.max(held.nextSeqNo, nextSeqNo)
    held.setTail(tail)
    if (!found.isNewest) await sealing.sealReplayed()
  }
  held.sortSealed()
  if (open.some(({ isNewest }) => isNewest)) return
  const number = held.nextNumber++
  held.beginTail(number, held.files.create(number))
}
