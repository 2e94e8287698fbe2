/** Sends the first waiting row of a thread: notes the attempt, sends, notes how it ended (Decisions 6). */
import { incidentsIndex } from '../../contract/indices.ts'
import { buildTicketContent } from '../../domain/tickets/build-ticket-content.ts'
import { configuredSecrets } from '../../domain/tickets/configured-secrets.ts'
import {
  type AttemptEnd,
  beginAttempt,
  endAttempt,
  holdBack,
  keepRefused,
  mayHoldBack,
  noteWriting,
} from '../../domain/tickets/delivery.ts'
import { heldBack, type TicketedIncident, whySilent } from '../../domain/tickets/incident-tickets.ts'
import type { OutboxRow } from '../../domain/tickets/outbox-row.ts'
import { findSilence, type Silence } from '../../domain/tickets/silence.ts'
import { type Target, whyGone } from '../../domain/tickets/target.ts'
import { arrange, headOf, type SenderLease, type TicketThread } from '../../domain/tickets/ticket-thread.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IncidentPlatforms, TicketOutcome } from '../../ports/incident-platform.ts'
import { type SearchStore, SearchStoreRefusal, VersionConflict, type Versioned } from '../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../ports/ticketing-config.ts'
import type { Log } from '../../telemetry/log.ts'
import { incidentOf } from '../incident-of.ts'
import { within } from '../within.ts'
import { readSamples } from './read-samples.ts'
import type { SilenceStore } from './silence-store.ts'
import type { TargetLane } from './target-lane.ts'
import { againWith, fingerprint, settingsName, settingsSince, watchSettings } from './target-settings.ts'
import { changeThread, takeOwed } from './thread-store.ts'

export interface SendDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly platforms: Pick<IncidentPlatforms, Target['platform']>
  readonly config: TicketingConfigSource
  /** Default: there are none. */
  readonly silences?: Pick<SilenceStore, 'recent'>
  /** Names this process in leases. */
  readonly instance: string
  readonly publicUrl?: string
}

export interface SentRow {
  /** The thread as it is written now. */
  readonly thread: Versioned<TicketThread>
  readonly before: TicketThread
  /** Absent when nothing was sent. */
  readonly row?: OutboxRow
  readonly outcome?: TicketOutcome
  readonly incident?: TicketedIncident
}

/** One attempt, with all that it asks the platform. */
const SEND_TIMEOUT_MS = 30_000
/** The same after one that may have arrived: a platform's search may show a ticket a minute late, and is asked until then. */
const LOOK_TIMEOUT_MS = 75_000
/** A sender's lease lasts so much longer than the attempt: for the write of its end. */
const LEASE_MARGIN_MS = 15_000
/** Samples of a ticket are worth no more waiting. */
const SAMPLES_TIMEOUT_MS = 3_000
/** How long the end of an attempt is kept in memory while the store takes nothing. */
const MAX_RECORDING_MS = 600_000
const RECORD_AGAIN_MS = 500

let attempts = 0

/** Undefined when somebody else was first. The lane's turn was taken; it is used or given back. `stopping` cuts an attempt short. */
export async function sendRow(
  deps: SendDeps,
  hit: Versioned<TicketThread>,
  lane: TargetLane,
  stopping: AbortSignal,
): Promise<SentRow | undefined> {
  const { store, clock, config, instance } = deps
  const iso = (ms = clock.nowMs()) => new Date(ms).toISOString()
  let isTurnUsed = false
  try {
    const { tenantId, incidentId, platform } = hit.source
    const known = arrange(hit.source, iso())
    if (headOf(known) === undefined) return await write(store, hit, known)
    const [stored, loaded] = await Promise.all([store.get<unknown>(incidentsIndex(tenantId), incidentId), config.load(tenantId)])
    const incident = stored && incidentOf(stored)
    // Events that the incident owes count, though they are no rows yet: nobody is told of what is resolved since.
    const thread = incident === undefined ? known : takeOwed(known, incident, iso())
    const row = headOf(thread)
    if (row === undefined) return await write(store, hit, thread)
    const { targets, unusable } = loaded
    const target = targets.get(platform)
    const problem = unusable?.get(platform)
    if (incident !== undefined && problem !== undefined) {
      const outcome = { kind: 'rejected', reason: problem, isTargetBroken: true } as const
      const written = await write(store, hit, endAttempt(thread, outcome, clock.nowMs()))
      return written && { ...written, row, outcome }
    }
    const gone = incident === undefined ? 'the incident is no longer there' : whyGone(target, platform)
    if (incident === undefined || target === undefined || gone !== undefined)
      return await write(store, hit, endAttempt(thread, { kind: 'gone', reason: gone ?? '' }, clock.nowMs()))
    lane.configured(fingerprint(target))
    const settings = settingsName(target, hit.id)
    if (row.refusedSettings === settings) {
      lane.held(row.lastError ?? '', clock.nowMs())
      return await write(store, hit, keepRefused(thread, clock.nowMs()))
    }
    const silence = mayHoldBack(thread) ? await silenceOf(deps, incident, thread) : undefined
    if (silence !== undefined) {
      const isNoted = await noteHeldBack(store, { ...stored!, source: incident }, silence)
      return isNoted ? await write(store, hit, holdBack(thread, whySilent(silence), iso())) : undefined
    }
    const isLook = row.mayBeThere === true || row.isUnderWay === true
    const timeoutMs = isLook ? LOOK_TIMEOUT_MS : SEND_TIMEOUT_MS
    // Before the note that an attempt begins: one that is cut short while it reads needs no look.
    const samples = await within(
      clock,
      SAMPLES_TIMEOUT_MS,
      () => readSamples(store, incident),
      () => undefined,
    ).catch(() => undefined)
    if (stopping.aborted) return undefined
    const lease: SenderLease = { by: `${instance}/${++attempts}`, until: iso(clock.nowMs() + timeoutMs + LEASE_MARGIN_MS) }
    const begun = beginAttempt(thread, lease, iso())
    const claimed = await write(store, hit, begun).catch(async error => {
      if (error instanceof SearchStoreRefusal) throw error
      deps.log.warn({ error, platform, incident: incidentId }, 'a dispatch waits for the search store')
      // It may have been written all the same: then nobody would send before the lease runs out.
      await record(deps, hit, lease, { kind: 'interrupted', wasSent: false }, stopping)
      return undefined
    })
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
    const ask = async (): Promise<TicketOutcome | undefined> => {
      if (stopping.aborted) return undefined
      const { publicUrl } = deps
      const content = buildTicketContent({
        incident,
        row: first,
        samples: samples ?? new Map(),
        ...(publicUrl !== undefined && { publicUrl }),
      })
      isTurnUsed = true
      return lane.run(
        async () => {
          wasSent = true
          const outdated = watchSettings(deps, tenantId, target)
          const outcome = await sendWithin(deps, timeoutMs, stopping, outdated.signal, signal =>
            deps.platforms[target.platform].send(
              {
                target,
                event: first.event,
                content,
                ticketKey: begun.ticketKey,
                eventKey: first.id,
                ...(begun.ticket !== undefined && { ticket: begun.ticket }),
                ...(first.unreached !== undefined && { only: first.unreached }),
                mayBeThere: first.mayBeThere === true,
                beforeWriting,
                secrets: configuredSecrets(loaded),
                ...(first.unansweredAt !== undefined && { unansweredForMs: clock.nowMs() - Date.parse(first.unansweredAt) }),
              },
              signal,
            ),
          ).finally(outdated.end)
          const now = outdated.settings() ?? (outcome.kind === 'rejected' ? await settingsSince(config, tenantId, target) : undefined)
          return now === undefined ? outcome : againWith(outcome, target, now)
        },
        () => clock.nowMs(),
        begun.ticketStatus === undefined,
      )
    }
    const outcome = await ask()
    const restsUntilMs = lane.pause(clock.nowMs())?.untilMs
    const end: AttemptEnd =
      outcome === undefined || isCutShort(outcome, stopping)
        ? { kind: 'interrupted', wasSent }
        : { ...outcome, settings, ...(restsUntilMs !== undefined && { restsUntilMs }) }
    const recorded = await record(deps, hit, lease, end, stopping, noted)
    if (recorded === undefined) return undefined
    return { thread: recorded, before: begun, row: first, incident, ...(outcome !== undefined && { outcome }) }
  } finally {
    if (!isTurnUsed) lane.giveBack()
  }
}

/** The silence that an incident nobody has taken care of falls into now, unless somebody has asked for its ticket since it was made. */
async function silenceOf(
  { silences, clock }: SendDeps,
  incident: TicketedIncident,
  { askedAt = '' }: TicketThread,
): Promise<Silence | undefined> {
  if (silences === undefined || incident.status !== 'open') return undefined
  const silence = findSilence(await silences.recent(incident.tenantId), incident, clock.nowMs())
  return silence === undefined || askedAt > silence.createdAt ? undefined : silence
}

/** Notes in the incident what it waits for, so that it is told at the end of it; false where somebody else changed it first. */
async function noteHeldBack(store: SearchStore, stored: Versioned<TicketedIncident>, silence: Silence): Promise<boolean> {
  const { index, id, source } = stored
  if (source.ticketing?.quietBy !== undefined) return true
  try {
    await store.put(index, id, heldBack(source, silence), stored)
    return true
  } catch (error) {
    if (error instanceof VersionConflict) return false
    throw error
  }
}

/** Undefined when somebody else was first. */
async function write(store: SearchStore, hit: Versioned<TicketThread>, next: TicketThread): Promise<SentRow | undefined> {
  try {
    const version = await store.put(hit.index, hit.id, next, hit)
    return { thread: { ...hit, ...version, source: next }, before: hit.source }
  } catch (error) {
    if (error instanceof VersionConflict) return undefined
    throw error
  }
}

/** Undefined when somebody else has taken the thread since, or the store does not say that it is noted. */
async function noteBeforeWriting(
  { store, log }: SendDeps,
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

/** Never rejects for what the platform does; a defect of an adapter counts as an attempt that may have arrived. */
async function sendWithin(
  { clock, log }: SendDeps,
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
  { store, clock, log }: SendDeps,
  hit: Versioned<TicketThread>,
  lease: SenderLease,
  end: AttemptEnd,
  stopping: AbortSignal,
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
