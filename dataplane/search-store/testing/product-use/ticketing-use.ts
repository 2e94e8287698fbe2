/** Requests of the ticketing agent to the search store: the list with all its filters and pages, changes, batches, audit, configuration. */
import { createHmac } from 'node:crypto'
import { dispatchesIndex } from '../../../contract/indices.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { DeclaredLayer } from '../../../ports/declared-ticketing.ts'
import { startTicketing } from '../../../roles/ticketing/ticketing.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createCaller, type JsonAnswer } from '../../../testing/http-caller.ts'
import { storeIncidents } from '../../../testing/incident-fixture.ts'
import { CONTESTED, type RecordedStore } from './recorded-store.ts'

const NOW_MS = Date.UTC(2026, 0, 2)
const TENANTS = ['ticketing-a', 'ticketing-b'] as const
const SERVICES = ['cart', 'checkout', 'Payment service']
const STATUSES = ['open', 'acknowledged', 'escalated', 'resolved'] as const
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

const idOf = (i: number) => `a0000000-0000-5000-8000-0000000001${String(i).padStart(2, '0')}`

/** Several share a creation time, so that the order of pages hangs on the id. */
const INCIDENTS: readonly Partial<Incident>[] = Array.from({ length: 48 }, (_, i) => {
  const at = new Date(Date.UTC(2026, 0, 1) + Math.floor(i / 3) * 1_800_000).toISOString()
  return {
    id: idOf(i),
    tenantId: TENANTS[i % 2]!,
    status: STATUSES[i % 4]!,
    severity: SEVERITIES[Math.floor(i / 4) % 4]!,
    service: SERVICES[i % 3]!,
    title: `incident ${i}`,
    createdAt: at,
    updatedAt: at,
    lastSeen: at,
  }
})

const FILTERS = [
  '',
  ...STATUSES.map(status => `status=${status}`),
  ...SEVERITIES.map(severity => `severity=${severity}`),
  ...['cart', 'Payment%20service', 'payment', 'nobody', '*', 'x'.repeat(1_100)].map(service => `service=${service}`),
  'from=2026-01-01T03:00:00Z',
  'to=2026-01-01T03:00:00%2B01:00',
  'from=2026-01-01T01:30:00.000Z&to=2026-01-01T01:30:00.000Z',
  'from=2026-01-02&to=2026-01-01',
  'from=1969-12-31',
  'from=9999-12-31T23:59:59.999Z',
  'status=open&severity=high&service=cart&from=2026-01-01&to=2026-01-03',
  'recurring=true',
  'recurring=false',
  'status=closed',
  'limit=0',
]

const WEBHOOK_SECRET = 'a secret of tests'
/** Declared, since what is PATCHed is stored under a key that is made up anew. */
const DECLARED: DeclaredLayer = {
  anomaly: {},
  platforms: {
    opsgenie: { owner: 'tests/opsgenie', fields: { apiKey: 'k', webhookSecret: WEBHOOK_SECRET } },
    jira: { owner: 'tests/jira', fields: { baseUrl: 'https://shop.atlassian.example', webhookSecret: WEBHOOK_SECRET } },
  },
  routes: [],
}

export async function useAsTicketing({ store, beforeNextPut }: RecordedStore): Promise<unknown> {
  const clock = createFakeClock(NOW_MS)
  const server = await startTicketing({
    store,
    clock,
    log: SILENT,
    host: '127.0.0.1',
    port: 0,
    declared: { current: () => DECLARED, problems: () => [] },
  })
  const caller = createCaller(`http://127.0.0.1:${server.port}`)
  const seen: unknown[] = []
  const note = ({ status, body, headers }: JsonAnswer) => {
    seen.push({ status, body, cursor: headers.get('x-next-cursor') })
    return headers.get('x-next-cursor')
  }
  const pages = async (query: string, limit: number, tenant?: string) => {
    let cursor: string | null = ''
    do {
      const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      cursor = note(await caller.get(`/api/incidents?${query}${query === '' ? '' : '&'}limit=${limit}${from}`, tenant))
    } while (cursor !== null)
  }
  const change = async (action: string, id: string, tenant?: string, body?: object) => {
    clock.advance(1_000)
    note(await caller.send('POST', `/api/incidents/${encodeURIComponent(id)}/${action}`, body, tenant))
  }
  try {
    note(await caller.get('/api/incidents', 'ticketing-none'))
    note(await caller.get(`/api/incidents/${idOf(0)}`, 'ticketing-none'))
    await storeIncidents(store, ...INCIDENTS)
    for (const tenant of TENANTS) await store.refresh(`service-incidents-${tenant}`)

    for (const tenant of [undefined, TENANTS[0]]) for (const filter of FILTERS) note(await caller.get(`/api/incidents?${filter}`, tenant))
    for (const [query, limit] of [
      ['', 5],
      ['', 1000],
      ['severity=high', 1],
      ['service=cart', 3],
    ] as const)
      await pages(query, limit, TENANTS[1])
    await pages('', 7)

    for (const id of [idOf(0), idOf(1), 'none', '../_search', 'ä b', '*', 'x'.repeat(600)]) {
      note(await caller.get(`/api/incidents/${encodeURIComponent(id)}`))
      note(await caller.get(`/api/incidents/${encodeURIComponent(id)}`, TENANTS[0]))
    }
    for (const action of ['acknowledge', 'escalate', 'resolve', 'reopen', 'acknowledge'])
      await change(action, idOf(0), undefined, { actor: 'me', note: `${action} it` })
    await change('comment', idOf(0), undefined, { actor: 'me', note: 'words' })
    await change('resolve', idOf(1), TENANTS[0])
    await change('resolve', 'none')
    for (const tenant of [undefined, TENANTS[0], TENANTS[1]]) note(await caller.get(`/api/v1/audit?incident_id=${idOf(0)}`, tenant))

    // An anomaly folded in between: the change is made on top of it.
    beforeNextPut(async () => {
      const folded = (await store.get<Incident>('service-incidents-ticketing-a', idOf(4)))!
      return store.put('service-incidents-ticketing-a', idOf(4), { ...folded.source, anomalyCount: 4 }, folded)
    })
    await change('acknowledge', idOf(4))
    note(await caller.get(`/api/incidents/${idOf(4)}`))

    // A comment goes to the tickets that are out.
    const untold = (await store.get<Incident>('service-incidents-ticketing-a', idOf(4)))!
    const told = { ...untold.source, platforms: ['opsgenie'], ticketing: { takenAt: new Date(NOW_MS).toISOString() } }
    await store.put('service-incidents-ticketing-a', idOf(4), told, untold)
    await change('comment', idOf(4), undefined, { actor: 'me', note: 'words for the ticket' })

    // Exactly one of several simultaneous calls wins.
    await storeIncidents(store, { id: `${CONTESTED}1`, tenantId: 'ticketing-c' })
    await store.refresh('service-incidents-ticketing-c')
    const contested = await Promise.all(Array.from({ length: 8 }, () => caller.send('POST', `/api/incidents/${CONTESTED}1/acknowledge`)))
    seen.push(contested.map(({ status }) => status).sort())
    note(await caller.get(`/api/v1/audit?incident_id=${CONTESTED}1`))

    for (const query of ['', 'from=2026-01-01&to=2026-01-01T06:00:00Z', 'from=2025-01-01&to=2025-02-01'])
      for (const tenant of [undefined, TENANTS[0]]) note(await caller.get(`/api/v1/stats?${query}`, tenant))

    // Opsgenie tells of a ticket that is there, and of one that is not.
    const ticket = { tenantId: TENANTS[0], incidentId: idOf(2), platform: 'opsgenie', ticketKey: idOf(2), externalId: idOf(2) }
    await store.put(dispatchesIndex(TENANTS[0]!), `${idOf(2)}-opsgenie`, ticket)
    const issue = { ...ticket, platform: 'jira', externalId: 'OPS-17', rows: [{ event: 'reopen', isUnderWay: true }] }
    await store.put(dispatchesIndex(TENANTS[0]!), `${idOf(2)}-jira`, issue)
    await store.refresh(dispatchesIndex(TENANTS[0]!))
    for (const alias of [idOf(2), 'none']) {
      clock.advance(1_000)
      const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/webhooks/opsgenie?tenant=${TENANTS[0]}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-webhook-secret': WEBHOOK_SECRET },
        body: JSON.stringify({ action: 'Close', alert: { alertId: 'a-1', alias, username: 'Ada' } }),
      })
      seen.push(response.status, await response.json())
    }
    // Jira tells of an issue that is opened again from here just now.
    const underWay = JSON.stringify({
      webhookEvent: 'jira:issue_updated',
      timestamp: clock.nowMs(),
      user: { displayName: 'Ada' },
      issue: { key: 'OPS-17', fields: { status: { statusCategory: { key: 'indeterminate' } }, labels: [] } },
      changelog: { items: [{ field: 'status' }] },
    })
    const echo = await fetch(`http://127.0.0.1:${server.port}/api/v1/webhooks/jira?tenant=${TENANTS[0]}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature': `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(underWay).digest('hex')}`,
      },
      body: underWay,
    })
    seen.push(echo.status, await echo.json())

    clock.advance(1_000)
    const ids = [...Array.from({ length: 12 }, (_, i) => idOf(i)), 'none', idOf(3)]
    note(await caller.send('POST', '/api/v1/incidents/batch', { ids, action: 'resolve' }, TENANTS[0]))
    note(await caller.send('POST', '/api/v1/incidents/batch', { ids, action: 'reopen' }))
    note(await caller.get('/api/incidents?status=open'))

    for (const tenant of ['ticketing-a', undefined]) {
      note(await caller.get('/api/v1/config', tenant))
      note(await caller.send('PATCH', '/api/v1/config/anomaly', { minimumScore: 0.7 }, tenant))
      note(await caller.send('PATCH', '/api/v1/config/anomaly', { lookbackWindow: '20m' }, tenant))
      note(await caller.get('/api/v1/config', tenant))
    }
    return seen
  } finally {
    await server.stop()
  }
}
