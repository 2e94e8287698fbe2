/** The Z-score engine: how unusual a rule score is for its service (Decisions 5). */
import { RoomForTenants } from './room-for-tenants.ts'

export interface ZscoreConfig {
  /** A score at or above it is an anomaly. */
  readonly anomalyThreshold: number
  /** Values a window holds. */
  readonly windowSize: number
}

/** Spec: Bridge configuration. */
export const DEFAULT_ZSCORE_CONFIG: ZscoreConfig = { anomalyThreshold: 2.5, windowSize: 50 }

/** Smallest deviation that z is measured in: a still window does not make every change an anomaly (Decisions 5). */
const MIN_DEVIATION = 0.1
/** The engine speaks when a window holds at least so many values. */
const MIN_VALUES = 10
/** Scores are kept as whole ten-thousandths, so that sums stay exact however long a window lives. */
const SCALE = 10_000

/** Values that a new window has memory for; it doubles as they come. */
const FIRST_CAPACITY = 16

/** A sliding window of the last rule scores of one service; O(1) per value. Its memory is that of the values it has seen. */
export class SlidingWindow {
  #size: number
  /** Shorter than the window until that many values have come. */
  #values: Int32Array
  /** Where the next value goes. */
  #next = 0
  #count = 0
  #sum = 0
  #sumOfSquares = 0

  constructor(size: number) {
    this.#size = size
    this.#values = new Int32Array(Math.min(size, FIRST_CAPACITY))
  }

  /** Values that it holds memory for. */
  get capacity(): number {
    return this.#values.length
  }

  get count(): number {
    return this.#count
  }

  /** z of `score` against the window before it is added: (x − mean) / max(population std, 0.1); 0 while the window is too short to speak. */
  zscore(score: number): number {
    const n = this.#count
    if (n < MIN_VALUES) return 0
    const mean = this.#sum / n
    const variance = Math.max(0, this.#sumOfSquares / n - mean * mean)
    const z = (score * SCALE - mean) / Math.max(Math.sqrt(variance), MIN_DEVIATION * SCALE)
    return Math.round(z * SCALE) / SCALE
  }

  /** Adds a value, 0 to 1 in steps of 0.0001; the oldest leaves a full window. */
  add(score: number): void {
    if (this.#count === this.#values.length && this.#count < this.#size) this.#grow()
    const size = this.#values.length
    const value = Math.round(score * SCALE)
    if (this.#count === size) {
      const oldest = this.#values[this.#next]!
      this.#sum -= oldest
      this.#sumOfSquares -= oldest * oldest
    } else this.#count++
    this.#values[this.#next] = value
    this.#next = this.#next + 1 === size ? 0 : this.#next + 1
    this.#sum += value
    this.#sumOfSquares += value * value
  }

  /** Keeps the newest values as far as they fit. */
  resize(size: number): void {
    if (size === this.#size) return
    const kept = this.values().slice(-size)
    this.#size = size
    this.#values = new Int32Array(Math.min(size, Math.max(kept.length, FIRST_CAPACITY)))
    this.#next = this.#count = this.#sum = this.#sumOfSquares = 0
    for (const value of kept) this.add(value)
  }

  /** Called while it has never been full, so that the values lie in order. */
  #grow(): void {
    const values = new Int32Array(Math.min(this.#size, this.#values.length * 2))
    values.set(this.#values)
    this.#next = this.#count
    this.#values = values
  }

  /** Oldest first. */
  values(): number[] {
    const size = this.#values.length
    const start = (this.#next - this.#count + size) % size
    return Array.from({ length: this.#count }, (_, i) => this.#values[(start + i) % size]! / SCALE)
  }
}

/** Values of all windows together: 64 MB. */
const MAX_VALUES = 16_777_216

/** One window per tenant and service, the least recently used leaving first: beyond a number of them, and of values that they hold. */
export class ServiceWindows {
  readonly #windows = new Map<string, SlidingWindow>()
  readonly #room = new RoomForTenants()
  readonly #maxServices: number
  #config: ZscoreConfig
  /** Values that the windows have memory for. */
  #capacity = 0
  #lastKey = ''
  #lastWindow: SlidingWindow | undefined

  constructor(config: ZscoreConfig, maxServices: number) {
    this.#config = config
    this.#maxServices = maxServices
  }

  /** Changes threshold or window size at once; windows keep their newest values. */
  configure(config: Partial<ZscoreConfig>): void {
    this.#config = { ...this.#config, ...config }
  }

  /** The z-score of `score` for a service when it reaches the threshold, else 0; then the score joins the window. */
  observe(service: string, score: number): number {
    const window = this.#windowOf(service)
    const z = window.zscore(score)
    const before = window.capacity
    window.add(score)
    if (window.capacity !== before) this.#grown(service, window.capacity - before)
    return z >= this.#config.anomalyThreshold ? z : 0
  }

  #windowOf(key: string): SlidingWindow {
    if (key === this.#lastKey && this.#lastWindow !== undefined) {
      this.#resize(this.#lastWindow)
      return this.#lastWindow
    }
    let window = this.#windows.get(key)
    if (window === undefined) {
      window = new SlidingWindow(this.#config.windowSize)
      if (this.#windows.size >= this.#maxServices) this.#dropFor(key, this.#maxServices)
      this.#capacity += window.capacity
    } else {
      this.#windows.delete(key)
      this.#resize(window)
    }
    this.#windows.set(key, window)
    this.#room.hear(key)
    this.#lastKey = key
    this.#lastWindow = window
    return window
  }

  #resize(window: SlidingWindow): void {
    const before = window.capacity
    window.resize(this.#config.windowSize)
    this.#capacity += window.capacity - before
  }

  #grown(key: string, values: number): void {
    this.#capacity += values
    while (this.#capacity > MAX_VALUES && this.#windows.size > 1) this.#dropFor(key, this.#windows.size)
  }

  /** `most`: the services that there is room for. */
  #dropFor(key: string, most: number): void {
    const [longestSilent] = this.#windows.keys()
    if (longestSilent === undefined) return
    const leaving = this.#room.leavesFor(key, longestSilent, most)
    this.#capacity -= this.#windows.get(leaving)!.capacity
    this.#windows.delete(leaving)
    this.#room.remove(leaving)
  }
}
