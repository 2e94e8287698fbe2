/** Requests of platforms when somebody changes a ticket there: their signature and their content (Decisions 6). */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { PlatformName } from '../../../contract/platforms.ts'
import type { IncidentAction } from '../../../domain/incidents/incident-status.ts'

export interface Signed {
  readonly bytes: Uint8Array
  readonly headers: IncomingHttpHeaders
  readonly secret: string
}

/** The part of a delivery that the product acts on. */
export interface WebhookNews {
  /** Names the delivery where the platform does; the same when it is sent again. */
  readonly deliveryId?: string
  /** Undefined: a change that has no counterpart here. */
  readonly action?: Extract<IncidentAction, 'acknowledge' | 'resolve'>
  /** Names of the ticket: key, external id. */
  readonly names: readonly string[]
  /** The person who did it. */
  readonly actor?: string
  /** ISO-8601 time of the change there. */
  readonly occurredAt?: string
}

export interface WebhookForm {
  /** The signature that is expected, in words for a caller whose request lacks it. */
  readonly expected: string
  isSigned(signed: Signed): boolean
  /** A workflow may lead from done to under way alone: then a reopening from here looks like an acknowledgement there. */
  readonly echoesReopening?: true
  readonly schema: z.ZodType
  read(body: unknown, headers: IncomingHttpHeaders): WebhookNews
}

const NAME = z.string().max(512).nullish()
/** The name of a person, which is shortened: no change is refused for it. */
const PERSON = z.string().nullish()
const MAX_LABELS = 100

/** v3 webhooks: `X-PagerDuty-Signature: v1=<hex>,v1=<hex>`, several while the secret is exchanged. */
const PAGERDUTY_EVENT = z.looseObject({
  event: z.looseObject({
    id: NAME,
    event_type: z.string(),
    occurred_at: NAME,
    agent: z.looseObject({ summary: PERSON }).nullish(),
    data: z.looseObject({ id: NAME, incident_key: NAME }).nullish(),
  }),
})

const PAGERDUTY = form(PAGERDUTY_EVENT, {
  expected: 'X-PagerDuty-Signature: v1=<HMAC-SHA256 of the body in hex>',
  isSigned: ({ bytes, headers, secret }) =>
    signatures(headers['x-pagerduty-signature']).some(signature => isHmac(signature, 'v1', bytes, secret)),
  read({ event: { id, event_type, occurred_at, agent, data } }) {
    const actions = { 'incident.acknowledged': 'acknowledge', 'incident.resolved': 'resolve' } as const
    return {
      deliveryId: id,
      action: ownOf(actions, event_type),
      names: [data?.incident_key, data?.id],
      actor: agent?.summary,
      occurredAt: occurred_at,
    }
  },
})

/** Admin webhooks with a secret: `X-Hub-Signature: sha256=<hex>`. The category of the status counts, not its name. */
const JIRA_EVENT = z.looseObject({
  webhookEvent: z.string(),
  timestamp: z.number().nullish(),
  user: z.looseObject({ displayName: PERSON }).nullish(),
  issue: z
    .looseObject({
      key: NAME,
      id: NAME,
      fields: z
        .looseObject({
          status: z.looseObject({ statusCategory: z.looseObject({ key: NAME }).nullish() }).nullish(),
          labels: z.array(z.string()).nullish(),
        })
        .nullish(),
    })
    .nullish(),
  changelog: z.looseObject({ items: z.array(z.looseObject({ field: NAME })).nullish() }).nullish(),
})

const JIRA = form(JIRA_EVENT, {
  expected: 'X-Hub-Signature: sha256=<HMAC-SHA256 of the body in hex>',
  echoesReopening: true,
  isSigned: ({ bytes, headers, secret }) =>
    signatures(headers['x-hub-signature']).some(signature => isHmac(signature, 'sha256', bytes, secret)),
  read({ issue, changelog, user, timestamp }, headers) {
    const actions = { indeterminate: 'acknowledge', done: 'resolve' } as const
    const changesStatus = changelog?.items?.some(({ field }) => field === 'status') ?? false
    const category = issue?.fields?.status?.statusCategory?.key ?? ''
    const delivery = headers['x-atlassian-webhook-identifier']
    return {
      deliveryId: typeof delivery === 'string' ? delivery : undefined,
      action: changesStatus ? ownOf(actions, category) : undefined,
      names: [issue?.key, issue?.id, ...(issue?.fields?.labels ?? []).slice(0, MAX_LABELS)],
      actor: user?.displayName,
      occurredAt: timeOf(timestamp),
    }
  },
})

/** Opsgenie signs nothing: its integration sends a header of one's choice. */
const OPSGENIE_EVENT = z.looseObject({
  action: z.string(),
  alert: z.looseObject({ alertId: NAME, alias: NAME, username: PERSON, updatedAt: z.number().nullish() }).nullish(),
})

const OPSGENIE = form(OPSGENIE_EVENT, {
  expected: 'X-Webhook-Secret with the secret',
  isSigned: ({ headers, secret }) => isEqual(String(headers['x-webhook-secret'] ?? ''), secret),
  read({ action, alert }) {
    const actions = { Acknowledge: 'acknowledge', Close: 'resolve' } as const
    const { alias, alertId, username, updatedAt } = alert ?? {}
    return { action: ownOf(actions, action), names: [alias, alertId], actor: username, occurredAt: timeOf(millisecondsOf(updatedAt)) }
  },
})

export const WEBHOOK_FORMS: Readonly<Partial<Record<PlatformName, WebhookForm>>> = { pagerduty: PAGERDUTY, jira: JIRA, opsgenie: OPSGENIE }

/** As the platform has it: what is missing is undefined or null. */
interface RawNews {
  readonly deliveryId?: string | null | undefined
  readonly action?: WebhookNews['action'] | undefined
  readonly names: readonly (string | null | undefined)[]
  readonly actor?: string | null | undefined
  readonly occurredAt?: string | null | undefined
}

/** Gives `read` the type of its schema. */
function form<T>(
  schema: z.ZodType<T>,
  rest: Pick<WebhookForm, 'expected' | 'isSigned' | 'echoesReopening'> & { read(body: T, headers: IncomingHttpHeaders): RawNews },
): WebhookForm {
  return {
    ...rest,
    schema,
    read(body, headers) {
      const { names, ...news } = rest.read(body as T, headers)
      const known = Object.fromEntries(Object.entries(news).filter(([, value]) => value != null))
      return { ...known, names: [...new Set(names.filter(name => typeof name === 'string' && name !== ''))] as string[] }
    },
  }
}

function signatures(header: string | readonly string[] | undefined): readonly string[] {
  return String(header ?? '')
    .split(',')
    .map(text => text.trim())
}

function isHmac(signature: string, scheme: string, bytes: Uint8Array, secret: string): boolean {
  return isEqual(signature.toLowerCase(), `${scheme}=${createHmac('sha256', secret).update(bytes).digest('hex')}`)
}

/** Takes as long for any text of a length. */
function isEqual(text: string, expected: string): boolean {
  const [a, b] = [Buffer.from(text), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function ownOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** Opsgenie counts some times in nanoseconds (unverified): as milliseconds these would lie beyond the year 33658. */
function millisecondsOf(time: number | null | undefined): number | null | undefined {
  return time != null && time >= 1e15 ? Math.floor(time / 1e6) : time
}

function timeOf(ms: number | null | undefined): string | undefined {
  return ms == null || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15 ? undefined : new Date(ms).toISOString()
}
