/** The common part of all platforms over HTTP: calls with their time, outcomes of failed ones, texts without secrets. */
import { secretsOfTarget } from '../../domain/tickets/configured-secrets.ts'
import { redact } from '../../domain/tickets/redact.ts'
import type { Target } from '../../domain/tickets/target.ts'
import { jsonOf } from '../../json/json-of.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ExternalTicket, IncidentPlatform, TicketOutcome, TicketRequest } from '../../ports/incident-platform.ts'
import type { OutboundHttp, OutboundRequest } from '../../ports/outbound-http.ts'
import { type Failure, outcomeOfAnswer, outcomeOfError } from './http-outcome.ts'
import { at } from './json-at.ts'
import { field } from './target-field.ts'

/** Longest call; an event takes up to five. */
const CALL_MS = 20_000
const MAX_ANSWER_BYTES = 262_144
/** The longest list of comments or notes: each may have as much text as a ticket. */
const MAX_NOTES_BYTES = 4_194_304

/** The reason where an attempt was given to somebody else, or could not be noted. */
export const NOT_NOTED = 'nothing was sent, as the attempt could not be noted before'

export interface Call {
  readonly method: OutboundRequest['method']
  readonly url: string
  readonly body?: object
  /** Statuses of success. */
  readonly expects: readonly number[]
  /** Further statuses that the caller looks at itself. */
  readonly also?: readonly number[]
  /** For a `POST` that changes nothing, such as a search. */
  readonly isRead?: boolean
  /** For a list of what people and the product wrote: its answer may be long. */
  readonly isOfNotes?: boolean
}

export interface Reply {
  readonly status: number
  readonly text: string
  /** Undefined when the answer is no JSON. */
  readonly json: unknown
  /** The outcome if this answer fails the event. */
  readonly failure: () => Failure
}

/** The way to one target for the time of one event. */
export interface TargetCalls {
  /** Throws `NotDelivered` for any status that is neither expected nor looked at. */
  call(call: Call): Promise<Reply>
  /** Throws `NotDelivered` when it is cut short. */
  wait(ms: number): Promise<void>
}

/** Ends the work on an event, from wherever it is; `createHttpPlatform` alone catches it. */
export class NotDelivered extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.reason)
    this.name = 'NotDelivered'
    this.failure = failure
  }
}

export interface Delivered {
  readonly ticket?: ExternalTicket
  readonly note?: string
  /** Nothing was sent. */
  readonly isLeftOut?: true
}

export interface HttpContract {
  /** For people. */
  readonly name: string
  /** Sent with every call. */
  headers(target: Target): Readonly<Record<string, string>>
  /** Other forms of the secret fields, which no reason may hold either. */
  secretForms?(target: Target): readonly string[]
  send(request: TicketRequest, calls: TargetCalls): Promise<Delivered>
  /** Resolves with the test's result, for people. */
  test(target: Target, calls: TargetCalls): Promise<string>
}

export interface HttpPlatformDeps {
  readonly outbound: OutboundHttp
  readonly clock: Clock
}

export function createHttpPlatform(contract: HttpContract, { outbound, clock }: HttpPlatformDeps): IncidentPlatform {
  /** Runs `work`; the failure that it ended with, without secrets. */
  const attempt = async <T>(
    { target, beforeWriting = async () => true, secrets: further = [] }: Pick<TicketRequest, 'target' | 'beforeWriting' | 'secrets'>,
    signal: AbortSignal,
    work: (calls: TargetCalls) => Promise<T>,
  ) => {
    const secrets = [...secretsOfTarget(target), ...(contract.secretForms?.(target) ?? []), ...further]
    const clean = (text: string) => redact(text, secrets)
    let hasWritten = false
    let mayWrite = false
    const fail = (failure: Failure): never => {
      // Earlier calls may have changed something, however this call ended.
      throw new NotDelivered(failure.kind === 'retryable' && hasWritten ? { ...failure, isAmbiguous: true } : withoutAmbiguity(failure))
    }
    const calls: TargetCalls = {
      async call({ method, url, body, expects, also = [], isRead = method === 'GET', isOfNotes = false }) {
        const isWrite = !isRead
        if (isWrite) mayWrite ||= await beforeWriting()
        if (isWrite && !mayWrite) fail({ kind: 'retryable', reason: NOT_NOTED })
        const headers = { accept: 'application/json', ...contract.headers(target) }
        const maxAnswerBytes = isOfNotes ? MAX_NOTES_BYTES : MAX_ANSWER_BYTES
        const request = { method, url, headers, timeoutMs: CALL_MS, maxAnswerBytes, ...(body !== undefined && { body }) }
        const answer = await outbound.request(request, signal).catch(error => {
          const failure = outcomeOfError(contract.name, error, signal.aborted)
          hasWritten ||= isWrite && failure.kind === 'retryable' && failure.isAmbiguous === true
          return fail(failure)
        })
        // A secret is known by its whole length: before the platform's words are cut.
        const failure = () => outcomeOfAnswer(contract.name, { ...answer, text: clean(answer.text) }, clock.nowMs())
        const isExpected = expects.includes(answer.status)
        if (isWrite && (isExpected || mayHaveWritten(failure()))) hasWritten = true
        if (!isExpected && !also.includes(answer.status)) fail(failure())
        return { status: answer.status, text: answer.text, json: jsonOf(answer.text), failure }
      },
      async wait(ms) {
        await clock.sleep(ms, signal)
        if (signal.aborted) fail({ kind: 'retryable', reason: `${contract.name}: stopped while waiting` })
      },
    }
    try {
      return { ok: true, value: await work(calls), clean } as const
    } catch (error) {
      if (error instanceof NotDelivered) return { ok: false, failure: { ...error.failure, reason: clean(error.failure.reason) } } as const
      throw error
    }
  }

  return {
    async send(request, signal): Promise<TicketOutcome> {
      const done = await attempt(request, signal, calls => contract.send(request, calls))
      if (!done.ok) return done.failure
      const { ticket, note, isLeftOut } = done.value
      return {
        kind: 'delivered',
        ...(ticket && { ticket }),
        ...(note !== undefined && { note: done.clean(note) }),
        ...(isLeftOut && { isLeftOut }),
      }
    },
    async test(target, signal, secrets) {
      const done = await attempt({ target, ...(secrets !== undefined && { secrets }) }, signal, calls => contract.test(target, calls))
      return done.ok ? { ok: true, message: done.clean(done.value) } : { ok: false, message: done.failure.reason }
    },
  }
}

function mayHaveWritten(failure: Failure): boolean {
  return failure.kind === 'retryable' && failure.isAmbiguous === true
}

/** A read that was not answered is not ambiguous. */
function withoutAmbiguity(failure: Failure): Failure {
  if (failure.kind !== 'retryable') return failure
  const { isAmbiguous: _a, isUnanswered: _u, ...rest } = failure
  return rest
}

/** The answer has an expected status and not the content that comes with it, such as a log-in page. */
export function notOfThisPlatform(reply: Reply, expected: string): NotDelivered {
  const reason = `expected ${expected} in its answer, seen something else; ${reply.failure().reason}`
  return new NotDelivered({ kind: 'retryable', reason, isAmbiguous: true, isTargetDown: true })
}

/** The list of that name in an answer. A page of HTML with the status of success, or half an answer, is no empty list: what is there would be made again. */
export function listOf(reply: Reply, name: string): readonly unknown[] {
  const list = at(reply.json, name)
  if (!Array.isArray(list)) throw notOfThisPlatform(reply, `a list named ${name}`)
  return list
}

/** Does what may fail without failing the event; what was refused, for a note. */
export async function unlessRefused(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof NotDelivered && error.failure.kind === 'rejected') return error.failure.reason
    throw error
  }
}

/** The root of an API without a slash at its end. */
export function rootOf(target: Target, name: string, otherwise = ''): string {
  return (field(target, name) ?? otherwise).replace(/\/+$/, '')
}
