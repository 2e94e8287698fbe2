/** The set-up of tests that tell how an incident becomes tickets: a store, a world of its own and a tenant for each test, and what happens to its incidents. */
import { after, before, beforeEach, describe } from 'mocha'
import { incidentsIndex } from '../../../contract/indices.ts'
import type { Incident, IncidentDispatch } from '../../../domain/incidents/incident-fields.ts'
import type { IncidentAction } from '../../../domain/incidents/incident-status.ts'
import { oweChange, type TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import { showRows } from '../../../domain/tickets/ticket-thread.ts'
import type { SearchStore, Versioned } from '../../../ports/search-store.ts'
import { storeIncidents } from '../../../testing/incident-fixture.ts'
import { putIndexTemplates } from '../../../testing/put-index-templates.ts'
import { readDispatches, readThreads } from '../thread-store.ts'
import { buildConfig } from './fake-config.ts'
import { createTicketWorld, type TicketWorld } from './ticket-world.ts'

export type OpenStore = () => Promise<{ readonly store: SearchStore; stop(): Promise<unknown> }>

type Edit = (incident: TicketedIncident) => TicketedIncident

export interface TicketStory {
  readonly store: SearchStore
  readonly world: TicketWorld
  readonly tenant: string
  /** Configures the tenant. */
  use(...config: Parameters<typeof buildConfig>): void
  /** Stores an incident, the first one unless `overrides` name another. */
  add(overrides?: Partial<Incident>): Promise<void>
  /** The id of the n-th incident, from 1. */
  id(n?: number): string
  read(n?: number): Promise<Versioned<TicketedIncident>>
  change(edit: Edit, n?: number): Promise<void>
  /** A person changes the state of the first incident. */
  act(action: IncidentAction, status: Incident['status']): Promise<void>
  /** As `<target> <event> <status>`. */
  rows(n?: number): Promise<readonly string[]>
  dispatches(n?: number): Promise<Readonly<Record<string, IncidentDispatch>>>
  /** Changes the first incident as the bridge does. */
  grow(edit: Partial<Incident>): Promise<void>
}

let tests = 0

export function describeTicketStory(title: string, open: OpenStore, tell: (story: TicketStory) => void): void {
  describe(title, function () {
    this.timeout(60_000)
    let opened: Awaited<ReturnType<OpenStore>>
    let world: TicketWorld
    let tenant: string

    before(async () => {
      opened = await open()
      await putIndexTemplates(opened.store)
    })
    after(() => opened.stop())
    beforeEach(() => {
      tenant = `tenant-${++tests}`
      world = createTicketWorld(opened.store)
      world.config.tenants.set(tenant, buildConfig())
    })

    const id = (n = 1) => `${tenant}-i${n}`
    const nowIso = () => new Date(world.clock.nowMs()).toISOString()
    const read = async (n = 1) => (await opened.store.get<TicketedIncident>(incidentsIndex(tenant), id(n)))!
    const change = async (edit: Edit, n = 1) => {
      const stored = await read(n)
      await opened.store.put(incidentsIndex(tenant), id(n), edit(stored.source), stored)
    }
    tell({
      get store() {
        return opened.store
      },
      get world() {
        return world
      },
      get tenant() {
        return tenant
      },
      use: (...config) => void world.config.tenants.set(tenant, buildConfig(...config)),
      add: (overrides = {}) => storeIncidents(opened.store, { id: id(), tenantId: tenant, ...overrides }),
      id,
      read,
      change,
      act: (action, status) => change(incident => ({ ...oweChange(incident, { action, at: nowIso(), actor: 'ada' }), status })),
      rows: async (n = 1) =>
        (await readThreads(opened.store, (await read(n)).source))
          .flatMap(thread => showRows(thread, nowIso()))
          .map(({ platform, event, status }) => `${platform} ${event} ${status}`),
      async dispatches(n = 1) {
        const { source } = await read(n)
        return (await readDispatches(opened.store, [source]))(source)
      },
      grow: edit => change(incident => ({ ...incident, ...edit, ticketing: { ...incident.ticketing, attentionAt: nowIso() } })),
    })
  })
}
