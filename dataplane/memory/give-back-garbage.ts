/** Collects the garbage of a thread while its process holds much memory: V8 alone lets each heap grow to several times of what is in use. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { IDLE_MS, releaseIdleBuffers } from './free-buffers.ts'
import { residentBytes } from './resident-bytes.ts'

/** Resident memory of the process from which on garbage is worth a pause, bytes … */
const FROM_BYTES = 160 * 1024 * 1024
/** … or this share of a container's limit, where that is less. */
const CONTAINER_SHARE = 0.25
/** A thread that grew by less since its last collection is left alone, bytes … */
const MIN_GROWN_BYTES = 10 * 1024 * 1024
/** … unless V8 has freed so much of its heap since, which only a collection of ours gives back to the system. */
const MIN_FREED_BYTES = 32 * 1024 * 1024
const LOOK_EVERY_MS = 1_000
/** By then a thread has loaded its program as a rule, and half of its heap is what that left. */
const LOOKS_UNTIL_LOADED = 5
/** Time between two collections of a thread, ms. */
const MIN_PAUSE_MS = 3_000
/** The same while the process holds more than so many times that memory. */
const MUCH = 2.5
const MIN_PAUSE_AT_MUCH_MS = 2_000
/** The same from which on a thread stands still until its garbage is gone, for about as long as V8 needs for what is in use: 50 to 200 ms. */
const TOO_MUCH = 4
/** V8 begins to mark garbage, beside what else runs, when buffers have grown by 64 MiB, and collects at once when they come to half of what the heap may be. */
const BUFFER_BYTES = 80 * 1024 * 1024

/** Memory as one thread sees it. */
export interface ThreadMemory {
  /** Resident memory of the whole process. */
  processBytes(): number
  /** Heap and buffers of the thread, garbage among them. */
  threadBytes(): number
  /** Pages of the thread's heap. */
  heapBytes(): number
  /** Begins a collection, most of which runs beside the thread's work, and which gives free pages back to the system. */
  begin(): void
  /** Collects before it returns, and gives free pages back. */
  collect(): void
}

/**
 * Looks after the garbage and the unused buffers of the calling thread until it ends. `isPatient`: nobody waits for what the thread does, and it may stand still for a collection. `fromBytes`:
 * resident memory of the process from which on that is done, where it is not the usual.
 */
export function giveBackGarbage({ isPatient = false, fromBytes = FROM_BYTES } = {}): void {
  const memory = ownMemory()
  const look = createGarbageLook(isPatient ? { ...memory, begin: memory.collect } : memory, memoryLimit(fromBytes))
  setInterval(() => look(performance.now()), LOOK_EVERY_MS).unref()
  setInterval(releaseIdleBuffers, IDLE_MS).unref()
}

/** The function is to be called about once a second. `limitBytes`: resident memory of the process from which on it collects; once after the start it does so anyway. */
export function createGarbageLook(memory: ThreadMemory, limitBytes: number): (nowMs: number) => void {
  let leastBytes = 0
  /** Most pages of the heap since the last collection was over. */
  let mostHeapBytes = 0
  let collectedMs = Number.NEGATIVE_INFINITY
  let looks = 0
  return nowMs => {
    const isLoaded = ++looks === LOOKS_UNTIL_LOADED
    const bytes = memory.threadBytes()
    const heapBytes = memory.heapBytes()
    // V8 has collected by itself.
    leastBytes = Math.min(leastBytes, bytes)
    if (nowMs - collectedMs < MIN_PAUSE_AT_MUCH_MS) {
      mostHeapBytes = heapBytes
      return
    }
    mostHeapBytes = Math.max(mostHeapBytes, heapBytes)
    const held = memory.processBytes() / limitBytes
    const hasGarbage = bytes - leastBytes >= MIN_GROWN_BYTES || mostHeapBytes - heapBytes >= MIN_FREED_BYTES
    const isDue = held >= MUCH || (held >= 1 && nowMs - collectedMs >= MIN_PAUSE_MS)
    if (!isLoaded && !(hasGarbage && isDue)) return
    collectedMs = nowMs
    if (held < TOO_MUCH) memory.begin()
    else memory.collect()
    leastBytes = memory.threadBytes()
  }
}

function memoryLimit(fromBytes: number): number {
  // 0 where it is not known, beyond any memory where there is no limit.
  const container = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return Math.min(fromBytes, CONTAINER_SHARE * container)
}

/** Buffers that come and go, and take no memory, since nobody writes to them. */
function growBuffers(bytes: number): void {
  new ArrayBuffer(bytes).transfer(0)
}

/** Collects before it returns, and gives free pages back to the system; false where the system gives no process so many addresses. */
export function collectGarbage(): boolean {
  try {
    growBuffers(getHeapStatistics().heap_size_limit / 2 + BUFFER_BYTES)
    return true
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return false
  }
}

export function ownMemory(): ThreadMemory {
  const begin = () => {
    // V8 keeps the pages that a collection frees, save for one that it begins while memory counts for more than time.
    setFlagsFromString('--optimize-for-size')
    growBuffers(BUFFER_BYTES)
    setFlagsFromString('--no-optimize-for-size')
  }
  return {
    processBytes: residentBytes,
    threadBytes() {
      const { used_heap_size, external_memory } = getHeapStatistics()
      return used_heap_size + external_memory
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
    begin,
    collect() {
      if (!collectGarbage()) begin()
    },
  }
}
