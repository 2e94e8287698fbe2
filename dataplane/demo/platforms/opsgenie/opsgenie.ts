/** Opsgenie Alert API: a change is taken at once (202) and made a little later, when it may still fail. */
import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Clock } from '../../../ports/clock.ts'
import { html } from '../html.ts'
import { append, createNewest } from '../newest.ts'
import { DEMO } from '../settings.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from '../stub-platform.ts'
import { ACTION, type ActionBody, ALERT, type Alert, DESCRIPTION, ESCALATION, MESSAGE, NOTE, PRIORITY, TAGS } from './opsgenie-alert.ts'
import { showAlert } from './opsgenie-page.ts'
import { createTakenRequests, type TakenRequest } from './opsgenie-requests.ts'

export function createOpsgenie(clock: Clock): StubPlatform {
  const alerts = createNewest<Alert>()
  /** The id of the newest alert of each alias. */
  const newestOf = createNewest<string>()
  let alertsMade = 0

  const nowIso = () => new Date(clock.nowMs()).toISOString()
  const byAlias = (alias: string) => alerts.get(newestOf.get(alias) ?? '')
  const openAlert = (alias: string) => {
    const found = byAlias(alias)
    return found?.status === 'open' ? found : undefined
  }
  const requests = createTakenRequests(clock, alias => byAlias(alias)?.id)
  const accept = (request: TakenRequest): StubAnswer => ({
    status: 202,
    body: { result: 'Request will be processed', took: 0.01, requestId: requests.take(request) },
  })

  const create = ({ json }: StubRequest): StubAnswer => {
    const parsed = ALERT.safeParse(json)
    if (!parsed.success) return notProcessable(parsed.error)
    const alias = parsed.data.alias ?? randomUUID()
    return accept({
      action: 'Create',
      alias,
      run() {
        const open = openAlert(alias)
        if (open === undefined) openNew(alias, parsed.data)
        else {
          open.count += 1
          append(open.log, { at: nowIso(), text: `created again: ${parsed.data.message}` })
        }
        return undefined
      },
    })
  }

  const openNew = (alias: string, given: z.output<typeof ALERT>) => {
    const id = randomUUID()
    newestOf.put(alias, id)
    const { message, priority = 'P3', description = '', tags = [], details = {}, entity = '', source = '' } = given
    alerts.put(id, {
      ...{ id, tinyId: String(++alertsMade), alias, createdAt: nowIso(), status: 'open', acknowledged: false, count: 1 },
      ...{ message, priority, description, tags, details, entity, source },
      log: [{ at: nowIso(), text: 'created' }],
    })
  }

  /** An action on the open alert that the path names; `apply` says what it did. */
  const action = <Body extends ActionBody>(
    [method, path, name]: readonly ['POST' | 'PUT', string, string],
    form: z.ZodType<Body>,
    apply: (alert: Alert, body: Body) => string,
  ): StubRoute => ({
    method,
    path: `/v2/alerts/:alias/${path}`,
    handle({ params, query, json }) {
      const parsed = form.safeParse(json ?? {})
      if (!parsed.success) return notProcessable(parsed.error)
      const named = params['alias']!
      const alias = query.get('identifierType') === 'alias' ? named : (alerts.get(named)?.alias ?? '')
      return accept({
        action: name,
        alias,
        run() {
          const alert = openAlert(alias)
          if (alert === undefined) return 'Alert does not exist'
          const text = apply(alert, parsed.data)
          const { note } = parsed.data
          append(alert.log, { at: nowIso(), text, ...(note !== undefined && { note }) })
          return undefined
        },
      })
    },
  })

  /** Answers for the alert that the path names, by its alias or its id; 404 without one. */
  const onAlert =
    (handle: (alert: Alert, query: URLSearchParams) => unknown) =>
    ({ params, query }: StubRequest): StubAnswer => {
      const named = params['alias']!
      const found = query.get('identifierType') === 'alias' ? byAlias(named) : alerts.get(named)
      return found === undefined ? refuse(404, `Alert with id [${named}] does not exist`) : data(handle(found, query))
    }

  const routes: readonly StubRoute[] = [
    { method: 'POST', path: '/v2/alerts', handle: create },
    { method: 'GET', path: '/v2/alerts', handle: ({ query }) => data(alerts.all().slice(0, limitOf(query, 20)).map(showFields)) },
    {
      method: 'GET',
      path: '/v2/alerts/requests/:id',
      handle({ params }) {
        const found = requests.find(params['id']!)
        return found === undefined ? refuse(404, 'Request not found. It might not be processed, yet.') : data(found, params['id'])
      },
    },
    { method: 'GET', path: '/v2/alerts/:alias', handle: onAlert(showFields) },
    { method: 'GET', path: '/v2/alerts/:alias/notes', handle: onAlert(showNotes) },
    action(['POST', 'acknowledge', 'Acknowledge'], ACTION, alert => {
      alert.acknowledged = true
      return 'acknowledged'
    }),
    action(['POST', 'unacknowledge', 'UnAcknowledge'], ACTION, alert => {
      alert.acknowledged = false
      return 'acknowledgement taken back'
    }),
    action(['POST', 'close', 'Close'], ACTION, alert => {
      alert.status = 'closed'
      return 'closed'
    }),
    action(['POST', 'notes', 'AddNote'], NOTE, () => 'note'),
    action(['POST', 'escalate', 'EscalateToNext'], ESCALATION, () => 'escalated'),
    action(['PUT', 'priority', 'UpdatePriority'], PRIORITY, (alert, { priority }) => {
      alert.priority = priority
      return `priority ${priority}`
    }),
    action(['PUT', 'message', 'UpdateMessage'], MESSAGE, (alert, { message }) => {
      alert.message = message
      return 'new message'
    }),
    action(['PUT', 'description', 'UpdateDescription'], DESCRIPTION, (alert, { description }) => {
      alert.description = description
      return 'new description'
    }),
    action(['POST', 'tags', 'AddTags'], TAGS, (alert, { tags }) => {
      alert.tags = [...new Set([...alert.tags, ...tags])].slice(0, 20)
      return 'tags'
    }),
  ]

  return {
    title: 'Opsgenie',
    routes,
    refuseCaller(request) {
      requests.settle()
      return request.headers['authorization'] === `GenieKey ${DEMO.opsgenie.apiKey}` ? undefined : refuse(401, 'Could not authenticate')
    },
    refuse: status => refuse(status, MESSAGES[status] ?? 'Made to fail'),
    ownFaults: {
      /** The next so many requests fail after 202. */
      'fails-later': (_, times) => requests.failNext(times),
    },
    state() {
      requests.settle()
      return { alerts: alerts.all(), processed: requests.processed() }
    },
    page() {
      requests.settle()
      return html`${alerts.all().map(showAlert)}`
    },
    clear() {
      alerts.clear()
      newestOf.clear()
      requests.clear()
    },
  }
}

const MESSAGES: Readonly<Record<number, string>> = {
  401: 'Could not authenticate',
  404: 'Not found',
  429: 'You are making too many requests!',
}

const data = (value: unknown, requestId: string = randomUUID()): StubAnswer => ({ body: { data: value, took: 0.01, requestId } })

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

const limitOf = (query: URLSearchParams, usual: number) => Number(query.get('limit') ?? usual)

const showFields = ({ log: _, ...fields }: Alert) => fields

function showNotes({ log }: Alert, query: URLSearchParams) {
  const notes = log.flatMap(({ at, note }) => (note === undefined ? [] : [{ note, createdAt: at }]))
  return (query.get('order') === 'asc' ? notes : notes.toReversed()).slice(0, limitOf(query, 100))
}
