/** How a ticket platform answers an event. */

/** The ticket on the platform, as far as the platform told of it. */
export interface ExternalTicket {
  /** Such as `OPS-17`, or the key under which the platform knows the incident. */
  readonly externalId: string
  /** Absolute address for people. */
  readonly url?: string
  /** Facts that the adapter needs for later events of the ticket, such as the hash of the routing key that opened it. No secrets. */
  readonly memory?: Readonly<Record<string, string>>
}

/** Reasons and notes are for people and hold no secrets. */
export type TicketOutcome =
  /**
   * `note`: what was done otherwise than asked, such as a comment where the workflow has no such transition. `unreached`: recipients that are put off, and
   * are to be told again without the others. `isLeftOut`: nothing was sent, as the platform has no place for it; the note says why.
   */
  | {
      readonly kind: 'delivered'
      readonly ticket?: ExternalTicket
      readonly note?: string
      readonly unreached?: readonly string[]
      readonly isLeftOut?: true
    }
  /**
   * The platform will never take it. `isTargetBroken`: nor anything else until somebody mends the configuration (401, 403, 404, 410). `isForbidden`: it
   * may be changes of this kind alone that the account has no right to. `untilChanged`: the same settings are refused however often they are tried.
   */
  | {
      readonly kind: 'rejected'
      readonly reason: string
      readonly isTargetBroken?: true
      readonly isForbidden?: true
      readonly untilChanged?: true
    }
  /**
   * Not now. `afterMs`: what the platform asked for (`Retry-After`). `isAmbiguous`: it may have been taken (reset or time-out after the request was
   * sent, 5xx); `isUnanswered`: nothing speaks against it. `isTargetDown`: the platform, not this event, is to blame. `settingsChanged`: the attempt was
   * made with settings that count no longer.
   */
  | {
      readonly kind: 'retryable'
      readonly reason: string
      readonly afterMs?: number
      readonly isAmbiguous?: true
      readonly isUnanswered?: true
      readonly isTargetDown?: true
      readonly settingsChanged?: true
    }
  /** Nothing was sent, as an earlier attempt may have made what does not show yet. `lookAgainMs`: the pause before the next look. */
  | { readonly kind: 'unseen'; readonly reason: string; readonly lookAgainMs: number }
