/** The lane of one target: its rate, its pauses and its breaker. Every target has a lane of its own, so none waits for another. */
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhenResult } from 'cockatiel'
import { REFUSED_PAUSE_MS } from '../../../domain/tickets/delivery.ts'
import { ROW_LIFE_MS } from '../../../domain/tickets/ticket-thread.ts'
import { type BackOffConfig, backOffMs } from '../../../limits/back-off.ts'
import { TokenBucket } from '../../../limits/token-bucket.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import type { TargetLimits } from './target-limits.ts'

/** Failures of the target in a row that open its breaker. */
const MAX_FAILURES = 3
/** How long an open breaker keeps a target alone before one attempt tries it. The longest pause is what people wait for once the target works again. */
const OPEN: BackOffConfig = { firstMs: 5_000, maxMs: 10_000 }
/** How long a target is left alone whose settings are refused for good, unless they change: as long as a row waits. */
const HELD_MS = ROW_LIFE_MS
/** The longest pause that a platform may ask for. */
const MAX_ASKED_MS = 3_600_000

export interface TargetLane {
  /** How many attempts may begin now. */
  room(nowMs: number): number
  /** Takes the right to one attempt; `run` or `giveBack` must follow. False when there is none. */
  take(nowMs: number): boolean
  giveBack(): void
  /** `isOpening`: a ticket is to be made. An account may have the right to do that, and to no other change. */
  run(send: () => Promise<TicketOutcome>, nowMs: () => number, isOpening?: boolean): Promise<TicketOutcome>
  /** Why nothing is sent, and until when, ms since the epoch. `isOfPlatform`: the platform asked for the time, so that no one ends it. */
  pause(nowMs: number): { readonly untilMs: number; readonly reason: string; readonly isOfPlatform: boolean } | undefined
  /** Somebody asked for another try at that time, ms since the epoch: ends a rest of the breaker that began before, not a wait that the platform asked for. */
  asked(atMs: number): void
  /** The platform asked another agent, or this one before a restart, for no requests until then, ms since the epoch. */
  limited(untilMs: number, reason: string, nowMs: number): void
  /** The target has the settings that it refused for good. */
  held(reason: string, nowMs: number): void
  /** In other agents' hands since, by the generation of its owners: they may have used its rate up a moment ago. */
  handedOver(generation: number, nowMs: number): void
  /** The target's settings as a fingerprint: other ones end its pause. */
  configured(fingerprint: string): void
  readonly isIdle: boolean
}

/**
 * The state machine is cockatiel's; time is ours, since the library looks at the clock of the machine, which no test moves. `-Infinity`: the library never
 * asks for a wait, not even where that clock is set back.
 */
export function createTargetLane(limits: TargetLimits, startMs: number, random: () => number = Math.random): TargetLane {
  const bucket = new TokenBucket(limits, startMs)
  let paused: { sinceMs: number; untilMs: number; reason: string; isOfPlatform: boolean } | undefined
  let busy = 0
  let openings = 0
  let isRefused = false
  let hasOnlyLooked = false
  let seenFingerprint: string | undefined
  let seenGeneration = 0

  const consecutive = new ConsecutiveBreaker(MAX_FAILURES)
  const breaker = {
    get state() {
      return consecutive.state
    },
    set state(value) {
      consecutive.state = value
    },
    // That a target shows what it has does not say that it takes anything.
    success: () => hasOnlyLooked || consecutive.success(),
    // One refusal of everything is enough.
    failure: () => consecutive.failure() || isRefused,
  }
  const policy = circuitBreaker(
    handleWhenResult(result => isTargetFailure(result as Attempt)),
    { breaker, halfOpenAfter: Number.NEGATIVE_INFINITY },
  )
  policy.onBreak(() => {
    if (!isRefused) openings++
  })
  policy.onReset(() => {
    if (!hasOnlyLooked) openings = 0
  })
  const isSound = () => policy.state === CircuitState.Closed && consecutive.state < MAX_FAILURES

  const pauseFor = (ms: number, nowMs: number, reason: string, isOfPlatform: boolean) => {
    if (paused === undefined || nowMs + ms > paused.untilMs) paused = { sinceMs: nowMs, untilMs: nowMs + ms, reason, isOfPlatform }
  }
  const pause = (nowMs: number) => {
    // Before its beginning: the clock was set back, by however much.
    if (paused !== undefined && (nowMs >= paused.untilMs || nowMs < paused.sinceMs)) paused = undefined
    return paused
  }
  return {
    pause,
    room(nowMs) {
      if (pause(nowMs) !== undefined) return 0
      // One attempt tries whether a target works again.
      const atOnce = isSound() ? limits.atOnce : 1
      return Math.max(0, Math.min(atOnce - busy, bucket.left(nowMs)))
    },
    take(nowMs) {
      if (this.room(nowMs) === 0) return false
      bucket.take(nowMs)
      busy++
      return true
    },
    giveBack() {
      busy--
      bucket.giveBack()
    },
    async run(send, nowMs, isOpening = true) {
      try {
        const attempt = await policy.execute(async (): Promise<Attempt> => {
          const ended = { outcome: await send(), isOpening }
          isRefused = refusesAll(ended)
          hasOnlyLooked = ended.outcome.kind === 'unseen'
          return ended
        })
        const { outcome } = attempt
        // Others that were under way may end after the breaker has opened.
        if (policy.state === CircuitState.Open && isTargetFailure(attempt)) {
          if (isForGood(outcome)) this.held(outcome.reason, nowMs())
          else pauseFor(refusesAll(attempt) ? REFUSED_PAUSE_MS : backOffMs(OPEN, openings, random), nowMs(), reasonOf(outcome), false)
        }
        if (outcome.kind === 'retryable' && outcome.afterMs !== undefined)
          pauseFor(Math.min(outcome.afterMs, MAX_ASKED_MS), nowMs(), outcome.reason, true)
        return outcome
      } finally {
        busy--
      }
    },
    asked(atMs) {
      if (paused !== undefined && !paused.isOfPlatform && atMs >= paused.sinceMs) paused = undefined
    },
    limited(untilMs, reason, nowMs) {
      pauseFor(Math.min(untilMs - nowMs, MAX_ASKED_MS), nowMs, reason, true)
    },
    held(reason, nowMs) {
      pauseFor(HELD_MS, nowMs, `${reason}; nothing is sent until its settings change, or somebody asks for it`, false)
    },
    handedOver(generation, nowMs) {
      if (generation === seenGeneration) return
      seenGeneration = generation
      bucket.empty(nowMs)
    },
    configured(fingerprint) {
      if (seenFingerprint !== undefined && seenFingerprint !== fingerprint) paused = undefined
      seenFingerprint = fingerprint
    },
    get isIdle() {
      return busy === 0 && paused === undefined && isSound()
    },
  }
}

interface Attempt {
  readonly outcome: TicketOutcome
  /** Whether a ticket was to be made. */
  readonly isOpening: boolean
}

/** Whether a target takes nothing at all until somebody mends its settings. */
function refusesAll({ outcome, isOpening }: Attempt): boolean {
  return outcome.kind === 'rejected' && outcome.isTargetBroken === true && (isOpening || outcome.isForbidden !== true)
}

function isForGood(outcome: TicketOutcome): outcome is Extract<TicketOutcome, { kind: 'rejected' }> {
  return outcome.kind === 'rejected' && outcome.isTargetBroken === true && outcome.untilChanged === true
}

function isTargetFailure(attempt: Attempt): boolean {
  return refusesAll(attempt) || (attempt.outcome.kind === 'retryable' && attempt.outcome.isTargetDown === true)
}

function reasonOf(outcome: TicketOutcome): string {
  return outcome.kind === 'delivered' ? '' : outcome.reason
}
