/** The cause of an incident, in bounded time; incidents of one tenant and time share an analysis. */

import { type CauseRanking, causeOf } from '../../../domain/root-cause/ranking.ts'
import type { RootCause } from '../../../domain/root-cause/root-cause.ts'
import { analysisStarts, analysisTime, FULL_WINDOW_MS } from '../../../domain/tickets/cause-timing.ts'
import type { TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import { perMinute, TokenBucket } from '../../../limits/token-bucket.ts'
import { createTurns } from '../../../limits/turns.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import { rankCausesFrom } from '../../root-cause/analyse.ts'
import { MAX_OBSERVATIONS } from '../../root-cause/read-observations.ts'

export interface FoundCause {
  readonly rootCause: RootCause
  /** Length of the window that was looked at, from the time asked for, ms. */
  readonly windowMs: number
}

/** Undefined when there is none in time, or the analysis failed: no ticket waits for it. */
export type FindCause = (incident: TicketedIncident) => Promise<FoundCause | undefined>

/** Records that all analyses of a minute look at, once those that came first have used up as many: the store has its users to serve. */
const RECORDS_PER_MINUTE = 100_000
/** Records that each looks at all the same, about. */
const LEAST_RECORDS = 10_000
/** How long an incident waits for its cause. */
const MAX_WAIT_MS = 10_000
/** At once: each takes memory, and the store's time. */
const MAX_RUNNING = 2
/** Those that wait for their turn. */
const MAX_WAITING = 32
/** An analysis counts for other incidents of its tenant that long, when their times lie that near. */
const SHARED_MS = 20_000
const SAME_TIME_MS = 15_000
/** An analysis that ended after its callers had given up counts for longer, so that the next question finds it. */
const LATE_SHARED_MS = 180_000
const MAX_SHARED = 200

/** An analysis from which the incidents of its time take their causes. */
interface MadeRanking {
  readonly ranking: CauseRanking
  readonly windowMs: number
}

interface SharedAnalysis {
  readonly tenant: string
  readonly atMs: number
  /** The time until which the analysis counts; infinite while it is under way. */
  untilMs: number
  readonly startedMs: number
  readonly result: Promise<MadeRanking | undefined>
}

export function createFindCause({
  store,
  clock,
  log,
}: {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
}): FindCause {
  // Analyses of a storm of incidents read all the time: the consoles of those who were woken go first.
  const inBackground: SearchStore = { ...store, search: request => store.search({ ...request, isBackground: true }) }
  let shared: SharedAnalysis[] = []
  const budget = new TokenBucket(perMinute(RECORDS_PER_MINUTE), clock.nowMs())
  const turns = createTurns({ running: MAX_RUNNING, inAll: MAX_RUNNING + MAX_WAITING, ofOwner: MAX_RUNNING + MAX_WAITING })

  const analyse = async (tenant: string, atMs: number, seenMs: number): Promise<MadeRanking | undefined> => {
    try {
      const clockMs = clock.nowMs()
      // Records of a sender whose clock is ahead lie in the future: what was seen there is over all the same.
      const nowMs = atMs < clockMs ? clockMs : seenMs + 1
      const most = Math.max(LEAST_RECORDS, budget.takeUpTo(MAX_OBSERVATIONS, clockMs))
      const ranking = await rankCausesFrom({ store: inBackground, clock, log }, { tenant, startsMs: analysisStarts(atMs), nowMs, most })
      return { ranking, windowMs: Math.min(nowMs - atMs, FULL_WINDOW_MS) }
    } catch (error) {
      log.warn({ error, tenant }, 'no root cause: the analysis failed; the ticket goes out without one')
      return undefined
    }
  }
  const run = async (tenant: string, atMs: number, seenMs: number) => await turns.take(tenant, () => analyse(tenant, atMs, seenMs))

  const share = ({ tenantId: tenant, lastSeen }: TicketedIncident, atMs: number, sinceMs: number): Promise<MadeRanking | undefined> => {
    const nowMs = clock.nowMs()
    shared = shared.filter(({ startedMs, untilMs }) => nowMs >= startedMs && nowMs < untilMs).slice(-MAX_SHARED)
    const isOfTime = (each: SharedAnalysis) => each.tenant === tenant && Math.abs(each.atMs - atMs) <= SAME_TIME_MS
    const known = shared.findLast(each => isOfTime(each) && each.startedMs >= sinceMs)
    if (known !== undefined) return known.result
    const result = run(tenant, atMs, Date.parse(lastSeen))
    const made: SharedAnalysis = { tenant, atMs, startedMs: nowMs, untilMs: Number.POSITIVE_INFINITY, result }
    shared.push(made)
    void result.then(found => {
      const endedMs = clock.nowMs()
      made.untilMs = found !== undefined && endedMs - nowMs >= MAX_WAIT_MS ? endedMs + LATE_SHARED_MS : nowMs + SHARED_MS
    })
    return result
  }

  /** An analysis that began before the incident may have missed its records: it counts when it names the incident's service. */
  const rankingFor = async (incident: TicketedIncident): Promise<MadeRanking | undefined> => {
    const { service, createdAt } = incident
    const atMs = analysisTime(incident)
    const made = await share(incident, atMs, Number.NEGATIVE_INFINITY)
    if (made === undefined || made.ranking.candidates.some(candidate => candidate.service === service)) return made
    return await share(incident, atMs, Date.parse(createdAt))
  }
  const causeFor = async (incident: TicketedIncident): Promise<FoundCause | undefined> => {
    const made = await rankingFor(incident)
    if (made === undefined) return undefined
    const { service, affectedServices, firstSeen } = incident
    return { rootCause: causeOf(made.ranking, [service, ...affectedServices], Date.parse(firstSeen)), windowMs: made.windowMs }
  }

  return async incident => {
    const done = new AbortController()
    const late = clock.sleep(MAX_WAIT_MS, done.signal).then(() => undefined)
    try {
      return await Promise.race([causeFor(incident), late])
    } finally {
      done.abort()
    }
  }
}
