/** `POST /api/v1/webhooks/:platformId`: what is acknowledged or resolved on a platform is so here, too (Decisions 6). */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { incidentsIndex } from '../../../contract/indices.ts'
import { isTargetId, parseTargetId, type TargetId } from '../../../contract/target-id.ts'
import { DEFAULT_TENANT, TENANT_ID_PATTERN } from '../../../contract/tenant-id.ts'
import type { StoredIncident } from '../../../domain/incidents/stored-incident.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import { parseJsonBody, validate } from '../../../http/control-request.ts'
import { HttpError } from '../../../http/http-error.ts'
import { type Answer, type Route, route } from '../../../http/route.ts'
import { RecentIds } from '../../../limits/recent-ids.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import type { ExternalChange } from '../ticket-service.ts'
import { findTicketed, type IncidentOfTicket } from './find-ticketed.ts'
import { WEBHOOK_FORMS, type WebhookForm, type WebhookNews } from './webhook-forms.ts'

/** `refused`: not from the state that the incident is in. */
export type OutsideOutcome =
  | { readonly kind: 'changed' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' }

export interface WebhookDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly config: TicketingConfigSource
  applyChange(change: ExternalChange): Promise<OutsideOutcome>
}

/** Deliveries that are known when they come again. */
const MAX_REMEMBERED_DELIVERIES = 10_000
const MAX_ACTOR = 200
/** How long after a reopening was told its echo may come. */
const ECHO_MS = 10_000

/** Platforms add parameters of their own. They send no headers of ours, so the tenant may stand in the address. */
const QUERY = z.looseObject({ tenant: z.string().regex(TENANT_ID_PATTERN, 'expected a tenant id').optional() })

export function webhookRoutes(deps: WebhookDeps): readonly Route[] {
  const delivered = new RecentIds(MAX_REMEMBERED_DELIVERIES)
  return [
    route({
      method: 'POST',
      path: '/api/v1/webhooks/:platformId',
      query: QUERY,
      takesBytes: true,
      async handle({ params, query, headers, body, tenant }) {
        const bytes = body as unknown as Uint8Array
        const id = params['platformId']!
        const form = formOf(id)
        if (tenant !== undefined && query.tenant !== undefined && query.tenant !== tenant)
          throw new HttpError(403, 'tenant: belongs to another caller')
        const owner = tenant ?? query.tenant ?? DEFAULT_TENANT
        const secret = await secretOf(deps.config, owner, id as TargetId)
        if (!form.isSigned({ bytes, headers, secret }))
          throw new HttpError(401, `expected the header ${form.expected}, made with webhookSecret of ${id}`)
        const news = form.read(validate(form.schema, parseJsonBody(bytes), 'body'), headers)
        const delivery = `${owner}/${id}/${news.deliveryId ?? createHash('sha256').update(bytes).digest('hex')}`
        if (delivered.has(delivery)) return ignored('this delivery came before')
        const answer = await takeNews(deps, { id: id as TargetId, form, secret, tenant }, news)
        delivered.add(delivery)
        return answer
      },
    }),
  ]
}

/** The target that a webhook call comes from, and the secret that proves it. */
interface Sender {
  readonly id: TargetId
  readonly form: WebhookForm
  readonly secret: string
  /** The tenant that the caller may speak for; undefined: any that shares the target. */
  readonly tenant: string | undefined
}

async function takeNews(deps: WebhookDeps, sender: Sender, { action, names, actor, occurredAt }: WebhookNews): Promise<Answer> {
  if (action === undefined) return ignored('nothing that is acknowledged or resolved')
  const incident = await findTicketed(deps.store, { target: sender.id, names, isPossible: owner => sharesTarget(deps, sender, owner) })
  if (incident === undefined) return { status: 202, body: { status: 'ignored', note: 'no incident has this ticket' } }
  const { tenantId: tenant, incidentId, thread } = incident
  const reopenedAt = (await deps.store.get<StoredIncident>(incidentsIndex(tenant), incidentId))?.source.reopenedAt
  if (isOlder(occurredAt, reopenedAt)) return ignored('the incident was reopened since')
  if (action === 'acknowledge' && sender.form.echoesReopening && (await wasJustReopened(deps, thread)))
    return ignored('the ticket was opened again from here just now')
  const who = `${actor?.slice(0, MAX_ACTOR) || 'somebody'} (${sender.id})`
  const outcome = await deps.applyChange({ tenant, incidentId, action, actor: who, fromTarget: sender.id })
  if (outcome.kind === 'unknown')
    return { status: 202, body: { status: 'ignored', note: 'the incident of this ticket is no longer there' } }
  if (outcome.kind === 'refused') return ignored(outcome.reason)
  return { body: { status: 'ok', incidentId, action } }
}

const ignored = (note: string): Answer => ({ body: { status: 'ignored', note } })

/** Tickets of tenants that fall back to `default`, or to what is declared, come over one address. */
async function sharesTarget({ config }: WebhookDeps, { id, secret, tenant }: Sender, owner: string): Promise<boolean> {
  if (tenant !== undefined && owner !== tenant) return false
  return (await config.load(owner)).targets.get(id)?.fields['webhookSecret'] === secret
}

async function wasJustReopened({ store, clock }: WebhookDeps, [index, id]: IncidentOfTicket['thread']): Promise<boolean> {
  const { rows = [] } = (await store.get<Partial<TicketThread>>(index, id))?.source ?? {}
  const told = rows.findLast(({ event, sentAt, isUnderWay }) => event === 'reopen' && (isUnderWay || sentAt !== undefined))
  return told !== undefined && (told.sentAt === undefined || Math.abs(clock.nowMs() - Date.parse(told.sentAt)) < ECHO_MS)
}

/** Throws `HttpError` 404 for what sends none. */
function formOf(id: string): WebhookForm {
  const form = isTargetId(id) ? WEBHOOK_FORMS[parseTargetId(id)!.platform] : undefined
  if (form !== undefined) return form
  throw new HttpError(
    404,
    `webhooks: expected a platform id of ${Object.keys(WEBHOOK_FORMS).join(', ')}, seen ${JSON.stringify(id.slice(0, 60))}`,
  )
}

/** Throws `HttpError` 403 without one; whether the target is there is not told to strangers. */
async function secretOf(config: TicketingConfigSource, tenant: string, id: TargetId): Promise<string> {
  const secret = (await config.load(tenant)).targets.get(id)?.fields['webhookSecret']
  if (typeof secret === 'string' && secret !== '') return secret
  throw new HttpError(
    403,
    `webhooks of ${id} are not taken for tenant ${tenant}: set webhookSecret of ${id} by PATCH /api/v1/config/platforms`,
  )
}

function isOlder(occurredAt: string | undefined, reopenedAt: string | undefined): boolean {
  return occurredAt !== undefined && reopenedAt !== undefined && Date.parse(occurredAt) < Date.parse(reopenedAt)
}
