/** Finds incidents that somebody is to be told about, and has them attended to (Spec: Components, ticketing agent; Decisions 6). */
import { ALL_INCIDENTS } from '../../../contract/indices.ts'
import type { TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import { isoTime } from '../../../domain/time/iso-time.ts'
import { keepBounded } from '../../../limits/keep-bounded.ts'
import { SearchStoreRefusal, type Versioned } from '../../../ports/search-store.ts'
import { documentKey } from '../document-key.ts'
import { findDue } from '../find-due.ts'
import { RecentVersions } from '../recent-versions.ts'
import { createTenantPlaces } from '../tenant-places.ts'
import { type AttendDeps, createAttending } from './attend-incident.ts'
import { createIncidentClaims } from './incident-claims.ts'
import { createNoticeUntold, type NoticeUntoldDeps } from './notice-untold.ts'

export interface IntakeDeps extends AttendDeps, NoticeUntoldDeps {
  /** Name that no other living agent has: claims under it that are not of this process are of one that is gone. */
  readonly soleName?: string | undefined
}

/** Incidents that are attended to at once, and those of one tenant among them. */
const MAX_AT_ONCE = 16
const MAX_OF_TENANT = 6
const KEPT_FREE = 4
/** Pause after a refusal of the store. */
const REFUSED_PAUSE_MS = 60_000
const MAX_REFUSED = 1_000
/** Pause until the next round while incidents wait for a place. */
const BUSY_MS = 50

export interface Intake {
  /** Begins to attend to what is due; resolves to the pause until the next round, undefined when nothing is left. */
  round(): Promise<number | undefined>
  /** Resolves when what was begun has ended. */
  idle(): Promise<void>
  /** Begins nothing more; resolves when what was begun has ended, or after `graceMs`: what is left then, another agent takes up. */
  stop(graceMs: number): Promise<void>
}

export function createIntake(deps: IntakeDeps): Intake {
  const { store, clock, log, soleName } = deps
  const places = createTenantPlaces({ atOnce: MAX_AT_ONCE, ofTenant: MAX_OF_TENANT, keptFree: KEPT_FREE }, clock)
  const seen = new RecentVersions()
  const claims = createIncidentClaims({ store, clock, soleName })
  const noticeUntold = createNoticeUntold(deps)
  const attendTo = createAttending(deps, { claims, noticeUntold, onWritten: written => seen.add(written) })
  const refusedUntil = new Map<string, number>()
  let isStopping = false

  const begin = (hit: Versioned<TicketedIncident>) => {
    const key = documentKey(hit)
    const work = attendTo(hit)
      .then(() => claims.forget(hit))
      .catch(error => {
        if (error instanceof SearchStoreRefusal) keepBounded(refusedUntil, key, clock.nowMs() + REFUSED_PAUSE_MS, MAX_REFUSED)
        log.warn({ error, incident: hit.id }, 'an incident waits for its tickets, tries again')
      })
    void places.take(key, hit.source.tenantId, work)
  }

  /** Incidents that are due, by tenant, the oldest first. */
  const findNews = async () => {
    const nowMs = clock.nowMs()
    const { groups } = await findDue<TicketedIncident>({
      store,
      index: ALL_INCIDENTS,
      filter: [{ bool: { should: [UNSEEN, attentionBefore(nowMs)], minimum_should_match: 1 } }],
      sort: [{ createdAt: { order: 'asc', unmapped_type: 'date' } }, { id: { order: 'asc', unmapped_type: 'keyword' } }],
      groupField: 'tenantId',
      room: places.freeFor,
    })
    return [...groups].map(([tenant, hits]) => ({ tenant, hits: hits.filter(hit => isNews(hit, nowMs)) }))
  }

  /** Whether a hit is to be attended to. Searches show an incident that was written a moment ago as it was before. */
  const isNews = (hit: Versioned<TicketedIncident>, nowMs: number): boolean => {
    const key = documentKey(hit)
    if (places.isTaken(key) || seen.isKnown(hit)) return false
    if ((refusedUntil.get(key) ?? 0) > nowMs) return false
    return hit.source.ticketing?.takenAt !== undefined || claims.isFree(hit)
  }

  return {
    async round() {
      const queues = await findNews()
      let left = 0
      // One of each tenant, then another one of each.
      for (let turn = 0; queues.some(({ hits }) => hits.length > turn); turn++)
        for (const { tenant, hits } of queues) {
          const hit = hits[turn]
          if (hit === undefined) continue
          if (isStopping) return undefined
          if (places.freeFor(tenant) > 0) begin({ ...hit, source: { ...hit.source, tenantId: tenant } })
          else left++
        }
      return left > 0 ? BUSY_MS : undefined
    },
    idle: places.idle,
    stop(graceMs) {
      isStopping = true
      return places.idleWithin(graceMs)
    },
  }
}

const UNSEEN = { bool: { filter: [{ term: { status: 'open' } }], must_not: [{ exists: { field: 'ticketing.takenAt' } }] } }

const attentionBefore = (nowMs: number) => ({ range: { 'ticketing.attentionAt': { lte: isoTime(nowMs) } } })
