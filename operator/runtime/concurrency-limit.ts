/**
 * How many requests are under way at a time: more while the API server answers soon, fewer when it does not, so that the operator's own requests never
 * keep one another, or the renewal of the Lease, beyond their time limits. A request that hangs while others are answered gives its place to another.
 */

import type { ApiAnswer } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { RateLimit } from '../../dataplane/kube/rate-limit.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'

export interface ConcurrencyLimit {
  /** The client, whose requests wait for a place, other than discovery. A watch has its place until it begins. Failures of requests that hung say so (`isHang`). */
  limit(client: KubeClient): KubeClient
  /** A write was answered after so long, with that status; also one that needed no place. */
  noteAnswer(status: number, durationMs: number): void
  /** Whether a request would have a place at once. */
  hasRoom(): boolean
}

export const FIRST_LIMIT = 16
const MIN_UNDER_WAY = 4
const MAX_UNDER_WAY = 64
/** The rate limit allows no more than the first limit does while answers come so soon. */
const SOON_MS = 300
/** A renewal of the Lease has 5 s. */
const SLOW_MS = 4200
const SHRINKS_TO = 0.75
/** A request hangs after so long at least, and after so many times the time of one that was sent later. */
const HANGS_MS = 1000
const HANGS_TIMES = 4
/** While nothing is answered one more request is made each time, to find out whether those under way hang. */
const PROBE_MS = 1000
const MAX_PROBES = 16
/** Between two looks for requests that have begun to hang, while others wait. */
const LOOK_MS = 250

interface UnderWay {
  readonly sentMs: number
  /** The shortest time of the writes that were sent later and have been answered. */
  quickestMs: number
}

export interface ConcurrencyLimitDeps {
  readonly clock: Clock
  /** While it holds requests up, more of them under way make nothing quicker. */
  readonly rateLimit: Pick<RateLimit, 'hasRoom'>
}

export function createConcurrencyLimit({ clock, rateLimit }: ConcurrencyLimitDeps): ConcurrencyLimit {
  const underWay = new Set<UnderWay>()
  const waiting: (() => void)[] = []
  let limit = FIRST_LIMIT
  let answeredMs = monotonicMs(clock)
  let shrunkMs = Number.NEGATIVE_INFINITY
  let isLooking = false

  const hangs = ({ sentMs, quickestMs }: UnderWay, nowMs: number): boolean => nowMs - sentMs >= Math.max(HANGS_MS, HANGS_TIMES * quickestMs)

  const places = (): number => {
    const nowMs = monotonicMs(clock)
    let counted = 0
    for (const request of underWay) if (!hangs(request, nowMs)) counted += 1
    const probes = underWay.size === 0 ? 0 : Math.min(MAX_PROBES, Math.floor((nowMs - answeredMs) / PROBE_MS))
    return Math.floor(limit) + probes - counted
  }

  const admit = (): void => {
    for (let left = places(); left > 0 && waiting.length > 0; left--) waiting.shift()!()
    if (waiting.length > 0) void look()
  }

  /** Requests begin to hang as time passes. */
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    await clock.sleep(LOOK_MS)
    isLooking = false
    admit()
  }

  const begin = (): UnderWay => {
    const nowMs = monotonicMs(clock)
    if (underWay.size === 0) answeredMs = nowMs
    const request = { sentMs: nowMs, quickestMs: Number.POSITIVE_INFINITY }
    underWay.add(request)
    return request
  }

  const adapt = (request: UnderWay, nowMs: number): void => {
    const tookMs = nowMs - request.sentMs
    if (tookMs <= SOON_MS || (tookMs <= SLOW_MS && !rateLimit.hasRoom())) limit += (FIRST_LIMIT - limit) / MAX_UNDER_WAY
    else if (tookMs <= SLOW_MS) limit = waiting.length > 0 ? Math.min(MAX_UNDER_WAY, limit + 1 / limit) : limit
    else if (request.sentMs >= shrunkMs) {
      // Those that were sent before tell of the limit that there was then.
      limit = Math.max(MIN_UNDER_WAY, limit * SHRINKS_TO)
      shrunkMs = nowMs
    }
  }

  const noteAnswer = (status: number, durationMs: number): void => {
    if (status === 0 || status === 429 || status >= 500) return
    answeredMs = monotonicMs(clock)
    const sentMs = answeredMs - durationMs
    for (const request of underWay) if (request.sentMs <= sentMs) request.quickestMs = Math.min(request.quickestMs, durationMs)
  }

  const run = async <T>(send: () => Promise<ApiAnswer<T>>, isRead = false): Promise<ApiAnswer<T>> => {
    let request: UnderWay
    if (waiting.length === 0 && places() > 0) request = begin()
    else
      request = await new Promise(resolve => {
        waiting.push(() => resolve(begin()))
        void look()
      })
    const answer = await send()
    const nowMs = monotonicMs(clock)
    const hung = hangs(request, nowMs)
    underWay.delete(request)
    // Where the disk of the API server's store is slow, reads are answered soon and tell nothing of writes.
    if (isRead) answeredMs = answer.ok ? nowMs : answeredMs
    else noteAnswer(answer.ok ? 200 : answer.failure.status, nowMs - request.sentMs)
    if (!isRead && !hung) adapt(request, nowMs)
    admit()
    return hung && !answer.ok ? { ok: false, failure: { ...answer.failure, isHang: true } } : answer
  }

  return {
    limit: client => ({
      ...client,
      list: (...call) => run(() => client.list(...call), true),
      watch: (...call) => run(() => client.watch(...call), true),
      get: (...call) => run(() => client.get(...call), true),
      apply: (...call) => run(() => client.apply(...call)),
      applyStatus: (...call) => run(() => client.applyStatus(...call)),
      create: (...call) => run(() => client.create(...call)),
      replace: (...call) => run(() => client.replace(...call)),
      delete: (...call) => run(() => client.delete(...call)),
    }),
    noteAnswer,
    hasRoom: () => waiting.length === 0 && places() > 0,
  }
}
