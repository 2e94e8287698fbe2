/** Opsgenie Alert API: a change is taken at once (202) and made a little later, when it may still fail. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../../ports/clock.ts'
import { html } from '../html.ts'
import { DEMO } from '../settings.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from '../stub-platform.ts'
import { ALERT_ACTIONS, type AlertAction } from './opsgenie-actions.ts'
import { ALERT, type Alert } from './opsgenie-alert.ts'
import { createAlerts } from './opsgenie-alerts.ts'
import { showAlert } from './opsgenie-page.ts'
import { createTakenRequests, type TakenRequest } from './opsgenie-requests.ts'

export function createOpsgenie(clock: Clock): StubPlatform {
  const alerts = createAlerts(clock)
  const requests = createTakenRequests(clock, alias => alerts.byAlias(alias)?.id)
  const accept = (request: TakenRequest): StubAnswer => ({
    status: 202,
    body: { result: 'Request will be processed', took: 0.01, requestId: requests.take(request) },
  })

  const create = ({ json }: StubRequest): StubAnswer => {
    const parsed = ALERT.safeParse(json)
    if (!parsed.success) return notProcessable(parsed.error)
    const alias = parsed.data.alias ?? randomUUID()
    return accept({ action: 'Create', alias, run: () => void alerts.create(alias, parsed.data) })
  }

  const act = (action: AlertAction, request: StubRequest): StubAnswer => {
    const change = action.read(request.json)
    if (change instanceof z.ZodError) return notProcessable(change)
    const alias = alerts.aliasNamed(request)
    return accept({
      action: action.name,
      alias,
      run() {
        const alert = alerts.openOf(alias)
        if (alert === undefined) return 'Alert does not exist'
        alerts.note(alert, change.apply(alert), change.note)
        return undefined
      },
    })
  }

  /** Answers for the alert that the path names; 404 without one. */
  const onAlert =
    (handle: (alert: Alert, query: URLSearchParams) => unknown) =>
    (request: StubRequest): StubAnswer => {
      const found = alerts.named(request)
      return found === undefined
        ? refuse(404, `Alert with id [${request.params['alias']}] does not exist`)
        : data(handle(found, request.query))
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
    ...ALERT_ACTIONS.map(action => ({
      method: action.method,
      path: `/v2/alerts/:alias/${action.path}`,
      handle: (request: StubRequest) => act(action, request),
    })),
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
