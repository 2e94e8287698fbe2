import type { ConnectionTest, IncidentPlatform, TicketOutcome, TicketRequest } from '../../../ports/incident-platform.ts'
import { createHttpPlatform, type HttpContract } from '../http-platform.ts'
import { createRunningClock } from './running-clock.ts'
import { createScriptedOutbound, type ScriptedAnswer, type ScriptedOutbound } from './scripted-outbound.ts'
import { sendPatiently } from './send-patiently.ts'

export interface Sent {
  readonly outcome: TicketOutcome
  readonly outbound: ScriptedOutbound
  /** The body of the request at that place. */
  body(index: number): Readonly<Record<string, never>>
  readonly waitedMs: number
}

/** Sends to a platform whose answers are written down, with a clock that goes on by itself whenever somebody waits. */
export async function sendScripted(contract: HttpContract, request: TicketRequest, ...answers: readonly ScriptedAnswer[]): Promise<Sent> {
  const { platform, outbound, clock, startMs } = build(contract, answers)
  const outcome = await platform.send(request, new AbortController().signal)
  return sentOf(outcome, outbound, clock.nowMs() - startMs)
}

function sentOf(outcome: TicketOutcome, outbound: ScriptedOutbound, waitedMs: number): Sent {
  const body: Sent['body'] = index => outbound.requests[index]?.body as unknown as Readonly<Record<string, never>>
  return { outcome, outbound, body, waitedMs }
}

/** The same, sent again for as long as what may be there does not show. `waitedMs`: with the pauses between. */
export async function lookScripted(contract: HttpContract, request: TicketRequest, ...answers: readonly ScriptedAnswer[]): Promise<Sent> {
  const { platform, outbound, clock, startMs } = build(contract, answers)
  const outcome = await sendPatiently(platform, request, ms => clock.advance(ms))
  return sentOf(outcome, outbound, clock.nowMs() - startMs)
}

export async function testScripted(
  contract: HttpContract,
  { target }: TicketRequest,
  ...answers: readonly ScriptedAnswer[]
): Promise<{ readonly result: ConnectionTest; readonly outbound: ScriptedOutbound }> {
  const { platform, outbound } = build(contract, answers)
  return { result: await platform.test(target, new AbortController().signal), outbound }
}

function build(contract: HttpContract, answers: readonly ScriptedAnswer[]) {
  const outbound = createScriptedOutbound(...answers)
  const clock = createRunningClock()
  const platform: IncidentPlatform = createHttpPlatform(contract, { outbound, clock })
  return { platform, outbound, clock, startMs: clock.nowMs() }
}
