/** PagerDuty Events API v2: one route, whose events open, acknowledge and resolve incidents by their `dedup_key`. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import { badge, type Html, html, link, when } from './html.ts'
import { append, createNewest } from './newest.ts'
import { DEMO } from './settings.ts'
import type { StubAnswer, StubPlatform } from './stub-platform.ts'

interface LogEntry {
  readonly at: string
  readonly action: 'trigger' | 'acknowledge' | 'resolve'
  readonly summary?: string
}

interface PagerDutyIncident {
  readonly number: number
  readonly dedupKey: string
  /** The service that the routing key belongs to. */
  readonly service: string
  readonly openedAt: string
  status: 'triggered' | 'acknowledged' | 'resolved'
  payload: TriggerPayload
  links: readonly { readonly href: string; readonly text?: string | undefined }[]
  readonly log: LogEntry[]
}

const MAX_EVENT_BYTES = 512 * 1024
const limited = (max: number) => z.string().refine(text => [...text].length <= max, `is longer than ${max} characters`)

const PAYLOAD = z.object({
  summary: limited(1_024).min(1),
  source: z.string().min(1),
  severity: z.enum(['critical', 'error', 'warning', 'info']),
  timestamp: z.iso.datetime({ offset: true }).optional(),
  component: z.string().optional(),
  group: z.string().optional(),
  class: z.string().optional(),
  custom_details: z.record(z.string(), z.unknown()).optional(),
})
type TriggerPayload = z.output<typeof PAYLOAD>

const COMMON = { routing_key: z.string().regex(/^[a-z0-9]{32}$/i, 'must have 32 letters and digits') }
const LINKS = z.array(z.object({ href: z.string().min(1), text: z.string().optional() })).optional()
const EVENT = z.discriminatedUnion('event_action', [
  z.object({
    ...COMMON,
    event_action: z.literal('trigger'),
    dedup_key: limited(255).optional(),
    payload: PAYLOAD,
    client: z.string().optional(),
    client_url: z.string().optional(),
    links: LINKS,
    images: z.array(z.object({ src: z.string().startsWith('https:'), href: z.string().optional(), alt: z.string().optional() })).optional(),
  }),
  z.object({ ...COMMON, event_action: z.literal('acknowledge'), dedup_key: limited(255).min(1) }),
  z.object({ ...COMMON, event_action: z.literal('resolve'), dedup_key: limited(255).min(1) }),
])
type PagerDutyEvent = z.output<typeof EVENT>

const SERVICES = new Map<string, string>(Object.entries(DEMO.pagerduty).map(([service, key]) => [key, service]))

export function createPagerDuty(clock: Clock): StubPlatform {
  const incidents = createNewest<PagerDutyIncident>()
  /** The newest incident of a key: the one that later events are for, unless it is resolved. */
  const newestOf = createNewest<string>()
  let numbers = 0

  const open = (service: string, dedupKey: string, payload: TriggerPayload): PagerDutyIncident => {
    const number = ++numbers
    newestOf.put(`${service} ${dedupKey}`, String(number))
    return incidents.put(String(number), {
      number,
      dedupKey,
      service,
      openedAt: nowOf(clock),
      status: 'triggered',
      payload,
      links: [],
      log: [],
    })
  }

  const unresolved = (service: string, dedupKey: string) => {
    const found = incidents.get(newestOf.get(`${service} ${dedupKey}`) ?? '')
    return found?.status === 'resolved' ? undefined : found
  }

  /** Events that cannot be applied are accepted and dropped, as PagerDuty does. */
  const apply = (event: PagerDutyEvent, service: string, dedupKey: string): void => {
    if (event.event_action === 'trigger') {
      const incident = unresolved(service, dedupKey) ?? open(service, dedupKey, event.payload)
      Object.assign(incident, { payload: event.payload, links: event.links ?? incident.links })
      append(incident.log, { at: nowOf(clock), action: 'trigger', summary: event.payload.summary })
      return
    }
    const incident = unresolved(service, dedupKey)
    if (incident === undefined) return
    incident.status = event.event_action === 'resolve' ? 'resolved' : 'acknowledged'
    append(incident.log, { at: nowOf(clock), action: event.event_action })
  }

  return {
    title: 'PagerDuty',
    rateLimit: { perSecond: 2, burst: 120, callerOf: ({ json }) => String((json as { routing_key?: unknown } | undefined)?.routing_key) },
    routes: [
      {
        method: 'POST',
        path: '/v2/enqueue',
        handle({ json, text }) {
          if (Buffer.byteLength(text) > MAX_EVENT_BYTES)
            return { status: 413, body: { status: 'invalid event', message: 'Event is too large' } }
          const parsed = EVENT.safeParse(json)
          if (!parsed.success) return invalid(parsed.error.issues.map(({ path, message }) => `'${path.join('.')}' ${message}`))
          const event = parsed.data
          const service = SERVICES.get(event.routing_key)
          if (service === undefined) return { status: 400, body: 'Invalid routing key' }
          const dedupKey = event.dedup_key ?? randomUUID().replaceAll('-', '')
          apply(event, service, dedupKey)
          return { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: dedupKey } }
        },
      },
    ],
    refuse: status =>
      status === 400
        ? invalid(['made to fail'])
        : { status, body: { status: 'error', message: status === 429 ? 'Requests rate limit exceeded' : 'made to fail' } },
    state: () => ({ incidents: incidents.all() }),
    page: () => html`${incidents.all().map(showIncident)}`,
    clear() {
      incidents.clear()
      newestOf.clear()
    },
  }
}

const invalid = (errors: readonly string[]): StubAnswer => ({
  status: 400,
  body: { status: 'invalid event', message: 'Event object is invalid', errors },
})

const nowOf = (clock: Clock) => new Date(clock.nowMs()).toISOString()

const TONES = {
  triggered: 'red',
  acknowledged: 'yellow',
  resolved: 'green',
  critical: 'red',
  error: 'orange',
  warning: 'yellow',
  info: 'blue',
} as const

function showIncident({ number, service, status, payload, links, log, dedupKey, openedAt }: PagerDutyIncident): Html {
  const facts = {
    source: payload.source,
    component: payload.component,
    group: payload.group,
    class: payload.class,
    ...payload.custom_details,
  }
  return html`<article><header>${badge(status, TONES[status])}${badge(payload.severity, TONES[payload.severity])}<span class="soft">#${number} · ${service}</span>${when(openedAt)}</header>
<h2>${payload.summary}</h2><table>${Object.entries(facts).map(([name, value]) => (value === undefined ? '' : html`<tr><th>${name}</th><td>${showDetail(value)}</td></tr>`))}</table>
<p>${links.map(({ href, text }) => html`<span class="button">${link(href, text ?? href)}</span>`)}</p>
<details open><summary>Log</summary><ul>${log.map(({ at, action, summary }) => html`<li>${when(at)} ${action}${summary === undefined ? '' : `: ${summary}`}</li>`)}</ul></details>
<p class="soft">dedup_key <code>${dedupKey}</code></p></article>`
}

const showDetail = (value: unknown): Html =>
  typeof value === 'string' && !value.includes('\n')
    ? html`${value}`
    : html`<pre>${typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)}</pre>`
