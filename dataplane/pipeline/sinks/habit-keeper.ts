/**
 * Keeps the habits of services over restarts and moves of partitions (Decisions 5): a document for each partition of a topic in `service-config`, read
 * when the partition comes, written seldom, and only with what is committed.
 */
import { CONFIG_INDEX } from '../../contract/indices.ts'
import { Habits, type KeptHabits, readKeptHabits } from '../../domain/anomalies/signals/habits.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import { type SearchStore, type Version, VersionConflict } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

export interface HabitKeeper {
  /**
   * Hands what is kept of partitions to `take`, each once until `forget` is called. Resolves when that is done, or after three seconds: what the store
   * tells later is handed over then.
   */
  load(partitions: Iterable<number>, take: (kept: KeptHabits) => void): Promise<void>
  /** Writes habits soon. All that they say must be committed. */
  save(kept: readonly KeptHabits[]): void
  /** The partitions are others than before. */
  forget(): void
  /** Resolves once nothing waits to be written; soon, when `signal` has aborted. */
  settled(): Promise<void>
}

export interface HabitKeeperDeps {
  readonly store: Pick<SearchStore, 'get' | 'put'>
  /** The topic whose partitions they are. */
  readonly topic: string
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

/** Time between two writes of a partition. */
const WRITE_EVERY_MS = 60_000
/** Records do not wait longer for a store that does not answer; it is asked again after a while. */
const MAX_WAIT_MS = 3_000
const PAUSE_MS = 10_000
/** Somebody else wrote first, so often in a row: it is tried again a minute later. */
const MAX_TRIES = 3

interface Stored {
  readonly section: 'habits'
  readonly habits: unknown
  readonly updatedAt: string
}

interface Lane {
  /** Habits that are stored, as far as this process knows, and those that wait to be. */
  known: KeptHabits
  isPending: boolean
  version: Version | undefined
  writing: Promise<void> | undefined
  writtenMs: number
}

export function createHabitKeeper({ store, topic, clock, log, signal }: HabitKeeperDeps): HabitKeeper {
  const lanes = new Map<number, Lane>()
  let loaded = new Set<number>()

  const laneOf = (partition: number): Lane => {
    const lane = lanes.get(partition) ?? newLane(partition)
    lanes.set(partition, lane)
    return lane
  }
  const idOf = (partition: number) => `habits:${topic}:${partition}`
  const read = async (partition: number): Promise<KeptHabits> => {
    const stored = await store.get<Stored>(CONFIG_INDEX, idOf(partition))
    const lane = laneOf(partition)
    lane.version = stored
    lane.known = mergeKept({ partition, habits: readKeptHabits(stored?.source.habits) }, lane.known)
    return lane.known
  }
  const write = async (lane: Lane, { partition, habits } = lane.known): Promise<void> => {
    const document: Stored = { section: 'habits', habits, updatedAt: new Date(clock.nowMs()).toISOString() }
    lane.version = await store.put(CONFIG_INDEX, idOf(partition), document, lane.version ?? { only: 'new' })
  }
  /** Somebody who has, or had, the partition may write as well: what both know is kept. */
  const writeMerged = async (lane: Lane): Promise<void> => {
    for (let tries = 1; ; tries++)
      try {
        return await write(lane)
      } catch (error) {
        if (!(error instanceof VersionConflict) || tries === MAX_TRIES) throw error
        await read(lane.known.partition)
      }
  }
  const drain = async (lane: Lane): Promise<void> => {
    while (lane.isPending) {
      const waitMs = lane.writtenMs + WRITE_EVERY_MS - monotonicMs(clock)
      if (waitMs > 0) await clock.sleep(waitMs, signal)
      lane.isPending = false
      lane.writtenMs = monotonicMs(clock)
      try {
        await writeMerged(lane)
      } catch (error) {
        log.debug({ error, partition: lane.known.partition }, 'habits of services could not be kept now')
        if (signal.aborted) return
        lane.isPending = true
      }
    }
  }
  /** Until the store answers, the partitions are others or the work ends. */
  const readPatiently = async (partition: number, of: ReadonlySet<number>): Promise<KeptHabits | undefined> => {
    while (!signal.aborted && of === loaded)
      try {
        return await read(partition)
      } catch {
        await clock.sleep(PAUSE_MS, signal)
      }
    return undefined
  }

  return {
    async load(partitions, take) {
      const asked = [...new Set(partitions)].filter(partition => !loaded.has(partition))
      if (asked.length === 0) return
      for (const partition of asked) loaded.add(partition)
      const of = loaded
      const reading = asked.map(async partition => {
        const kept = await readPatiently(partition, of)
        if (kept !== undefined && of === loaded) take(kept)
      })
      const answered = new AbortController()
      await Promise.race([
        Promise.all(reading).finally(() => answered.abort()),
        clock.sleep(MAX_WAIT_MS, AbortSignal.any([signal, answered.signal])),
      ])
    },
    save(kept) {
      for (const each of kept) {
        const lane = laneOf(each.partition)
        lane.known = mergeKept(lane.known, each)
        lane.isPending = true
        lane.writing ??= drain(lane).finally(() => {
          lane.writing = undefined
        })
      }
    },
    forget() {
      loaded = new Set()
    },
    async settled() {
      await Promise.all([...lanes.values()].map(({ writing }) => writing))
    },
  }
}

function newLane(partition: number): Lane {
  const known = { partition, habits: [] }
  return { known, isPending: false, version: undefined, writing: undefined, writtenMs: Number.NEGATIVE_INFINITY }
}

function mergeKept(theirs: KeptHabits, own: KeptHabits): KeptHabits {
  const all = new Habits()
  all.merge(theirs)
  all.merge(own)
  return all.keptOf(own.partition)
}
