/** Deals with the first waiting row of a thread: ends it where there is nothing to tell, else tells it (Decisions 6). */
import { incidentsIndex } from '../../../contract/indices.ts'
import { configuredSecrets } from '../../../domain/tickets/configured-secrets.ts'
import { endAttempt, holdBack, keepRefused, mayHoldBack } from '../../../domain/tickets/delivery.ts'
import { heldBack, type TicketedIncident, whySilent } from '../../../domain/tickets/incident-tickets.ts'
import { findSilence, type Silence } from '../../../domain/tickets/silence.ts'
import { whyGone } from '../../../domain/tickets/target.ts'
import { arrange, headOf, type TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../../../ports/search-store.ts'
import { incidentOf } from '../../incident-of.ts'
import type { TargetLane } from '../lanes/target-lane.ts'
import type { SilenceStore } from '../silence-store.ts'
import { takeOwed } from '../thread-store.ts'
import { type AttemptDeps, attemptRow, type DueRow } from './attempt-row.ts'
import { type SentRow, writeThread } from './sent-row.ts'
import { fingerprint, settingsName } from './target-settings.ts'

export interface SendDeps extends AttemptDeps {
  /** Default: there are none. */
  readonly silences?: Pick<SilenceStore, 'recent'>
}

/** Undefined when somebody else was first. The lane's turn was taken; it is used or given back. `stopping` cuts an attempt short. */
export async function sendRow(
  deps: SendDeps,
  hit: Versioned<TicketThread>,
  lane: TargetLane,
  stopping: AbortSignal,
): Promise<SentRow | undefined> {
  let isTurnUsed = false
  const run: TargetLane['run'] = (...attempt) => {
    isTurnUsed = true
    return lane.run(...attempt)
  }
  try {
    const due = await findDueRow(deps, hit, lane)
    if ('sent' in due) return due.sent
    return await attemptRow(deps, hit, due, { run, pause: nowMs => lane.pause(nowMs) }, stopping)
  } finally {
    if (!isTurnUsed) lane.giveBack()
  }
}

/** Nothing is to be told now. */
interface Settled {
  /** Undefined when somebody else was first. */
  readonly sent: SentRow | undefined
}

/** The first waiting row that is to be told now; rows for which there is nothing to tell are ended. */
async function findDueRow(deps: SendDeps, hit: Versioned<TicketThread>, lane: TargetLane): Promise<DueRow | Settled> {
  const { store, clock, config } = deps
  const { tenantId, incidentId, platform } = hit.source
  const settle = async (next: TicketThread): Promise<Settled> => ({ sent: await writeThread(store, hit, next) })
  const known = arrange(hit.source, isoTime(clock.nowMs()))
  if (headOf(known) === undefined) return settle(known)
  const [stored, loaded] = await Promise.all([store.get<unknown>(incidentsIndex(tenantId), incidentId), config.load(tenantId)])
  const incident = stored && incidentOf(stored)
  // Events that the incident owes count, though they are no rows yet: nobody is told of what is resolved since.
  const thread = incident === undefined ? known : takeOwed(known, incident, isoTime(clock.nowMs()))
  const row = headOf(thread)
  if (row === undefined) return settle(thread)
  const problem = loaded.unusable?.get(platform)
  if (incident !== undefined && problem !== undefined) {
    const outcome = { kind: 'rejected', reason: problem, isTargetBroken: true } as const
    const { sent } = await settle(endAttempt(thread, outcome, clock.nowMs()))
    return { sent: sent && { ...sent, row, outcome } }
  }
  const target = loaded.targets.get(platform)
  const gone = incident === undefined ? 'the incident is no longer there' : whyGone(target, platform)
  if (incident === undefined || target === undefined || gone !== undefined)
    return settle(endAttempt(thread, { kind: 'gone', reason: gone ?? '' }, clock.nowMs()))
  lane.configured(fingerprint(target))
  const settings = settingsName(target, hit.id)
  if (row.refusedSettings === settings) {
    lane.held(row.lastError ?? '', clock.nowMs())
    return settle(keepRefused(thread, clock.nowMs()))
  }
  const silence = mayHoldBack(thread) ? await silenceOf(deps, incident, thread) : undefined
  if (silence !== undefined) {
    const isNoted = await noteHeldBack(store, { ...stored!, source: incident }, silence)
    return isNoted ? settle(holdBack(thread, whySilent(silence), isoTime(clock.nowMs()))) : { sent: undefined }
  }
  return { thread, row, incident, target, settings, secrets: configuredSecrets(loaded) }
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
