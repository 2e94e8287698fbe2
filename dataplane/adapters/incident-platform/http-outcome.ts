/** The outcome for the ticket of a platform's answer: the one place that tells "never" from "not now" and "nobody knows". */

import { retryAfterMs } from '../../limits/retry-after.ts'
import type { TicketOutcome } from '../../ports/incident-platform.ts'
import { type OutboundAnswer, TargetRefused, TargetUnreachable } from '../../ports/outbound-http.ts'
import { answerText } from './answer-text.ts'

export type Failure = Exclude<TicketOutcome, { readonly kind: 'delivered' }>

interface Meaning {
  readonly kind: Failure['kind']
  readonly isAmbiguous?: true
  readonly isUnanswered?: true
  readonly isTargetBroken?: true
  readonly isForbidden?: true
  readonly isTargetDown?: true
  readonly says: string
}

/** By status; by its first digit where it has no row. */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  200: { kind: 'retryable', isAmbiguous: true, isTargetDown: true, says: 'an answer that is none of this platform' },
  300: { kind: 'rejected', isTargetBroken: true, says: 'a redirect, which is not followed: configure the address that it leads to' },
  400: { kind: 'rejected', says: 'the request was refused' },
  401: { kind: 'rejected', isTargetBroken: true, says: 'the credentials were refused' },
  402: { kind: 'rejected', isTargetBroken: true, says: 'the plan of the account does not allow it' },
  403: { kind: 'rejected', isTargetBroken: true, isForbidden: true, says: 'it is not allowed' },
  404: { kind: 'rejected', isTargetBroken: true, says: 'there is no such address' },
  408: { kind: 'retryable', says: 'the request came too slowly' },
  410: { kind: 'rejected', isTargetBroken: true, says: 'it is gone' },
  425: { kind: 'retryable', says: 'the request came too early' },
  429: { kind: 'retryable', says: 'too many requests' },
  500: { kind: 'retryable', isAmbiguous: true, isTargetDown: true, says: 'the platform failed' },
  502: { kind: 'retryable', isAmbiguous: true, isUnanswered: true, isTargetDown: true, says: 'a gateway got no answer of the platform' },
  504: {
    kind: 'retryable',
    isAmbiguous: true,
    isUnanswered: true,
    isTargetDown: true,
    says: 'a gateway got no answer of the platform in time',
  },
}

/** Seconds over which Opsgenie counts the requests of an account: it sends no `Retry-After`. */
const OPSGENIE_PERIOD = 'x-ratelimit-period-in-sec'

/** The outcome of an answer that does not mean success; `platform` is the platform's name for people. */
export function outcomeOfAnswer(platform: string, answer: OutboundAnswer, nowMs: number): Failure {
  const { says, ...meaning } = MEANINGS[answer.status] ?? MEANINGS[100 * Math.floor(answer.status / 100)] ?? MEANINGS[200]!
  const words = answerText(answer)
  const reason = `${platform} answered ${answer.status}: ${says}${words === '' ? '' : ` (${words})`}`
  if (meaning.kind === 'rejected')
    return {
      kind: 'rejected',
      reason,
      ...(meaning.isTargetBroken && { isTargetBroken: true }),
      ...(meaning.isForbidden && { isForbidden: true }),
    }
  const { 'retry-after': after, [OPSGENIE_PERIOD]: period } = answer.headers
  // No time, such as a date that is over, is no word on how long.
  const afterMs = retryAfterMs(after ?? (answer.status === 429 ? period : undefined), nowMs) || undefined
  // Too many requests, and no word on how long: the target itself has to rest, or each ticket would ask on its own.
  const isTargetDown = meaning.isTargetDown || (answer.status === 429 && afterMs === undefined)
  return {
    kind: 'retryable',
    reason,
    ...(afterMs !== undefined && { afterMs }),
    ...(meaning.isAmbiguous && { isAmbiguous: true }),
    ...(meaning.isUnanswered && { isUnanswered: true }),
    ...(isTargetDown && { isTargetDown: true }),
  }
}

/** The outcome of a request without an answer. `isStopping`: our own side gave up, which says nothing of the platform. */
export function outcomeOfError(platform: string, error: unknown, isStopping: boolean): Failure {
  if (error instanceof TargetRefused) return { kind: 'rejected', reason: `${platform}: ${error.message}`, isTargetBroken: true }
  if (!(error instanceof TargetUnreachable)) throw error
  return {
    kind: 'retryable',
    reason: `${platform} does not answer: ${error.message}`,
    ...(error.wasSent && { isAmbiguous: true, isUnanswered: true }),
    ...(!isStopping && { isTargetDown: true }),
  }
}
