/** Calls of one stub platform: who may call, how often, and which faults befall the next ones. */
import type { Clock } from '../../ports/clock.ts'
import { createFaultQueue, MAX_FAULTS, parseFault, type RequestFault } from './faults.ts'
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from './stub-platform.ts'

/** Instead of an answer. */
export const RESET = Symbol('reset')
export type Outcome = StubAnswer | typeof RESET

export interface PlatformCalls {
  call(route: StubRoute, request: StubRequest): Promise<Outcome>
  /** The problem as a text when the fault is none. */
  addFault(value: unknown): string | undefined
  /** For requests that come by other ways than HTTP. */
  takeFault(route: string, isChange: boolean): RequestFault | undefined
  waitingFaults(): readonly RequestFault[]
  /** Counts a request that came by another way than HTTP. */
  count(): void
  /** `limited`: answered 429 because the caller sent too many. */
  counts(): { readonly requests: number; readonly limited: number }
  clear(): void
  /** Ends stalls. */
  stop(): void
}

export const routeName = ({ method, path }: StubRoute): string => `${method} ${path}`

export function createPlatformCalls(platform: StubPlatform, clock: Clock): PlatformCalls {
  const faults = createFaultQueue()
  const stopped = new AbortController()
  let requests = 0
  let limited = 0
  let limiter: RateLimiter | undefined = platform.rateLimit && createRateLimiter(platform.rateLimit, clock.nowMs)

  const addFault = (value: unknown): string | undefined => {
    const fault = parseFault(value)
    if (typeof fault === 'string') return fault
    if (fault.kind === 'limit') {
      limiter = createRateLimiter(fault, clock.nowMs)
      return undefined
    }
    if (fault.kind !== 'own') return faults.add(fault) ? undefined : `at most ${MAX_FAULTS} faults may wait`
    const { ownFaults = {} } = platform
    const own = Object.hasOwn(ownFaults, fault.name) ? ownFaults[fault.name] : undefined
    if (own === undefined) return `name: expected one of ${Object.keys(ownFaults).join(', ') || '(none)'}, seen ${fault.name}`
    own(fault.value, fault.times)
    return undefined
  }

  const call = async (route: StubRoute, request: StubRequest): Promise<Outcome> => {
    requests += 1
    const refusal = platform.refuseCaller?.(request)
    if (refusal !== undefined) return refusal
    const waitMs = limiter?.waitMs(platform.rateLimit?.callerOf(request) ?? '') ?? 0
    if (waitMs > 0) {
      limited += 1
      return tooMany(platform, String(Math.ceil(waitMs / 1_000)))
    }
    const fault = faults.take(routeName(route), route.method !== 'GET')
    const accept = async () => await route.handle(request)
    return fault === undefined ? accept() : meet(fault, accept)
  }

  const meet = async (fault: RequestFault, accept: () => Promise<StubAnswer>): Promise<Outcome> => {
    if ('afterAccepting' in fault && fault.afterAccepting) await accept()
    switch (fault.kind) {
      case 'status':
        return fault.text === undefined ? platform.refuse(fault.status) : { status: fault.status, body: fault.text }
      case 'rate-limit':
        return tooMany(platform, retryAfter(fault, clock.nowMs()))
      case 'reset':
        return RESET
      case 'stall':
        await clock.sleep(fault.ms, stopped.signal)
        return fault.afterAccepting ? platform.refuse(504) : accept()
      case 'html':
        return { headers: { 'content-type': 'text/html' }, body: '<html><body>Your instance is hibernating.</body></html>' }
    }
  }

  return {
    call,
    addFault,
    takeFault: faults.take,
    waitingFaults: faults.waiting,
    count() {
      requests += 1
    },
    counts: () => ({ requests, limited }),
    clear() {
      faults.clear()
      requests = limited = 0
    },
    stop: () => stopped.abort(),
  }
}

function tooMany(platform: StubPlatform, after: string | undefined): StubAnswer {
  const answer = platform.refuse(429)
  return after === undefined ? answer : { ...answer, headers: { ...answer.headers, 'retry-after': after } }
}

function retryAfter({ retryAfter, seconds }: Extract<RequestFault, { kind: 'rate-limit' }>, nowMs: number): string | undefined {
  if (retryAfter === 'absent') return undefined
  return retryAfter === 'seconds' ? String(seconds) : new Date(nowMs + seconds * 1_000).toUTCString()
}
