/** A ticket platform as the product uses it. One adapter for each of `PLATFORMS`; all pass `testing/incident-platform-suite.ts`. */
import type { PlatformName } from '../contract/platforms.ts'
import type { Target } from '../domain/tickets/target.ts'
import type { TicketContent } from '../domain/tickets/ticket-content.ts'
import type { TicketEvent } from '../domain/tickets/ticket-event.ts'
import type { ExternalTicket, TicketOutcome } from '../domain/tickets/ticket-outcome.ts'

export type { ExternalTicket, TicketOutcome }

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
  /** Everybody else has been told: these recipients alone are told again. */
  readonly only?: readonly string[]
  /** An attempt before this one may have reached the platform without an answer: look before you create. */
  readonly mayBeThere: boolean
  /** ms since an attempt ended without any answer. Absent when each attempt was answered: an answer such as 503 seldom leaves anything behind. */
  readonly unansweredForMs?: number
  /** ms since it was first looked for, where it was and nothing was seen (`unseen`). */
  readonly lookedForMs?: number
  /**
   * To be awaited before the first call that changes anything on the platform, where there is one: an attempt that is cut short before has left nothing
   * behind. False: the attempt must not change anything.
   */
  readonly beforeWriting?: () => Promise<boolean>
  /** Secrets beside those of the target, such as those of other targets, that no reason or note may hold. Default: none. */
  readonly secrets?: readonly string[]
}

export type ConnectionTest = { readonly ok: true; readonly message: string } | { readonly ok: false; readonly message: string }

/** Reasons and messages are for people and hold no secrets. Neither function throws for what a platform does; an aborted `signal` is `retryable`. */
export interface IncidentPlatform {
  send(request: TicketRequest, signal: AbortSignal): Promise<TicketOutcome>
  /** Makes no ticket where the platform allows that. `secrets`: as in `TicketRequest`. */
  test(target: Target, signal: AbortSignal, secrets?: readonly string[]): Promise<ConnectionTest>
}

export type IncidentPlatforms = Readonly<Record<PlatformName, IncidentPlatform>> & { close(): Promise<void> }
