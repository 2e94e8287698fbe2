/** Second names for the files of an embedded bus, for a backup. */
import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const JOURNAL = 'groups.journal'
const SEGMENT = /^\d+\.log$/

/** A file of the bus under its second name, and how much of it belongs to the backup, bytes. */
export interface PinnedSegment {
  readonly path: string
  readonly bytes: number
}

export interface PinnedBus {
  /** Takes in records that were written since: the copy then holds the offsets of the beginning, and the records of the end. */
  end(): readonly PinnedSegment[]
}

/**
 * Copies the groups' offsets as they are now, and keeps the segments that hold the records behind them. `to` must be on the same file
 * system. Storage that is copied between this and `end` is ahead of the offsets and behind the records: groups that go on from there
 * do again what is done already, and miss nothing. Undefined without a bus.
 */
export function pinBus(dir: string, to: string): PinnedBus | undefined {
  if (!existsSync(join(dir, JOURNAL))) return undefined
  mkdirSync(to, { recursive: true })
  copyFileSync(join(dir, JOURNAL), join(to, JOURNAL))
  pinSegments(dir, to)
  return {
    end() {
      pinSegments(dir, to)
      const pinned = [JOURNAL, ...topicsOf(to).flatMap(topic => segmentsOf(join(to, topic)).map(name => join(topic, name)))]
      return pinned.map(name => ({ path: join(to, name), bytes: statSync(join(to, name)).size }))
    },
  }
}

function pinSegments(dir: string, to: string): void {
  for (const topic of topicsOf(dir)) {
    mkdirSync(join(to, topic), { recursive: true })
    const known = new Set(segmentsOf(join(to, topic)))
    for (const name of segmentsOf(join(dir, topic))) if (!known.has(name)) linkSync(join(dir, topic, name), join(to, topic, name))
  }
}

const topicsOf = (dir: string): readonly string[] =>
  readdirSync(dir, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)

const segmentsOf = (dir: string): readonly string[] =>
  readdirSync(dir)
    .filter(name => SEGMENT.test(name))
    .sort()
