/** One thing that one target is told about one incident, and how far that is (Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import { createUuid5, URL_NAMESPACE } from '../../hash/uuid5.ts'
import type { TicketEvent } from './ticket-event.ts'

/**
 * `refused`: the target takes nothing until somebody mends its configuration; callers see `failed`, and it is tried again now and then.
 * `sent`, `failed` and `suppressed` are for good.
 */
export type RowStatus = 'pending' | 'refused' | 'sent' | 'failed' | 'suppressed'

/**
 * Why a row is `suppressed`. `newer`: another row says it too, or undoes it. `there`: the change was made at the target. `unopened`: there is no ticket at
 * the target to tell it to; `target`: the target was removed or switched off; `quiet`: a silence, or a recurring incident that is to be quiet. `leftOut`: the
 * platform has no place for it.
 */
export type SuppressedBy = 'newer' | 'there' | 'unopened' | 'target' | 'quiet' | 'leftOut'

export interface StateChange {
  readonly actor?: string
  readonly note?: string
  readonly at: string
}

export interface OutboxRow {
  /** Names the event on the platform; the same from each agent that writes the row. */
  readonly id: string
  /** Number of the event of the incident. */
  readonly seq: number
  readonly event: TicketEvent
  readonly status: RowStatus
  readonly createdAt: string
  /** When the row is given up. */
  readonly deadlineAt: string
  /** Attempts that began. */
  readonly attempts: number
  readonly nextAttemptAt: string
  /** An attempt began, and its end is not written down. */
  readonly isUnderWay?: true
  /** An attempt may have reached the platform without an answer. */
  readonly mayBeThere?: true
  /** When the last attempt ended that got no answer at all. */
  readonly unansweredAt?: string
  /** When an attempt first looked for what may be there, and saw nothing. */
  readonly lookedSince?: string
  readonly suppressedBy?: SuppressedBy
  readonly lastError?: string
  /** Names the settings that the target refused for good: they are not tried again by themselves. */
  readonly refusedSettings?: string
  /** Delivered, except to these recipients: the row waits for them, until there is something newer to tell. */
  readonly unreached?: readonly string[]
  /** The platform's deviation from the request. */
  readonly note?: string
  readonly sentAt?: string
  /** The severity that the target is told, where it is not the incident's. */
  readonly severity?: Severity
  readonly change?: StateChange
  readonly news: readonly string[]
}

/** Rows that may still be sent. */
export function isUnsettled({ status }: OutboxRow): boolean {
  return status === 'pending' || status === 'refused'
}

const uuid = createUuid5(createUuid5(URL_NAMESPACE)('https://logpipeline.dev/dispatch'))

/** The row as it was delivered: nobody is told again. */
export function withoutUnreached(row: OutboxRow): OutboxRow {
  const { unreached: _u, isUnderWay: _w, mayBeThere: _m, unansweredAt: _a, lookedSince: _l, lastError, ...rest } = row
  return { ...rest, status: 'sent', ...(lastError !== undefined && { note: lastError }) }
}

/** Names an event of an incident on a target. */
export function rowId(tenant: string, incidentId: string, target: string, seq: number): string {
  return uuid(`${tenant}/${incidentId}/${target}/${seq}`)
}

/** The document of all rows of an incident and a target. */
export function threadId(tenant: string, incidentId: string, target: string): string {
  return uuid(`${tenant}/${incidentId}/${target}`)
}

const PLAIN_KEY = /^[a-z0-9-]{1,100}$/

/** Names the incident on a platform: the incident's id where that is plain, with the target's name for a platform that is configured several times. */
export function ticketKey(tenant: string, incidentId: string, target: string): string {
  const name = target.split(':')[1]
  const key = PLAIN_KEY.test(incidentId) ? incidentId : uuid(`${tenant}/${incidentId}`)
  return name === undefined ? key : `${key}-${name}`
}
