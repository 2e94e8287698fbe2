/** A source of the agent's state: asked in the background, shown with its age. */
import { isRecent } from '../../limits/is-recent.ts'
import { BusError } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

/** The known state of a source at one moment. */
export interface Observation<T> {
  /**
   * `unknown`: not asked to the end yet. `current`: the value is of this moment, give or take a second. `stale`: it is older, and no new one
   * came in time. `unreachable`: the last attempt failed; the value is the last that was seen.
   */
  readonly state: 'unknown' | 'current' | 'stale' | 'unreachable'
  /** Undefined until the source has answered once. */
  readonly value: T | undefined
  /** Age of the value, ms; undefined without one. */
  readonly ageMs: number | undefined
}

/** Something outside that is asked for its state, in bounded time. */
export interface Source<T> {
  /** Asks anew when the observation is older than a second, and waits at most two seconds. Never rejects. */
  observe(): Promise<Observation<T>>
  /** The observation at this moment. */
  last(): Observation<T>
  /** Keeps the observation fresh in the background. */
  start(): void
  /** Ends the background work and the attempts under way. */
  stop(): Promise<void>
}

export interface SourceDeps<T> {
  /** For the log. */
  readonly name: string
  readonly read: () => Promise<T>
  readonly clock: Clock
  readonly log: Log
}

const CURRENT_FOR_MS = 1_000
/** How long a caller waits for an answer. */
export const WAIT_MS = 2_000
/** An attempt that takes longer has failed. */
const ATTEMPT_MS = 5_000
/** Attempts that may hang at once; no further attempt is made beyond. */
const MAX_HANGING = 3
const STALE_AFTER_MS = 10_000
const BACKGROUND_MS = 30_000
const BACKGROUND_AT_FIRST_MS = 2_000

export function createSource<T>({ name, read, clock, log }: SourceDeps<T>): Source<T> {
  const stopping = new AbortController()
  let known: { readonly value: T; readonly atMs: number } | undefined
  let failed = false
  let attempt: Promise<void> | undefined
  let attemptedMs = Number.NEGATIVE_INFINITY
  let hanging = 0
  let background: Promise<void> | undefined

  const readOnce = (): Promise<T> => {
    if (hanging >= MAX_HANGING) return Promise.reject(new Error(`${hanging} earlier attempts have not ended yet`))
    hanging++
    // A read may also throw at once.
    return Promise.resolve()
      .then(read)
      .finally(() => hanging--)
  }
  const ask = async () => {
    const ended = new AbortController()
    const late = clock.sleep(ATTEMPT_MS, AbortSignal.any([ended.signal, stopping.signal])).then(() => {
      throw new Error(`no answer within ${ATTEMPT_MS} ms`)
    })
    try {
      known = { value: await Promise.race([readOnce(), late]), atMs: clock.nowMs() }
      if (failed) log.info({ source: name }, 'source answers again')
      failed = false
    } catch (error) {
      if (!failed && !stopping.signal.aborted) log.warn({ source: name, ...told(error) }, 'source does not answer')
      failed = true
    } finally {
      ended.abort()
      await late.catch(() => {})
    }
  }
  const refresh = (): Promise<void> => {
    if (attempt !== undefined) return attempt
    if (isRecent(attemptedMs, CURRENT_FOR_MS, clock.nowMs()) || stopping.signal.aborted) return Promise.resolve()
    attemptedMs = clock.nowMs()
    attempt = ask().finally(() => {
      attempt = undefined
    })
    return attempt
  }
  const last = (): Observation<T> => {
    const ageMs = known && Math.max(0, clock.nowMs() - known.atMs)
    const state = failed ? 'unreachable' : ageMs === undefined ? 'unknown' : ageMs > STALE_AFTER_MS ? 'stale' : 'current'
    return { state, value: known?.value, ageMs }
  }
  const keepFresh = async () => {
    while (!stopping.signal.aborted) {
      await refresh()
      await clock.sleep(known === undefined ? BACKGROUND_AT_FIRST_MS : BACKGROUND_MS, stopping.signal)
    }
  }

  return {
    last,
    async observe() {
      const answered = new AbortController()
      await Promise.race([refresh(), clock.sleep(WAIT_MS, AbortSignal.any([answered.signal, stopping.signal]))])
      answered.abort()
      return last()
    },
    start() {
      background ??= keepFresh()
    },
    async stop() {
      stopping.abort()
      await background
    },
  }
}

/** The errors of a server that is away need no stack. */
function told(error: unknown) {
  return error instanceof BusError || error instanceof SearchStoreUnavailable ? { problem: error.message } : { error }
}
