/** A ticket platform as the product uses it. One adapter for each of `PLATFORMS`; all pass `testing/incident-platform-suite.ts`. */
import type { PlatformName } from '../contract/platforms.ts'
import type { Target } from '../domain/tickets/target.ts'
import type { TicketContent } from '../domain/tickets/ticket-content.ts'
import type { TicketEvent } from '../domain/tickets/ticket-event.ts'

/** The ticket on the platform, as far as the platform told of it. */
export interface ExternalTicket {
  /** Such as `OPS-17`, or the key under which the platform knows the incident. */
  readonly externalId: string
  /** Absolute address for people. */
  readonly url?: string
  /** Facts that the adapter needs for later events of the ticket, such as the hash of the routing key that opened it. No secrets. */
  readonly memory?: Readonly<Record<string, string>>
}

export interface TicketRequest {
  readonly target: Target
  readonly event: TicketEvent
  readonly content: TicketContent
  /** Names the incident on the platform: the same for all events of one incident on one target, at most 200 of `a-z0-9-`. */
  readonly ticketKey: string
  /** Names this event: the same for all attempts, other for every other event. At most 100 of `a-z0-9-`. */
  readonly eventKey: string
  /** The ticket after the newest delivered event of the incident on this target; absent before the first. */
  readonly ticket?: ExternalTicket
  /** An attempt before this one may have reached the platform without an answer: look before you create. */
  readonly mayBeThere: boolean
  /** ms since an attempt ended without any answer. Absent when each attempt was answered: an answer such as 503 seldom leaves anything behind. */
  readonly unansweredForMs?: number
}

export type TicketOutcome =
  /** `note`: what was done otherwise than asked, such as a comment where the workflow has no such transition. */
  | { readonly kind: 'delivered'; readonly ticket?: ExternalTicket; readonly note?: string }
  /** The platform will never take it. `isTargetBroken`: nor anything else until somebody mends the configuration (401, 403, 404, 410). */
  | { readonly kind: 'rejected'; readonly reason: string; readonly isTargetBroken?: true }
  /**
   * Not now. `afterMs`: what the platform asked for (`Retry-After`). `isAmbiguous`: it may have been taken (reset or time-out after the request was
   * sent, 5xx); `isUnanswered`: nothing speaks against it. `isTargetDown`: the platform, not this event, is to blame.
   */
  | {
      readonly kind: 'retryable'
      readonly reason: string
      readonly afterMs?: number
      readonly isAmbiguous?: true
      readonly isUnanswered?: true
      readonly isTargetDown?: true
    }

export type ConnectionTest = { readonly ok: true; readonly message: string } | { readonly ok: false; readonly message: string }

/** Reasons and messages are for people and hold no secrets. Neither function throws for what a platform does; an aborted `signal` is `retryable`. */
export interface IncidentPlatform {
  send(request: TicketRequest, signal: AbortSignal): Promise<TicketOutcome>
  /** Makes no ticket where the platform allows that. */
  test(target: Target, signal: AbortSignal): Promise<ConnectionTest>
}

export type IncidentPlatforms = Readonly<Record<PlatformName, IncidentPlatform>> & { close(): Promise<void> }
