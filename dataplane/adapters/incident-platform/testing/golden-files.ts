/** The requests to each platform for one incident, as files that people can read. */
import type { Severity } from '../../../contract/platforms.ts'
import type { TicketContent } from '../../../domain/tickets/ticket-content.ts'
import type { TicketRequest } from '../../../ports/incident-platform.ts'
import { mailOf } from '../email/mail.ts'
import { jira } from '../jira.ts'
import { opsgenie } from '../opsgenie.ts'
import { pagerduty } from '../pagerduty.ts'
import { servicenow } from '../servicenow.ts'
import { messageOf } from '../slack.ts'
import { buildRequest } from './checkout-incident.ts'
import { sendScripted } from './send-scripted.ts'

export const GOLDEN = new URL('./golden/', import.meta.url)

const resolvedBy = { actor: 'alice', note: 'Pool of payment raised to 200 connections.', at: '2026-11-21T03:16:40.000Z' }
const CHANGES = {
  open: {},
  update: { news: ['Severity rose from high to critical.', 'orders is affected, too.'] },
  escalate: { change: { actor: 'auto', at: '2026-11-21T03:17:00.000Z' } },
  resolve: { status: 'resolved', change: resolvedBy },
  comment: { news: ['The language model says: payment ran out of database connections after the deployment of 02:58 UTC; roll it back.'] },
} as const satisfies Readonly<Partial<Record<TicketRequest['event'], Partial<TicketContent>>>>

const JIRA_STATUS = { status: 200, body: { fields: { status: { statusCategory: { key: 'new' } } } } }
const JIRA_ANSWERS = {
  open: [{ status: 201, body: { key: 'OPS-17' } }],
  update: [{ status: 201 }],
  escalate: [JIRA_STATUS, { status: 201 }],
  resolve: [
    JIRA_STATUS,
    { status: 200, body: { transitions: [{ id: '31', to: { statusCategory: { key: 'done' } } }] } },
    { status: 204 },
    { status: 201 },
  ],
  comment: [{ status: 201 }],
}
const DONE = { status: 200, body: { data: { isSuccess: true } } }
const TAKEN = { status: 202, body: { requestId: 'r1', status: 'success' } }
const RECORD = { sys_id: 'abc123', number: 'INC0010017', state: '2' }

export async function goldenFiles(): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {}
  for (const [event, content] of Object.entries(CHANGES) as [keyof typeof CHANGES, Partial<TicketContent>][]) {
    const isOpen = event === 'open'
    const known = (externalId: string, severity: Severity) =>
      isOpen ? {} : { ticket: { externalId, memory: { severity, sysId: 'abc123', subject: SUBJECT } } }
    const request = (platform: Parameters<typeof buildRequest>[0], externalId = 'lp-7c1f9a52', severity: Severity = 'critical') =>
      buildRequest(platform, { event, content, ...known(externalId, severity) })

    // PagerDuty is told of no growth but a rise.
    const risen = request('pagerduty', 'lp-7c1f9a52', event === 'update' ? 'high' : 'critical')
    files[`pagerduty-${event}.json`] = toJson((await sendScripted(pagerduty, risen, TAKEN)).body(0))
    files[`slack-${event}.json`] = toJson(messageOf(request('slack')))
    const answers = JIRA_ANSWERS[event]
    files[`jira-${event}.json`] = toJson((await sendScripted(jira, request('jira', 'OPS-17'), ...answers)).body(answers.length - 1))
    const records = isOpen
      ? [{ status: 201, body: { result: RECORD } }]
      : [[RECORD], RECORD].map(result => ({ status: 200, body: { result } }))
    files[`servicenow-${event}.txt`] = toText(
      (await sendScripted(servicenow, request('servicenow', 'INC0010017'), ...records)).body(records.length - 1),
    )
    files[`opsgenie-${event}.txt`] = toText((await sendScripted(opsgenie, request('opsgenie'), TAKEN, DONE)).body(0))
    const { html, text, headers, ...head } = mailOf(request('email', '<lp-7c1f9a52@example.com>'))
    files[`email-${event}.txt`] = `${toText({ ...head, ...headers })}\n${text}`
    files[`email-${event}.html`] = html
  }
  return files
}

const SUBJECT = '[CRITICAL] checkout: Payment declined: upstream <*> timed out after <*> ms'

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** A line for each field, longer texts below their name. */
function toText(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return text.includes('\n') ? `${name}:\n${text}\n` : `${name}: ${text}\n`
    })
    .join('')
}
