/** One attempt to tell a row: notes that it begins, sends, notes how it ended (Decisions 6). */
import { buildTicketContent } from '../../../domain/tickets/build-ticket-content.ts'
import { type AttemptEnd, beginAttempt, endAttempt, noteWriting } from '../../../domain/tickets/delivery.ts'
import type { TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import type { OutboxRow } from '../../../domain/tickets/outbox-row.ts'
import type { Target } from '../../../domain/tickets/target.ts'
import { headOf, type SenderLease, type TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { IncidentPlatforms, TicketOutcome, TicketRequest } from '../../../ports/incident-platform.ts'
import { type SearchStore, SearchStoreRefusal, VersionConflict, type Versioned } from '../../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import type { Log } from '../../../telemetry/log.ts'
import { within } from '../../within.ts'
import type { TargetLane } from '../lanes/target-lane.ts'
import { changeThread } from '../thread-store.ts'
import { readSamples } from './read-samples.ts'
import { type SentRow, writeThread } from './sent-row.ts'
import { againWith, settingsSince, watchSettings } from './target-settings.ts'

export interface AttemptDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly platforms: Pick<IncidentPlatforms, Target['platform']>
  readonly config: TicketingConfigSource
  /** Names this process in leases. */
  readonly instance: string
  readonly publicUrl?: string
}

/** A row that is to be told now, and what with. */
export interface DueRow {
  /** As it is before the attempt, with the events that the incident owed. */
  readonly thread: TicketThread
  /** The first that waits. */
  readonly row: OutboxRow
  readonly incident: TicketedIncident
  readonly target: Target
  /** The name of the target's settings. */
  readonly settings: string
  /** The secrets of the whole configuration. */
  readonly secrets: readonly string[]
}

/** One attempt, with all that it asks the platform. */
const SEND_TIMEOUT_MS = 30_000
/** The same after one that may have arrived: the platform is asked before anything is written. */
const LOOK_TIMEOUT_MS = 50_000
/** A sender's lease lasts so much longer than the attempt: for the write of its end. */
const LEASE_MARGIN_MS = 15_000
/** Samples of a ticket are worth no more waiting. */
const SAMPLES_TIMEOUT_MS = 3_000
/** How long the end of an attempt is kept in memory while the store takes nothing. */
const MAX_RECORDING_MS = 600_000
const RECORD_AGAIN_MS = 500

let attempts = 0

/** An attempt, under the lease of this process. */
interface Attempt extends AttemptDeps {
  readonly hit: Versioned<TicketThread>
  readonly lease: SenderLease
  readonly stopping: AbortSignal
}

/** Undefined when somebody else was first, or the attempt was cut short before its beginning was noted. */
export async function attemptRow(
  deps: AttemptDeps,
  hit: Versioned<TicketThread>,
  { thread, row, incident, target, settings, secrets }: DueRow,
  lane: Pick<TargetLane, 'run' | 'pause'>,
  stopping: AbortSignal,
): Promise<SentRow | undefined> {
  const { store, clock, instance, publicUrl } = deps
  const timeoutMs = row.mayBeThere === true || row.isUnderWay === true ? LOOK_TIMEOUT_MS : SEND_TIMEOUT_MS
  // Before the note that an attempt begins: one that is cut short while it reads needs no look.
  const samples = await within(
    clock,
    SAMPLES_TIMEOUT_MS,
    () => readSamples(store, incident),
    () => undefined,
  ).catch(() => undefined)
  if (stopping.aborted) return undefined
  const lease: SenderLease = { by: `${instance}/${++attempts}`, until: isoTime(clock.nowMs() + timeoutMs + LEASE_MARGIN_MS) }
  const attempt: Attempt = { ...deps, hit, lease, stopping }
  const begun = beginAttempt(thread, lease, isoTime(clock.nowMs()))
  const claimed = await claim(attempt, begun)
  if (claimed === undefined) return undefined

  let noted = claimed.thread
  const beforeWriting = async () => {
    if (noted.source.lease?.isLooking !== true) return true
    const now = await noteBeforeWriting(deps, noted, lease.by)
    noted = now ?? noted
    return now !== undefined
  }
  const first = headOf(begun)!
  let wasSent = false
  let outcome: TicketOutcome | undefined
  if (!stopping.aborted) {
    const content = buildTicketContent({
      ...{ incident, row: first, samples: samples ?? new Map() },
      ...(publicUrl !== undefined && { publicUrl }),
    })
    const send = () => {
      wasSent = true
      const request = { ...requestFor(begun, first, clock.nowMs()), target, content, secrets, beforeWriting }
      return sendTo(deps, hit.source.tenantId, request, timeoutMs, stopping)
    }
    outcome = await lane.run(send, () => clock.nowMs(), begun.ticketStatus === undefined)
  }
  const restsUntilMs = lane.pause(clock.nowMs())?.untilMs
  const end: AttemptEnd =
    outcome === undefined || isCutShort(outcome, stopping)
      ? { kind: 'interrupted', wasSent }
      : { ...outcome, settings, ...(restsUntilMs !== undefined && { restsUntilMs }) }
  const recorded = await record(attempt, end, noted)
  if (recorded === undefined) return undefined
  return { thread: recorded, before: begun, row: first, incident, ...(outcome !== undefined && { outcome }) }
}

/** The request to the platform, as far as thread and row say it. */
function requestFor(thread: TicketThread, row: OutboxRow, nowMs: number) {
  const msSince = (at: string) => Math.max(0, nowMs - Date.parse(at))
  return {
    ...{ event: row.event, ticketKey: thread.ticketKey, eventKey: row.id, mayBeThere: row.mayBeThere === true },
    ...(thread.ticket !== undefined && { ticket: thread.ticket }),
    ...(row.unreached !== undefined && { only: row.unreached }),
    ...(row.unansweredAt !== undefined && { unansweredForMs: msSince(row.unansweredAt) }),
    ...(row.lookedSince !== undefined && { lookedForMs: msSince(row.lookedSince) }),
  } satisfies Partial<TicketRequest>
}

/** Writes that the attempt begins; undefined when somebody else was first, or the store does not say that it is written. */
async function claim(attempt: Attempt, begun: TicketThread): Promise<SentRow | undefined> {
  const { store, log, hit } = attempt
  try {
    return await writeThread(store, hit, begun)
  } catch (error) {
    if (error instanceof SearchStoreRefusal) throw error
    const { platform, incidentId: incident } = hit.source
    log.warn({ error, platform, incident }, 'a dispatch waits for the search store')
    // It may have been written all the same: then nobody would send before the lease runs out.
    await record(attempt, { kind: 'interrupted', wasSent: false })
    return undefined
  }
}

/** Undefined when somebody else has taken the thread since, or the store does not say that it is noted. */
async function noteBeforeWriting(
  { store, log }: AttemptDeps,
  { index, id, source }: Versioned<TicketThread>,
  by: string,
): Promise<Versioned<TicketThread> | undefined> {
  try {
    const noted = await changeThread(store, source.tenantId, id, thread => thread && noteWriting(thread, by))
    return noted?.source.lease?.by === by ? { ...noted, index } : undefined
  } catch (error) {
    log.warn(
      { error, platform: source.platform, incident: source.incidentId },
      'a dispatch was not sent, as that could not be noted; tries again',
    )
    return undefined
  }
}

/** Sends with the settings that count; the outcome says so where these changed meanwhile. */
async function sendTo(
  deps: AttemptDeps,
  tenant: string,
  request: TicketRequest,
  timeoutMs: number,
  stopping: AbortSignal,
): Promise<TicketOutcome> {
  const { platforms, config } = deps
  const { target } = request
  const outdated = watchSettings(deps, tenant, target)
  const outcome = await sendWithin(deps, timeoutMs, stopping, outdated.signal, signal =>
    platforms[target.platform].send(request, signal),
  ).finally(outdated.end)
  const now = outdated.settings() ?? (outcome.kind === 'rejected' ? await settingsSince(config, tenant, target) : undefined)
  return now === undefined ? outcome : againWith(outcome, target, now)
}

/** Never rejects for what the platform does; a defect of an adapter counts as an attempt that may have arrived. */
async function sendWithin(
  { clock, log }: AttemptDeps,
  timeoutMs: number,
  stopping: AbortSignal,
  outdated: AbortSignal,
  send: (signal: AbortSignal) => Promise<TicketOutcome>,
): Promise<TicketOutcome> {
  const ended = new AbortController()
  const late = new AbortController()
  const reason = `no answer within ${timeoutMs / 1_000} s`
  const timeout = clock.sleep(timeoutMs, ended.signal).then((): TicketOutcome => {
    if (!ended.signal.aborted) late.abort()
    return { kind: 'retryable', reason, isAmbiguous: true, isUnanswered: true, isTargetDown: true }
  })
  const stopped = new Promise<TicketOutcome>(resolve => {
    const stop = () => resolve({ kind: 'retryable', reason: CUT_SHORT, isAmbiguous: true, isUnanswered: true })
    if (stopping.aborted) stop()
    else stopping.addEventListener('abort', stop, { once: true, signal: ended.signal })
  })
  try {
    return await Promise.race([send(AbortSignal.any([late.signal, stopping, outdated])), timeout, stopped])
  } catch (error) {
    log.error({ error }, 'a ticket platform failed in a way that it should not')
    return { kind: 'retryable', reason: 'internal error', isAmbiguous: true }
  } finally {
    ended.abort()
  }
}

const CUT_SHORT = 'the agent stops'

function isCutShort(outcome: TicketOutcome, stopping: AbortSignal): boolean {
  return stopping.aborted && outcome.kind === 'retryable' && outcome.isAmbiguous === true
}

/**
 * Writes how an attempt ended, again and again while the store is away: it must not be forgotten. Rows that came meanwhile stay. Undefined when
 * somebody else has taken the thread since.
 */
async function record(
  { store, clock, log, hit, lease, stopping }: Attempt,
  end: AttemptEnd,
  claimed?: Versioned<TicketThread>,
): Promise<Versioned<TicketThread> | undefined> {
  // Without an attempt the lease is all that there is to mend.
  const untilMs = claimed === undefined ? Date.parse(lease.until) : clock.nowMs() + MAX_RECORDING_MS
  let current = claimed
  for (;;) {
    try {
      current ??= await store.get<TicketThread>(hit.index, hit.id)
      if (current?.source.lease?.by !== lease.by) return undefined
      const source = endAttempt(current.source, end, clock.nowMs())
      return { ...current, ...(await store.put(current.index, current.id, source, current)), source }
    } catch (error) {
      current = undefined
      if (error instanceof VersionConflict) continue
      if (error instanceof SearchStoreRefusal || stopping.aborted || clock.nowMs() >= untilMs) {
        const { incidentId: incident, platform } = hit.source
        if (claimed !== undefined) log.error({ error, incident, platform }, 'the end of a dispatch was not written')
        return undefined
      }
      await clock.sleep(RECORD_AGAIN_MS, stopping)
    }
  }
}
