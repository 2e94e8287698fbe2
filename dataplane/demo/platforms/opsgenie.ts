/** Opsgenie Alert API: a change is taken at once (202) and made a little later, when it may still fail. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import { badge, type Html, html, when } from './html.ts'
import { append, createNewest } from './newest.ts'
import { DEMO } from './settings.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from './stub-platform.ts'

interface Alert {
  readonly id: string
  readonly tinyId: string
  readonly alias: string
  readonly createdAt: string
  status: 'open' | 'closed'
  acknowledged: boolean
  /** How often the alert was created while it was open. */
  count: number
  message: string
  priority: Priority
  description: string
  tags: readonly string[]
  details: Readonly<Record<string, string>>
  entity: string
  source: string
  readonly log: { readonly at: string; readonly text: string; readonly note?: string }[]
}

/** A request that was taken, and its fate. */
interface PendingRequest {
  readonly id: string
  readonly action: string
  readonly dueMs: number
  readonly alias: string
  /** The problem, or nothing. */
  readonly run: () => string | undefined
}
interface DoneRequest {
  readonly success: boolean
  readonly isSuccess: boolean
  readonly action: string
  readonly status: string
  readonly alertId: string
  readonly alias: string
  readonly processedAt: string
}

const PRIORITIES = ['P1', 'P2', 'P3', 'P4', 'P5'] as const
type Priority = (typeof PRIORITIES)[number]

/** Time between the 202 and the change. */
const PROCESSING_MS = 150
const MAX_DETAILS = 8_000

const limited = (max: number) => z.string().refine(text => [...text].length <= max, `can not be longer than ${max} characters`)
const COMMON = { user: limited(100).optional(), note: limited(25_000).optional(), source: limited(100).optional() }
const ALERT = z.object({
  message: limited(130).min(1, 'can not be empty'),
  alias: limited(512).optional(),
  description: limited(15_000).optional(),
  tags: z.array(limited(50)).max(20, 'can not have more than 20 items').optional(),
  details: z
    .record(z.string(), z.string())
    .refine(
      details => Object.entries(details).flat().join('').length <= MAX_DETAILS,
      `can not be longer than ${MAX_DETAILS} characters in total`,
    )
    .optional(),
  entity: limited(512).optional(),
  responders: z
    .array(z.object({ type: z.enum(['team', 'user', 'escalation', 'schedule']) }))
    .max(50)
    .optional(),
  visibleTo: z
    .array(z.object({ type: z.enum(['team', 'user']) }))
    .max(50)
    .optional(),
  actions: z.array(limited(50)).max(10).optional(),
  priority: z.enum(PRIORITIES).optional(),
  ...COMMON,
})
const ACTION = z.object(COMMON)
type ActionBody = z.output<typeof ACTION>
const NOTE = z.object({ ...COMMON, note: limited(25_000).min(1, 'can not be empty') })
const ESCALATION = z.object({
  ...COMMON,
  escalation: z.union([z.object({ id: z.string().min(1) }), z.object({ name: z.string().min(1) })]),
})

export function createOpsgenie(clock: Clock): StubPlatform {
  const alerts = createNewest<Alert>()
  const newestOf = createNewest<string>()
  const done = createNewest<DoneRequest>()
  let pending: PendingRequest[] = []
  let failures = 0
  let ids = 0

  const nowIso = () => new Date(clock.nowMs()).toISOString()
  const byAlias = (alias: string) => alerts.get(newestOf.get(alias) ?? '')
  const openAlert = (alias: string) => {
    const found = byAlias(alias)
    return found?.status === 'open' ? found : undefined
  }

  /** Makes the changes that are due, in the order in which they came. */
  const settle = () => {
    const due = pending.filter(({ dueMs }) => dueMs <= clock.nowMs())
    pending = pending.filter(each => !due.includes(each))
    for (const { id, action, alias, run } of due) {
      const problem = failures > 0 ? 'Request could not be processed' : run()
      failures = Math.max(0, failures - 1)
      const isSuccess = problem === undefined
      const alertId = byAlias(alias)?.id ?? ''
      done.put(id, {
        success: isSuccess,
        isSuccess,
        action,
        status: problem ?? `${action} processed`,
        alertId,
        alias,
        processedAt: nowIso(),
      })
    }
  }

  const accept = (action: string, alias: string, run: PendingRequest['run']): StubAnswer => {
    const id = randomUUID()
    pending.push({ id, action, alias, dueMs: clock.nowMs() + PROCESSING_MS, run })
    return { status: 202, body: { result: 'Request will be processed', took: 0.01, requestId: id } }
  }

  const create = ({ json }: StubRequest): StubAnswer => {
    const parsed = ALERT.safeParse(json)
    if (!parsed.success) return notProcessable(parsed.error)
    const alert = parsed.data
    const alias = alert.alias ?? randomUUID()
    return accept('Create', alias, () => {
      const open = openAlert(alias)
      if (open !== undefined) {
        open.count += 1
        append(open.log, { at: nowIso(), text: `created again: ${alert.message}` })
        return undefined
      }
      const id = randomUUID()
      newestOf.put(alias, id)
      const { message, priority = 'P3', description = '', tags = [], details = {}, entity = '', source = '' } = alert
      const log = [{ at: nowIso(), text: 'created' }]
      alerts.put(id, {
        id,
        tinyId: String(++ids),
        alias,
        createdAt: nowIso(),
        status: 'open',
        acknowledged: false,
        count: 1,
        message,
        priority,
        description,
        tags,
        details,
        entity,
        source,
        log,
      })
      return undefined
    })
  }

  /** An action on the open alert that the path names by its alias. */
  const action = <Body extends ActionBody>(
    method: 'POST' | 'PUT',
    path: string,
    name: string,
    body: z.ZodType<Body>,
    apply: (alert: Alert, body: Body) => string,
  ): StubRoute => ({
    method,
    path: `/v2/alerts/:alias/${path}`,
    handle({ params, query, json }) {
      const parsed = body.safeParse(json ?? {})
      if (!parsed.success) return notProcessable(parsed.error)
      const named = params['alias']!
      const alias = query.get('identifierType') === 'alias' ? named : (alerts.get(named)?.alias ?? '')
      return accept(name, alias, () => {
        const alert = openAlert(alias)
        if (alert === undefined) return 'Alert does not exist'
        const text = apply(alert, parsed.data)
        const { note } = parsed.data
        append(alert.log, { at: nowIso(), text, ...(note !== undefined && { note }) })
        return undefined
      })
    },
  })

  const routes: readonly StubRoute[] = [
    { method: 'POST', path: '/v2/alerts', handle: create },
    {
      method: 'GET',
      path: '/v2/alerts',
      handle: ({ query }) => ({
        body: {
          data: alerts
            .all()
            .slice(0, Number(query.get('limit') ?? 20))
            .map(showFields),
          took: 0.01,
          requestId: randomUUID(),
        },
      }),
    },
    {
      method: 'GET',
      path: '/v2/alerts/requests/:id',
      handle({ params }) {
        const found = done.get(params['id']!)
        return found === undefined
          ? refuse(404, 'Request not found. It might not be processed, yet.')
          : { body: { data: found, took: 0.01, requestId: params['id'] } }
      },
    },
    {
      method: 'GET',
      path: '/v2/alerts/:alias',
      handle({ params, query }) {
        const named = params['alias']!
        const found = query.get('identifierType') === 'alias' ? byAlias(named) : alerts.get(named)
        return found === undefined
          ? refuse(404, `Alert with id [${named}] does not exist`)
          : { body: { data: showFields(found), took: 0.01, requestId: randomUUID() } }
      },
    },
    {
      method: 'GET',
      path: '/v2/alerts/:alias/notes',
      handle({ params, query }) {
        const named = params['alias']!
        const found = query.get('identifierType') === 'alias' ? byAlias(named) : alerts.get(named)
        if (found === undefined) return refuse(404, `Alert with id [${named}] does not exist`)
        const notes = found.log.flatMap(({ at, note }) => (note === undefined ? [] : [{ note, createdAt: at }]))
        const ordered = query.get('order') === 'asc' ? notes : notes.toReversed()
        return { body: { data: ordered.slice(0, Number(query.get('limit') ?? 100)), took: 0.01, requestId: randomUUID() } }
      },
    },
    action('POST', 'acknowledge', 'Acknowledge', ACTION, alert => {
      alert.acknowledged = true
      return 'acknowledged'
    }),
    action('POST', 'unacknowledge', 'UnAcknowledge', ACTION, alert => {
      alert.acknowledged = false
      return 'acknowledgement taken back'
    }),
    action('POST', 'close', 'Close', ACTION, alert => {
      alert.status = 'closed'
      return 'closed'
    }),
    action('POST', 'notes', 'AddNote', NOTE, () => 'note'),
    action('POST', 'escalate', 'EscalateToNext', ESCALATION, () => 'escalated'),
    action('PUT', 'priority', 'UpdatePriority', z.object({ ...COMMON, priority: z.enum(PRIORITIES) }), (alert, { priority }) => {
      alert.priority = priority
      return `priority ${priority}`
    }),
    action('PUT', 'message', 'UpdateMessage', z.object({ ...COMMON, message: limited(130).min(1) }), (alert, { message }) => {
      alert.message = message
      return 'new message'
    }),
    action('PUT', 'description', 'UpdateDescription', z.object({ ...COMMON, description: limited(15_000) }), (alert, { description }) => {
      alert.description = description
      return 'new description'
    }),
    action('POST', 'tags', 'AddTags', z.object({ ...COMMON, tags: z.array(limited(50)).max(20) }), (alert, { tags }) => {
      alert.tags = [...new Set([...alert.tags, ...tags])].slice(0, 20)
      return 'tags'
    }),
  ]

  return {
    title: 'Opsgenie',
    routes,
    refuseCaller(request) {
      settle()
      return request.headers['authorization'] === `GenieKey ${DEMO.opsgenie.apiKey}` ? undefined : refuse(401, 'Could not authenticate')
    },
    refuse: status => refuse(status, MESSAGES[status] ?? 'Made to fail'),
    ownFaults: {
      /** The next so many requests fail after 202. */
      'fails-later'(_, times) {
        failures = times
      },
    },
    state() {
      settle()
      return { alerts: alerts.all(), processed: done.all() }
    },
    page() {
      settle()
      return html`${alerts.all().map(showAlert)}`
    },
    clear() {
      alerts.clear()
      newestOf.clear()
      done.clear()
      pending = []
    },
  }
}

const MESSAGES: Readonly<Record<number, string>> = {
  401: 'Could not authenticate',
  404: 'Not found',
  429: 'You are making too many requests!',
}

function refuse(status: number, message: string, errors?: Readonly<Record<string, string>>): StubAnswer {
  return { status, body: { message, ...(errors !== undefined && { errors }), took: 0.001, requestId: randomUUID() } }
}

function notProcessable({ issues }: z.ZodError): StubAnswer {
  return refuse(
    422,
    'Request body is not processable. Please check the errors.',
    Object.fromEntries(issues.map(({ path, message }) => [path.join('.') || 'body', message])),
  )
}

const showFields = ({ log: _, ...fields }: Alert) => fields

const TONES = { P1: 'red', P2: 'orange', P3: 'yellow', P4: 'blue', P5: 'grey' } as const

function showAlert(alert: Alert): Html {
  const status = alert.status === 'closed' ? 'closed' : alert.acknowledged ? 'acknowledged' : 'open'
  return html`<article><header>${badge(status, { open: 'red', acknowledged: 'yellow', closed: 'green' }[status])}${badge(alert.priority, TONES[alert.priority])}<span class="soft">#${alert.tinyId} · ${alert.count} ×</span>${when(alert.createdAt)}</header>
<h2>${alert.message}</h2><p>${alert.tags.map(tag => html`<code>${tag}</code> `)}</p><pre>${alert.description}</pre>
<table>${Object.entries({ entity: alert.entity, source: alert.source, ...alert.details }).map(([name, value]) => (value === '' ? '' : html`<tr><th>${name}</th><td>${value}</td></tr>`))}</table>
<details open><summary>Activity</summary><ul>${alert.log.map(({ at, text, note }) => html`<li>${when(at)} ${text}${note === undefined ? '' : `: ${note}`}</li>`)}</ul></details><p class="soft">alias <code>${alert.alias}</code></p></article>`
}
