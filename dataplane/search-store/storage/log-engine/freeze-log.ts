/** A log index as it is now: hard links to its files, which outlive merges and the index itself, and the dead of this moment. */
import type { MutableMapping } from '../../mapping/mapping.ts'
import { type FrozenIndex, frozenFeed } from '../frozen-index.ts'
import type { IndexFiles } from './format/index-files.ts'
import type { HeldSegments } from './held-segments.ts'
import { segmentPath } from './index-directory.ts'
import { createLogFeed } from './log-feed.ts'

/** `from`: where the index is; `to`: where its second names go. */
export function freezeLog(
  identity: { readonly name: string; readonly uuid: string },
  places: { readonly from: string; readonly to: string },
  mapping: MutableMapping,
  segments: HeldSegments,
  files: IndexFiles,
): FrozenIndex {
  const { sealed, tail } = segments
  const messages = [...createLogFeed({ ...identity, dir: places.to }, mapping, segments).next()]
  const numbers = [...sealed.map(({ number }) => number), ...(tail.count > 0 ? [tail.number] : [])]
  if (numbers.length > 0) files.makeDirectory(places.to)
  // The bytes of a tail before its end never change: the tail goes on under its other name.
  for (const number of numbers) files.link(segmentPath(places.from, number), segmentPath(places.to, number))
  return {
    ...identity,
    files: numbers.map(number => segmentPath(places.to, number)),
    memoryBytes: messages.reduce((sum, { bytes }) => sum + bytes.reduce((size, each) => size + each.length, 0), 0),
    feed: () => frozenFeed(() => messages),
  }
}
