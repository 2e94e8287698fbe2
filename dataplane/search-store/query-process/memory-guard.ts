/** Watches the memory of the query process from within, and ends the query that takes most of it. */
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { collectGarbage } from '../../memory/give-back-garbage.ts'
import { residentBytes } from '../../memory/resident-bytes.ts'
import { letHeapsGrow } from '../../process/heap-growth.ts'
import { type ApiError, tryLater } from '../api-error.ts'
import type { QueryTurn } from './turn-queue.ts'

/** Share of the limits of heap and memory that the process may use: beyond, the query that has added most is ended. */
const SOFT_SHARE = 0.75
/** Shorter turns are not looked at: a look costs 20 µs. */
const MIN_TURN_MS = 2
/** Time between two collections of garbage, after which the memory in use is known, ms. */
const COLLECT_EVERY_MS = 1_000
/** Share of the limit from which on memory is collected because the system counts so much, however little is in use: free pages go back. */
const SHRINK_SHARE = 0.75
/** Time between two such collections, ms. */
const SHRINK_EVERY_MS = 5_000
/**
 * By how much the heap may grow before garbage is marked, % of what was in use. V8 counts buffers among it and takes some 60 % for so small a heap: while
 * records came in, that was a marking of the whole heap for every fifth query …
 */
const GROWTH_PERCENT = 200
/** … while less than this share of the memory that the process may have is in use; V8 decides from the larger share on. */
const EASY_SHARE = 0.4
const MUCH_SHARE = 0.5
/** How old the count of the system may be, ms. */
const RESIDENT_EVERY_MS = 100
/** A query that added less is not what fills the memory. */
const MIN_GROWN_BYTES = 16 * 1024 * 1024

/** Limits of the process, bytes: its JavaScript heap, and all of its memory but the copies of indices. */
export interface MemoryLimits {
  readonly heapBytes: number
  readonly processBytes: number
}

type MemoryInUse = Pick<NodeJS.MemoryUsage, 'heapUsed' | 'external' | 'rss'>

/** The memory of this process. */
export interface ProcessMemory {
  usage(): MemoryInUse
  /** Goes through the whole heap at once, which holds the thread. */
  collect(): void
  /** The heap may grow by `percent` of what is in use before garbage is marked, from the next marking on; 0: as V8 decides. */
  letGrow(percent: number): void
  /** Times that the whole heap has been gone through, by itself too. */
  readonly collections: number
}

/** Ends queries that take too much memory before the store has to end the process. */
export class MemoryGuard {
  readonly #queries: () => readonly QueryTurn[]
  readonly #limits: MemoryLimits
  readonly #memory: ProcessMemory
  #lastBytes = 0
  #lastCollections = 0
  #collectedMs = Number.NEGATIVE_INFINITY
  /** Undefined before the first query: what is loaded until then counts for the flags of the start. */
  #growsFreely: boolean | undefined

  constructor(limits: MemoryLimits, queries: () => readonly QueryTurn[], memory = processMemory()) {
    this.#limits = limits
    this.#queries = queries
    this.#memory = memory
  }

  /** The query whose turns have added most. */
  get heaviest(): QueryTurn | undefined {
    let heaviest: QueryTurn | undefined
    for (const turn of this.#queries()) if (turn.grownBytes > (heaviest?.grownBytes ?? 0)) heaviest = turn
    return heaviest
  }

  /** In use after the last turn that was looked at, bytes. */
  get usedBytes(): number {
    return this.#lastBytes
  }

  /** To be called after a turn. `heldBytes` are held for no query. */
  look(turn: QueryTurn, ms: number, heldBytes: number): void {
    if (ms < MIN_TURN_MS) return
    const usage = this.#memory.usage()
    const bytes = usage.heapUsed + usage.external
    turn.grownBytes += Math.max(0, bytes - this.#lastBytes)
    this.#lastBytes = bytes
    this.#setGrowth(bytes - heldBytes)
    if (!this.#isCollectionDue(usage, heldBytes)) return
    this.#memory.collect()
    const after = this.#memory.usage()
    this.#lastBytes = after.heapUsed + after.external
    if (this.#isFine(after, heldBytes)) return
    const { heaviest } = this
    if (heaviest !== undefined && heaviest.grownBytes >= MIN_GROWN_BYTES) heaviest.cancel(tooMuchMemory())
  }

  #setGrowth(bytes: number): void {
    const mayGrowFreely = bytes < (this.#growsFreely === false ? EASY_SHARE : MUCH_SHARE) * this.#limits.processBytes
    if (mayGrowFreely === this.#growsFreely) return
    this.#growsFreely = mayGrowFreely
    this.#memory.letGrow(mayGrowFreely ? GROWTH_PERCENT : 0)
  }

  /** Where much is in use, the process's own collection comes first, which runs beside queries: most of it may be garbage. */
  #isCollectionDue(usage: MemoryInUse, heldBytes: number): boolean {
    const { collections } = this.#memory
    const isCollected = collections > this.#lastCollections
    this.#lastCollections = collections
    const isFine = this.#isFine(usage, heldBytes)
    if (!isFine && !isCollected) return false
    const nowMs = performance.now()
    if (nowMs - this.#collectedMs < (isFine ? SHRINK_EVERY_MS : COLLECT_EVERY_MS)) return false
    if (isFine && usage.rss - heldBytes < SHRINK_SHARE * this.#limits.processBytes) return false
    this.#collectedMs = nowMs
    return true
  }

  /** Counts memory that is in use. The system may count more, which the allocator has not given back. */
  #isFine({ heapUsed, external }: MemoryInUse, heldBytes: number): boolean {
    const { heapBytes, processBytes } = this.#limits
    return heapUsed < SOFT_SHARE * heapBytes && heapUsed + external - heldBytes < SOFT_SHARE * processBytes
  }
}

const isOfWholeHeap = (entry: PerformanceEntry): boolean =>
  'detail' in entry && (entry.detail as NodeGCPerformanceDetail).kind === constants.NODE_PERFORMANCE_GC_MAJOR

function processMemory(): ProcessMemory {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  // Compiled code counts only where the flags are those of the start.
  setFlagsFromString('--no-expose-gc')
  let collections = 0
  let resident = 0
  let residentMs = Number.NEGATIVE_INFINITY
  new PerformanceObserver(list => {
    collections += list.getEntries().filter(isOfWholeHeap).length
  }).observe({ entryTypes: ['gc'] })
  return {
    usage() {
      const { used_heap_size: heapUsed, external_memory: external } = getHeapStatistics()
      return {
        heapUsed,
        external,
        // The system is asked by a file, which takes longer than many a turn.
        get rss() {
          const nowMs = performance.now()
          if (nowMs - residentMs >= RESIDENT_EVERY_MS) {
            residentMs = nowMs
            resident = residentBytes()
          }
          return resident
        },
      }
    },
    collect() {
      if (!collectGarbage()) gc()
    },
    letGrow: letHeapsGrow,
    get collections() {
      return collections
    },
  }
}

export function tooMuchMemory(): ApiError {
  return tryLater('circuit_breaking_exception', 'the query takes more memory than queries may; ask for less, or for a part at a time')
}
