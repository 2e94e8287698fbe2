/** ServiceNow Table API: incidents with states, computed priority and journal; `correlation_id` is found by a query. */

import { randomUUID } from 'node:crypto'
import { basicAuthorization } from '../../http/basic-authorization.ts'
import { isJsonObject } from '../../json/is-json-object.ts'
import type { Clock } from '../../ports/clock.ts'
import { badge, type Html, html, when } from './html.ts'
import { append, createNewest } from './newest.ts'
import { DEMO } from './settings.ts'
import type { StubAnswer, StubPlatform, StubRequest, StubRoute } from './stub-platform.ts'

/** All values are texts, as there. */
type Fields = Record<string, string>

interface ServiceNowIncident {
  readonly fields: Fields
  readonly workNotes: { readonly at: string; readonly text: string }[]
}

const STATES: Readonly<Record<string, string>> = { 1: 'New', 2: 'In Progress', 3: 'On Hold', 6: 'Resolved', 7: 'Closed', 8: 'Canceled' }
const CLOSE_CODES = ['Solution provided', 'Workaround provided', 'Known error', 'Duplicate', 'Resolved by caller', 'No resolution provided']
/** By impact and urgency. */
const PRIORITIES = new Map(Object.entries({ 11: '1', 12: '2', 21: '2', 22: '3', 13: '3', 31: '3', 23: '4', 32: '4', 33: '5' }))
const WRITABLE = [
  'short_description',
  'description',
  'impact',
  'urgency',
  'state',
  'correlation_id',
  'correlation_display',
  'category',
  'subcategory',
  'assignment_group',
  'assigned_to',
  'caller_id',
  'close_code',
  'close_notes',
  'work_notes',
  'comments',
  'cmdb_ci',
  'business_service',
  'contact_type',
  'hold_reason',
]
/** Longer ones are cut without a word. */
const MAX_SHORT_DESCRIPTION = 160
const MAX_TEXT = 4_000

export function createServiceNow(clock: Clock): StubPlatform {
  const incidents = createNewest<ServiceNowIncident>()
  let numbers = 10_000
  const nowText = () => new Date(clock.nowMs()).toISOString().slice(0, 19).replace('T', ' ')

  /** The problem, or nothing once the fields are written. */
  const write = (incident: ServiceNowIncident, given: unknown): StubAnswer | undefined => {
    const { fields, workNotes } = incident
    const changes = Object.entries(given as object).filter(([name]) => WRITABLE.includes(name))
    const next = { ...fields, ...Object.fromEntries(changes.map(([name, value]) => [name, String(value ?? '')])) }
    if (['7', '8'].includes(fields['state']!) && next['state'] !== fields['state'])
      return failure(
        403,
        'Operation Failed',
        'Operation against file incident was aborted by Business Rule: closed incidents cannot be reopened',
      )
    if (!Object.hasOwn(STATES, next['state']!)) return failure(403, 'Operation Failed', `state: invalid value ${next['state']}`)
    if (['6', '7'].includes(next['state']!) && (next['close_code'] === '' || next['close_notes'] === ''))
      return failure(
        403,
        'Operation Failed',
        'Data Policy Exception: The following fields are mandatory: Resolution code, Resolution notes',
      )
    for (const name of ['impact', 'urgency'])
      if (!['1', '2', '3'].includes(next[name]!)) return failure(403, 'Operation Failed', `${name}: invalid value ${next[name]}`)
    if (next['work_notes'] !== '') append(workNotes, { at: new Date(clock.nowMs()).toISOString(), text: next['work_notes']! })
    Object.assign(fields, next, {
      work_notes: '',
      comments: '',
      short_description: [...next['short_description']!].slice(0, MAX_SHORT_DESCRIPTION).join(''),
      description: [...next['description']!].slice(0, MAX_TEXT).join(''),
      priority: PRIORITIES.get(`${next['impact']}${next['urgency']}`)!,
      active: String(!['7', '8'].includes(next['state']!)),
      sys_updated_on: nowText(),
    })
    return undefined
  }

  const create = (json: unknown): StubAnswer => {
    const blank = Object.fromEntries(WRITABLE.map(name => [name, '']))
    const number = `INC${String(++numbers).padStart(7, '0')}`
    const fields = {
      ...blank,
      state: '1',
      impact: '3',
      urgency: '3',
      sys_id: randomUUID().replaceAll('-', ''),
      number,
      sys_created_on: nowText(),
      opened_at: nowText(),
    }
    const incident: ServiceNowIncident = { fields, workNotes: [] }
    const problem = write(incident, json)
    if (problem !== undefined) return problem
    incidents.put(fields.sys_id, incident)
    return { status: 201, body: { result: incident.fields } }
  }

  const onIncident =
    (handle: (incident: ServiceNowIncident, request: StubRequest) => StubAnswer) =>
    (request: StubRequest): StubAnswer => {
      const incident = incidents.get(request.params['id']!)
      return incident === undefined
        ? failure(404, 'No Record found', "Record doesn't exist or ACL restricts the record retrieval")
        : handle(incident, request)
    }
  const change = onIncident((incident, { json }) =>
    isJsonObject(json)
      ? (write(incident, json) ?? { body: { result: incident.fields } })
      : failure(400, 'Exception while reading request', 'The payload is not valid JSON.'),
  )

  const routes: readonly StubRoute[] = [
    {
      method: 'POST',
      path: '/api/now/table/incident',
      handle: ({ json }) =>
        isJsonObject(json) ? create(json) : failure(400, 'Exception while reading request', 'The payload is not valid JSON.'),
    },
    {
      method: 'GET',
      path: '/api/now/table/incident',
      handle: ({ query }) => ({ body: { result: selectFrom(incidents.all(), query).map(each => showIncidentFields(each, query)) } }),
    },
    {
      method: 'GET',
      path: '/api/now/table/incident/:id',
      handle: onIncident((incident, { query }) => ({ body: { result: showIncidentFields(incident, query) } })),
    },
    { method: 'PATCH', path: '/api/now/table/incident/:id', handle: change },
    { method: 'PUT', path: '/api/now/table/incident/:id', handle: change },
    {
      method: 'GET',
      path: '/api/now/table/sys_choice',
      handle: ({ query }) => ({
        body: {
          result: select(
            CLOSE_CODES.map(value => ({ name: 'incident', element: 'close_code', value, label: value, inactive: 'false' })),
            query,
          ),
        },
      }),
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
    clear: () => incidents.clear(),
  }
}

/** People open these in a browser. */
const NAV = '/nav_to.do'
const FORM = '/incident.do'

const MESSAGES: Readonly<Record<number, string>> = { 403: 'Insufficient rights', 404: 'No Record found', 429: 'Rate limit exceeded' }

function failure(status: number, message: string, detail: string): StubAnswer {
  return { status, body: { error: { message, detail }, status: 'failure' } }
}
const NOT_AUTHENTICATED = failure(401, 'User Not Authenticated', 'Required to provide Auth information')

const OPERATORS: readonly (readonly [string, (have: string, wanted: string) => boolean])[] = [
  ['STARTSWITH', (have, wanted) => have.startsWith(wanted)],
  ['LIKE', (have, wanted) => have.includes(wanted)],
  ['NOT IN', (have, wanted) => !wanted.split(',').includes(have)],
  ['IN', (have, wanted) => wanted.split(',').includes(have)],
  ['!=', (have, wanted) => have !== wanted],
  ['=', (have, wanted) => have === wanted],
]

/** `a=b^c!=d^ORDERBY…`; a condition that is not understood is ignored, as there. */
function fitsQuery(fields: Fields, query: string): boolean {
  return query.split('^').every(condition => {
    const found = OPERATORS.map(([name, fits]) => ({ at: condition.indexOf(name), name, fits })).find(({ at }) => at > 0)
    if (condition.startsWith('ORDERBY') || found === undefined) return true
    return found.fits(fields[condition.slice(0, found.at)] ?? '', condition.slice(found.at + found.name.length))
  })
}

function select(rows: readonly Fields[], query: URLSearchParams): readonly Fields[] {
  return selectFrom(
    rows.map(fields => ({ fields })),
    query,
  ).map(({ fields }) => pick(fields, query))
}

function selectFrom<T extends { readonly fields: Fields }>(rows: readonly T[], query: URLSearchParams): readonly T[] {
  return rows
    .filter(({ fields }) => fitsQuery(fields, query.get('sysparm_query') ?? ''))
    .slice(0, Number(query.get('sysparm_limit') ?? 10_000))
}

function pick(fields: Fields, query: URLSearchParams): Fields {
  const names = query.get('sysparm_fields')?.split(',')
  return names === undefined ? fields : Object.fromEntries(names.map(name => [name, fields[name] ?? '']))
}

/** A journal field such as `work_notes` has no value; what was written into it is its display value. */
function showIncidentFields({ fields, workNotes }: ServiceNowIncident, query: URLSearchParams) {
  const selected = pick(fields, query)
  if (query.get('sysparm_display_value') !== 'all') return selected
  const journal = workNotes.map(({ at, text }) => `${at} - Demo (Work notes)\n${text}\n`).join('\n')
  const display = (name: string, value: string) => (name === 'work_notes' ? journal : value)
  return Object.fromEntries(Object.entries(selected).map(([name, value]) => [name, { display_value: display(name, value), value }]))
}

const STATE_TONES = new Map(Object.entries({ 1: 'red', 2: 'blue', 3: 'yellow', 6: 'green', 7: 'grey', 8: 'grey' }))
const PRIORITY_NAMES = new Map(
  Object.entries({
    1: '1 - Critical',
    2: '2 - High',
    3: '3 - Moderate',
    4: '4 - Low',
    5: '5 - Planning',
  }),
)
const PRIORITY_TONES = new Map(Object.entries({ 1: 'red', 2: 'orange', 3: 'yellow', 4: 'blue', 5: 'grey' }))
const SHOWN = [
  'impact',
  'urgency',
  'category',
  'assignment_group',
  'caller_id',
  'correlation_id',
  'correlation_display',
  'close_code',
  'close_notes',
]

function showIncident({ fields, workNotes }: ServiceNowIncident): Html {
  const { state = '', priority = '', number, sys_id: id = '', opened_at: openedAt } = fields
  return html`<article id="${id}"><header><strong>${number}</strong>${badge(STATES[state]!, STATE_TONES.get(state)!)}${badge(PRIORITY_NAMES.get(priority)!, PRIORITY_TONES.get(priority)!)}<span class="soft">opened ${openedAt}</span></header>
<h2>${fields['short_description']}</h2><pre>${fields['description']}</pre>
<table>${SHOWN.filter(name => fields[name] !== '').map(name => html`<tr><th>${name}</th><td>${fields[name]}</td></tr>`)}</table>
${[...workNotes].reverse().map(({ at, text }) => html`<div class="entry">${when(at)} Work notes<pre>${text}</pre></div>`)}</article>`
}
