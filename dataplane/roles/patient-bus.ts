/** A bus on a Kafka that may answer only later: the role starts without it. */
import { backOffMs } from '../limits/back-off.ts'
import { type Bus, BusError } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { busRemedy } from './bus-remedy.ts'

/** A bus on a Kafka that need not answer yet. */
export interface PatientBus extends Bus {
  readonly isOpen: boolean
  /** Resolves once the bus can be used, or `signal` is aborted; never rejects. */
  opened(signal: AbortSignal): Promise<void>
}

export interface PatientBusDeps {
  /** One attempt, which gives up when no broker has answered within `reachTimeoutMs`. */
  readonly open: (reachTimeoutMs: number) => Promise<Bus>
  /** As `BUS_BROKERS` names them. */
  readonly brokers: string
  readonly clock: Clock
  readonly log: Log
  /** From 0 to 1. Default: random. */
  readonly random?: () => number
}

/** Time that a start waits for the brokers and their answer: most often they are there. */
const START_WAIT_MS = 1_800
/** The first attempt gives up early, so that an operator soon hears why; the others are as patient as any request. */
const FIRST_REACH_MS = 600
const REACH_MS = 5_000
const MIN_BACKOFF_MS = 500
const MAX_BACKOFF_MS = 5_000
/** Another problem than the one before is told, but not more often. */
const TOLD_EVERY_MS = 10_000

/**
 * Opens the bus in the background for as long as it takes. Until then every use is rejected as `unavailable`. Resolves once it is open, or
 * it is known that this takes longer.
 */
export async function openPatiently(deps: PatientBusDeps): Promise<PatientBus> {
  const { clock } = deps
  const stopping = new AbortController()
  const { promise: reached, resolve: noteReached } = Promise.withResolvers<void>()
  const { promise: tried, resolve: noteTried } = Promise.withResolvers<void>()
  let bus: Bus | undefined
  let stopped: Promise<void> | undefined
  let problem = 'no broker has answered yet'

  const unusable = () =>
    stopping.signal.aborted
      ? new BusError('closed', 'the bus is closed')
      : new BusError('unavailable', `BUS_BROKERS ${deps.brokers}: ${problem}`)
  const use = (): Bus => {
    if (bus === undefined) throw unusable()
    return bus
  }
  const told = createTelling(deps)
  const keepTrying = async () => {
    let failures = 0
    for (let reachMs = FIRST_REACH_MS; !stopping.signal.aborted; reachMs = REACH_MS) {
      try {
        const opened = await deps.open(reachMs)
        if (stopping.signal.aborted) return await opened.stop()
        bus = opened
        told.reached()
        noteReached()
        return
      } catch (error) {
        problem = (error as Error).message
        if (!stopping.signal.aborted) told.problem(problem)
      } finally {
        noteTried()
      }
      await clock.sleep(backOffMs({ firstMs: MIN_BACKOFF_MS, maxMs: MAX_BACKOFF_MS }, ++failures, deps.random), stopping.signal)
    }
  }
  void keepTrying()
  const timer = new AbortController()
  const waited = clock.sleep(START_WAIT_MS, timer.signal).then(() => 'too long' as const)
  // On a busy machine the first attempt may take longer than its own limit; the operator is told all the same.
  if ((await Promise.race([tried, waited])) === 'too long') told.problem(problem)
  timer.abort()

  return {
    get isOpen() {
      return bus !== undefined
    },
    async opened(signal) {
      const { promise: aborted, resolve } = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => resolve(), { once: true })
      if (!signal.aborted) await Promise.race([reached, aborted])
    },
    // Each send comes this way, so that it is one promise.
    send: (topic, records) => (bus === undefined ? Promise.reject(unusable()) : bus.send(topic, records)),
    beginTransaction: async () => use().beginTransaction(),
    subscribe: async config => use().subscribe(config),
    describe: async () => use().describe(),
    committedOffsets: async groupId => use().committedOffsets(groupId),
    purge: async topic => use().purge(topic),
    groupMembers: async groupId => use().groupMembers(groupId),
    stop() {
      stopping.abort()
      // An attempt under way ends by itself, and closes the bus that it has opened.
      stopped ??= bus?.stop() ?? Promise.resolve()
      return stopped
    },
  }
}

/** Tells the log of each problem once, and of the end of the trouble. */
function createTelling({ brokers, clock, log }: PatientBusDeps) {
  const startedMs = clock.nowMs()
  let last: { readonly problem: string; readonly atMs: number } | undefined
  return {
    problem(problem: string): void {
      const nowMs = clock.nowMs()
      const kind = problem.replace(/\d+ ms/g, '')
      if (last !== undefined && (last.problem === kind || nowMs - last.atMs < TOLD_EVERY_MS)) return
      last = { problem: kind, atMs: nowMs }
      log.warn(
        { busBrokers: brokers, problem, remedy: busRemedy(problem) },
        'the Kafka that BUS_BROKERS names cannot be used yet; trying again',
      )
    },
    reached(): void {
      if (last !== undefined)
        log.info({ busBrokers: brokers, afterMs: clock.nowMs() - startedMs }, 'the Kafka that BUS_BROKERS names is there')
    },
  }
}
