/** The list of segments as `index.json` has it, and the mapping with it. */

import type { HeldSegments } from './held-segments.ts'
import type { FoundSegments } from './index-directory.ts'
import type { SealedSegment } from './sealed/sealed-segment.ts'
import { type ListedSegment, rowsOf } from './segment-list.ts'
import { unlessOfSystem } from './unless-of-system.ts'

type SaveState = (segments: readonly ListedSegment[]) => void

export class SavedList {
  readonly #held: HeldSegments
  readonly #saveState: SaveState
  /** The list as it was saved last. */
  #saved: string
  /** Listed segments that are yet to be opened. */
  #unopened: readonly ListedSegment[]

  constructor(held: HeldSegments, found: FoundSegments, listed: readonly ListedSegment[], saveState: SaveState) {
    this.#held = held
    this.#saveState = saveState
    this.#saved = textOf(listed)
    this.#unopened = found.open
      .filter(({ listed }) => listed !== undefined)
      .map(({ listed, dead }) => ({ ...listed!, dead: dead?.savedCount ?? 0, of: [] }))
  }

  opened(number: number): void {
    this.#unopened = this.#unopened.filter(each => each.number !== number)
  }

  /** Throws when it cannot be saved. */
  save(): void {
    this.#save(this.#listed())
  }

  /** As `save`, while the tail is being sealed: its file has so many bytes of commits after any crash. */
  saveSealing(tailBytes: number): void {
    this.#save(this.#listed(this.#held.sealed, tailBytes))
  }

  /** As `save`, with a segment that is about to take the place of its sources. */
  saveMerging(merged: SealedSegment, sources: readonly SealedSegment[]): void {
    const others = this.#listed(this.#held.sealed.filter(each => !sources.includes(each)))
    const [placed] = listOf([merged])
    this.#save(placed === undefined ? others : [...others, { ...placed, of: listOf(sources) }])
  }

  saveIfChanged(): void {
    if (textOf(this.#listed()) !== this.#saved) this.trySave()
  }

  /** Whether that was possible. The list that was saved before stays true, of fewer segments and lengths. */
  trySave(): boolean {
    try {
      this.save()
      return true
    } catch (error) {
      unlessOfSystem(error)
      return false
    }
  }

  #save(list: readonly ListedSegment[]): void {
    // The list has lengths that are true once segments stand at their names.
    this.#held.files.syncRenamed()
    this.#saveState(list)
    this.#saved = textOf(list)
  }

  #listed(sealed = this.#held.sealed, tailBytes = this.#held.tail.end): ListedSegment[] {
    const { number, dead } = this.#held.tail
    const tail = tailBytes > 0 ? [{ number, bytes: tailBytes, areCommits: true, dead: dead.savedCount, of: [] }] : []
    return [...listOf(sealed), ...this.#unopened, ...tail]
  }
}

/** A segment without a living document is left out: there is nothing to find in it, and perhaps its file is gone. */
const listOf = (segments: readonly SealedSegment[]): ListedSegment[] =>
  segments
    .filter(({ liveCount }) => liveCount > 0)
    .map(({ number, sizeBytes, commitsEnd, dead }) => ({
      number,
      bytes: commitsEnd ?? sizeBytes,
      areCommits: commitsEnd !== undefined,
      dead: dead.savedCount,
      of: [],
    }))

const textOf = (list: readonly ListedSegment[]): string => JSON.stringify(rowsOf(list))
