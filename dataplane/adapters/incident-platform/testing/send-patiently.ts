import type { IncidentPlatform, TicketOutcome, TicketRequest } from '../../../ports/incident-platform.ts'

/** Sends as the agent does: again for as long as what may be there does not show. `pass` lets so many ms go by. */
export async function sendPatiently(
  platform: Pick<IncidentPlatform, 'send'>,
  request: TicketRequest,
  pass: (ms: number) => void,
): Promise<Exclude<TicketOutcome, { readonly kind: 'unseen' }>> {
  const { unansweredForMs } = request
  for (let passedMs = 0; ; ) {
    const looked = passedMs === 0 ? {} : { lookedForMs: passedMs }
    const unanswered = unansweredForMs === undefined ? {} : { unansweredForMs: unansweredForMs + passedMs }
    const outcome = await platform.send({ ...request, ...looked, ...unanswered }, new AbortController().signal)
    if (outcome.kind !== 'unseen') return outcome
    pass(outcome.lookAgainMs)
    passedMs += outcome.lookAgainMs
  }
}
