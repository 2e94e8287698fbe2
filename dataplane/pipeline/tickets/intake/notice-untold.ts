/** Tells the operators, in log and counter, of incidents that nobody is told of. */
import type { TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import { keepBounded } from '../../../limits/keep-bounded.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'

/** The log tells of incidents that nobody was told of once in that time, for each tenant and reason. */
const UNTOLD_PAUSE_MS = 3_600_000
const MAX_UNTOLD = 1_000

export interface NoticeUntoldDeps {
  readonly clock: Clock
  readonly log: Log
  /** An incident was routed to nobody, for the first time. */
  onUntold?(): void
}

/** `wasTold`: before now, nothing said that nobody is told of the incident. Incidents of which somebody is told are left alone. */
export type NoticeUntold = (incident: TicketedIncident, wasTold: boolean) => void

export function createNoticeUntold({ clock, log, onUntold }: NoticeUntoldDeps): NoticeUntold {
  /** When the log told of it last, by tenant and reason. */
  const toldMs = new Map<string, number>()
  return (incident, wasTold) => {
    if (!isUntold(incident)) return
    const { id, tenantId: tenant, service, severity, ticketing } = incident
    const reason = ticketing?.untold
    if (wasTold) onUntold?.()
    const key = `${tenant}\n${reason}`
    const nowMs = clock.nowMs()
    if (isRecent(toldMs.get(key) ?? Number.NEGATIVE_INFINITY, UNTOLD_PAUSE_MS, nowMs)) return
    keepBounded(toldMs, key, nowMs, MAX_UNTOLD)
    log.warn({ tenant, incident: id, service, severity, reason }, 'nobody is told of an incident')
  }
}

/** An old one tells nobody by its age, and one that was not taken up because it is over. */
function isUntold({ platforms, ticketing }: TicketedIncident): boolean {
  return platforms.length === 0 && ticketing?.untold !== undefined && ticketing.takenAt !== undefined && ticketing.quietBy !== 'age'
}
