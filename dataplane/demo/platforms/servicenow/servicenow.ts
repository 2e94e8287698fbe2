/** ServiceNow Table API: incidents with states, computed priority and journal; `correlation_id` is found by a query. */
import { basicAuthorization } from '../../../http/basic-authorization.ts'
import { isJsonObject } from '../../../json/is-json-object.ts'
import type { Clock } from '../../../ports/clock.ts'
import { html } from '../html.ts'
import { DEMO } from '../settings.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from '../stub-platform.ts'
import { failure, NOT_AUTHENTICATED } from './servicenow-failure.ts'
import { createIncidents, type ServiceNowIncident } from './servicenow-incidents.ts'
import { showIncident } from './servicenow-page.ts'
import { select, selectFrom, showIncidentFields } from './table-query.ts'

const CLOSE_CODES = ['Solution provided', 'Workaround provided', 'Known error', 'Duplicate', 'Resolved by caller', 'No resolution provided']
const CLOSE_CODE_CHOICES = CLOSE_CODES.map(value => ({ name: 'incident', element: 'close_code', value, label: value, inactive: 'false' }))

const TABLE = '/api/now/table/incident'
/** People open these in a browser. */
const NAV = '/nav_to.do'
const FORM = '/incident.do'

const MESSAGES: Readonly<Record<number, string>> = { 403: 'Insufficient rights', 404: 'No Record found', 429: 'Rate limit exceeded' }
const NOT_JSON = failure(400, 'Exception while reading request', 'The payload is not valid JSON.')

export function createServiceNow(clock: Clock): StubPlatform {
  const incidents = createIncidents(clock)

  const create = ({ json }: StubRequest): StubAnswer => {
    if (!isJsonObject(json)) return NOT_JSON
    const made = incidents.create(json)
    return 'fields' in made ? { status: 201, body: { result: made.fields } } : made
  }
  const onIncident =
    (handle: (incident: ServiceNowIncident, request: StubRequest) => StubAnswer) =>
    (request: StubRequest): StubAnswer => {
      const incident = incidents.find(request.params['id']!)
      return incident === undefined
        ? failure(404, 'No Record found', "Record doesn't exist or ACL restricts the record retrieval")
        : handle(incident, request)
    }
  const change = onIncident((incident, { json }) =>
    isJsonObject(json) ? (incidents.write(incident, json) ?? { body: { result: incident.fields } }) : NOT_JSON,
  )

  const routes: readonly StubRoute[] = [
    { method: 'POST', path: TABLE, handle: create },
    {
      method: 'GET',
      path: TABLE,
      handle: ({ query }) => ({ body: { result: selectFrom(incidents.all(), query).map(each => showIncidentFields(each, query)) } }),
    },
    {
      method: 'GET',
      path: `${TABLE}/:id`,
      handle: onIncident((incident, { query }) => ({ body: { result: showIncidentFields(incident, query) } })),
    },
    { method: 'PATCH', path: `${TABLE}/:id`, handle: change },
    { method: 'PUT', path: `${TABLE}/:id`, handle: change },
    {
      method: 'GET',
      path: '/api/now/table/sys_choice',
      handle: ({ query }) => ({ body: { result: select(CLOSE_CODE_CHOICES, query) } }),
    },
    {
      method: 'GET',
      path: NAV,
      handle: ({ query }) => ({ status: 302, headers: { location: `/#${/sys_id=(\w+)/.exec(query.get('uri') ?? '')?.[1] ?? ''}` } }),
    },
    {
      method: 'GET',
      path: FORM,
      handle: ({ query }) => ({ status: 302, headers: { location: `/#${encodeURIComponent(query.get('sys_id') ?? '')}` } }),
    },
  ]

  const expected = basicAuthorization(DEMO.servicenow.username, DEMO.servicenow.password)
  return {
    title: 'ServiceNow',
    routes,
    refuseCaller: ({ headers, route }) =>
      headers['authorization'] === expected || route === NAV || route === FORM ? undefined : NOT_AUTHENTICATED,
    refuse: status => (status === 401 ? NOT_AUTHENTICATED : failure(status, MESSAGES[status] ?? 'Made to fail', '')),
    state: () => ({ incidents: incidents.all().map(({ fields, workNotes }) => ({ ...fields, workNotes })) }),
    page: () => html`${incidents.all().map(showIncident)}`,
    clear: incidents.clear,
  }
}
