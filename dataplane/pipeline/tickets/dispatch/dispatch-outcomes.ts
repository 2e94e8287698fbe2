/** An attempt to tell a target has ended: it is counted, a refusal is logged, and a row that failed for good has an audit entry. */
import type { TargetId } from '../../../contract/target-id.ts'
import { buildAuditEntry } from '../../../domain/incidents/audit-entry.ts'
import type { TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import type { OutboxRow } from '../../../domain/tickets/outbox-row.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import { writeAuditEntry } from '../../sinks/incidents/audit-trail.ts'
import { MAX_LANES } from '../lanes/lane-table.ts'
import type { RecentVersions } from '../recent-versions.ts'
import type { SentRow } from './sent-row.ts'

export interface Attempt {
  readonly target: TargetId
  /** `refused`: the target takes nothing until somebody mends it. */
  readonly result: 'delivered' | 'rejected' | 'refused' | 'retryable'
  readonly atMs: number
}

/** Is told of attempts. */
export interface DispatchListener {
  readonly onAttempt?: (attempt: Attempt) => void
  /** A row that will not be tried again by itself. */
  readonly onFailed?: (thread: TicketThread, row: OutboxRow) => void
  /** A target has the ticket of this incident now. */
  readonly onOpened?: (incident: TicketedIncident) => void
}

export interface DispatchOutcomesDeps extends DispatchListener {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
}

export interface DispatchOutcomes {
  tell(sent: SentRow): Promise<void>
  /** An audit entry for each row that failed for good. */
  tellFailures(before: TicketThread, after: TicketThread): Promise<void>
}

const REFUSAL = 'a ticket platform takes nothing until its settings are mended'

export function createDispatchOutcomes(deps: DispatchOutcomesDeps, seen: RecentVersions): DispatchOutcomes {
  const { store, clock, log, onAttempt, onFailed, onOpened } = deps
  /** Lanes whose target takes nothing until somebody mends its settings. */
  const refusing = new Set<string>()

  const tell = async ({ thread, before, row, outcome, incident }: SentRow) => {
    seen.add(thread)
    const { platform } = thread.source
    // Nothing was sent: that says nothing of the target.
    const isLeftOut = outcome?.kind === 'delivered' && outcome.isLeftOut === true
    if (row !== undefined && outcome !== undefined && outcome.kind !== 'unseen' && !isLeftOut) {
      onAttempt?.({ target: platform, result: isRefusal(outcome) ? 'refused' : outcome.kind, atMs: clock.nowMs() })
      tellRefusal(thread.source, outcome)
    }
    await tellFailures(before, thread.source)
    if (outcome?.kind === 'delivered' && row?.event === 'open' && incident !== undefined) onOpened?.(incident)
  }

  /** Logs a refusal once, until the target takes something again, as the target is tried each minute. */
  const tellRefusal = ({ lane, tenantId: tenant, platform }: TicketThread, outcome: TicketOutcome) => {
    const isRefusing = isRefusal(outcome)
    if (isRefusing && !refusing.has(lane)) log.error({ tenant, platform, reason: outcome.reason }, REFUSAL)
    if (isRefusing && refusing.size < MAX_LANES) refusing.add(lane)
    if (outcome.kind === 'delivered') refusing.delete(lane)
  }

  const tellFailures = async (before: TicketThread, after: TicketThread) => {
    for (const row of after.rows) {
      if (row.status !== 'failed' || before.rows.some(({ id, status }) => id === row.id && status === 'failed')) continue
      onFailed?.(after, row)
      const { incidentId, tenantId, platform } = after
      const details = `${row.event} not told to ${platform}: ${row.lastError ?? 'unknown reason'}`
      // The row says the same as the entry: an entry that cannot be written is not worth another attempt.
      await writeAuditEntry(store, tenantId, buildAuditEntry(incidentId, 'dispatch', isoTime(clock.nowMs()), details)).catch(error =>
        log.warn({ error, incident: incidentId }, 'no audit entry of a dispatch that failed'),
      )
    }
  }

  return { tell, tellFailures }
}

/** Whether a target refuses all that it is told, such as by a key that is not valid any more. */
function isRefusal(outcome: TicketOutcome): outcome is Extract<TicketOutcome, { kind: 'rejected' }> {
  return outcome.kind === 'rejected' && outcome.isTargetBroken === true
}
