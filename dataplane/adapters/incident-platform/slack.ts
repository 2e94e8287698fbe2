/** Slack, incoming webhook: each event is a message of its own, since a webhook tells no id that one could answer to. */
import { asksForHelp } from '../../domain/tickets/escalation.ts'
import type { Target } from '../../domain/tickets/target.ts'
import type { TicketRequest } from '../../ports/incident-platform.ts'
import { type HttpContract, NotDelivered, notOfThisPlatform, type Reply, type TargetCalls } from './http-platform.ts'
import { titleOf } from './rendering/cut-text.ts'
import { type SlackMessage, type SlackParts, toSlackMessage, toSlackText } from './rendering/slack-message.ts'
import { describeEvent, FULL, SHORT, SHORTER, SHORTEST } from './rendering/ticket-document.ts'
import { field } from './target-field.ts'
import { toldSeverity } from './told-severity.ts'

/** A webhook knows one kind of request: it is dead, and is not asked again. */
const DEAD: readonly number[] = [403, 404, 410]
/** Slack has no codes in its 400s; these say that the webhook itself is dead. */
const DEAD_WEBHOOK = /^(no_service|no_team|invalid_token|team_disabled|user_not_found)$/
/** Slack took nothing, and may take the same as text. */
const REFUSED_BLOCKS = /^(invalid_(blocks|attachments)|msg_(blocks_)?too_long)\w{0,40}$/
const PLAIN_MENTIONS = new Map(Object.entries({ '@channel': '<!channel>', '@here': '<!here>', '@everyone': '<!everyone>' }))

export const slack: HttpContract = {
  name: 'Slack',
  headers: () => ({}),
  secretForms: target => partsOfAddress(field(target, 'webhookUrl')),

  async send(request, calls) {
    const refusal = await post(request.target, messageOf(request), calls, REFUSED_BLOCKS)
    if (refusal !== undefined) await post(request.target, { text: toSlackText(partsOf(request)) }, calls)
    return {
      ticket: { externalId: request.ticketKey, memory: { severity: toldSeverity(request) } },
      ...(refusal !== undefined && { note: `sent as plain text, since Slack refused its blocks: ${refusal}` }),
    }
  },

  /** There is no way to ask whether a webhook works without a message. */
  async test(target, calls) {
    const text = 'A test of logpipeline: tickets for incidents will come here.'
    await post(target, { text, blocks: [{ type: 'section', text: { type: 'plain_text', text } }] }, calls)
    return 'Slack took a test message'
  },
}

/** Resolves with Slack's word where it refused what the caller can say in another way. */
async function post(target: Target, message: SlackMessage | object, calls: TargetCalls, avoidable?: RegExp): Promise<string | undefined> {
  const url = field(target, 'webhookUrl') ?? ''
  const reply = await calls.call({ method: 'POST', url, body: message, expects: [200], also: [400, ...DEAD] })
  const word = reply.text.trim()
  if (reply.status === 400 && avoidable?.test(word)) return word
  if (reply.status !== 200) throw refused(reply)
  if (word !== 'ok') throw notOfThisPlatform(reply, 'ok')
  return undefined
}

function refused(reply: Reply): NotDelivered {
  const failure = reply.failure()
  const isDead = DEAD.includes(reply.status) || DEAD_WEBHOOK.test(reply.text.trim())
  return new NotDelivered(isDead ? { kind: 'rejected', reason: failure.reason, isTargetBroken: true, untilChanged: true } : failure)
}

export function messageOf(request: TicketRequest): SlackMessage {
  return toSlackMessage(partsOf(request))
}

function partsOf(request: TicketRequest): SlackParts {
  const { event, content, ticket, mayBeThere } = request
  const severity = toldSeverity(request)
  const told = { ...content, severity }
  const documents = [FULL, SHORT, SHORTER, SHORTEST].map(detail => describeEvent(event, ticket === undefined, told, detail))
  const mention = mentionOf(request)
  return {
    title: titleOf(content.title),
    // An event that waited is told as it was: `Opened again` is no good news, though the incident is resolved since.
    mood: event === 'resolve' || (event === 'comment' && content.status === 'resolved') ? 'resolved' : severity,
    documents,
    ...(mention !== undefined && { mention }),
    ...(mayBeThere && { footer: 'Slack did not say whether it took this message before: you may see it twice.' }),
  }
}

function mentionOf({ target, event, content }: TicketRequest): string | undefined {
  const usual = field(target, 'mention')
  const asked = asksForHelp(event, content.change) ? (field(target, 'escalationMention') ?? usual ?? '@channel') : undefined
  const mention = asked ?? (event === 'open' ? usual : undefined)
  return mention && (PLAIN_MENTIONS.get(mention) ?? mention)
}

/** The address, its path, and the last part of that, which is what Slack calls the token. */
function partsOfAddress(webhookUrl = ''): readonly string[] {
  const url = URL.parse(webhookUrl)
  return url === null ? [] : [url.href, url.pathname, ...url.pathname.split('/').filter(part => part.length >= 8)]
}
