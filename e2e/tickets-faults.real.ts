/**
 * Tickets under long and rough faults, on the embedded store and on OpenSearch: each incident has one ticket on each target, its events in order.
 * With `TICKETS_FAULTS=all` as often and as long as the figures of `dataplane/pipeline/tickets/README.md` say; else few of each, in minutes.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type RoleProcess, startRole } from '../dataplane/roles/stream/testing/role-process.ts'
import { type FaultyProxy, startFaultyProxy } from '../dataplane/testing/faulty-proxy.ts'
import { createCaller } from '../dataplane/testing/http-caller.ts'
import { backendAddress } from '../dataplane/testing/real/address.ts'
import { postRecords } from './testing/api.ts'
import { eventually } from './testing/standalone-process.ts'
import {
  type FaultSeverity,
  faultRecords,
  headlinesOf,
  incidentOf,
  makeIncident,
  oneOnEach,
  PLATFORMS,
  type Platform,
  type ShownIncident,
  startTicketFixture,
  type TicketFixture,
  ticketCounts,
  ticketsOf,
  untilDispatched,
} from './testing/ticket-fixture.ts'

export const needs = ['opensearch']

/** A row whose sender was killed waits for its lease. */
const AFTER_A_KILL_MS = 120_000
/** How long a process lives that is to be killed at one of its requests, and does not get as far as that request. */
const MAX_LIFE_MS = 6_000
/** Growth of the whole standalone that the burst may bring; 149 MiB were seen. */
const MAX_GROWTH_BYTES = 256 * 1024 * 1024
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

/** How much of the suite runs on a store. In the short run, that of all suites, what platforms do on bad days is looked at on one store: all of it takes a quarter of an hour each. */
interface Extent {
  readonly platformFaults: boolean
  /** How long a platform is down. */
  readonly downMs: number
  readonly kills: number
  readonly sharedIncidents: number
  readonly goneMs: number
  /** By severity, and so by target. None: not looked at. */
  readonly burst: Readonly<Partial<Record<FaultSeverity, number>>>
}

const FEW = {
  'the embedded store': {
    platformFaults: true,
    downMs: 15_000,
    kills: 3,
    sharedIncidents: 5,
    goneMs: 15_000,
    burst: { medium: 92, high: 92, critical: 16 },
  },
  OpenSearch: { platformFaults: false, downMs: 0, kills: 1, sharedIncidents: 3, goneMs: 5_000, burst: {} },
} as const satisfies Readonly<Record<string, Extent>>
type StoreName = keyof typeof FEW

const ALL: Extent = {
  platformFaults: true,
  downMs: 30_000,
  kills: 20,
  sharedIncidents: 10,
  goneMs: 60_000,
  burst: { medium: 460, high: 460, critical: 80 },
}
const RUNS_ALL = process.env['TICKETS_FAULTS'] === 'all'

/** Each incident of the burst goes to few targets: with what a target takes in a second, 1,000 on each of six would take a quarter of an hour. */
const BURST_ROUTING: Readonly<Record<FaultSeverity, readonly Platform[]>> = {
  medium: ['servicenow'],
  high: ['opsgenie', 'email'],
  critical: ['pagerduty', 'slack'],
}

/** Slack's limit, in a moment and for long. */
const SLACK_LIMIT = { kind: 'limit', perSecond: 1, burst: 5 } as const

/** Where incidents are stored, and where its process, if any, listens. */
interface StoreUnderTest {
  readonly url: string
  stop(): Promise<void>
}

const STORES: Readonly<Record<StoreName, () => Promise<StoreUnderTest>>> = {
  async 'the embedded store'() {
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-tickets-'))
    const role: RoleProcess = await startRole('search', { DATA_DIR: directory })
    return {
      url: role.url,
      async stop() {
        await role.stop()
        rmSync(directory, { recursive: true, force: true })
      },
    }
  },
  async OpenSearch() {
    const url = backendAddress('opensearch')
    const clear = async () => void (await (await fetch(`${url}/service-*?expand_wildcards=all`, { method: 'DELETE' })).text())
    await clear()
    return { url, stop: clear }
  },
}

for (const name of Object.keys(STORES) as StoreName[]) {
  const extent: Extent = RUNS_ALL ? ALL : FEW[name]
  describe(`tickets on ${name}, on bad days`, function () {
    this.timeout(600_000)
    let store: StoreUnderTest
    let door: FaultyProxy
    let at: TicketFixture
    let replica: RoleProcess
    let onDone: (platform: string, request: string) => void | Promise<void> = () => undefined
    const env = () => ({ SEARCH_ENDPOINT: door.url, ENCRYPTION_KEY, ALLOW_PRIVATE_TARGETS: 'true' })

    before(async () => {
      if (!RUNS_ALL) console.log(`      ${extent.kills} of ${ALL.kills} kills and the like: all with TICKETS_FAULTS=all`)
      store = await STORES[name]()
      door = await startFaultyProxy(store.url)
      at = await startTicketFixture({ env: env(), onDone: (platform, request) => onDone(platform, request) })
      at.stubs.fault('slack', { kind: 'limit', perSecond: 50, burst: 50 })
    })
    after(async () => {
      await replica?.kill()
      await at?.stop()
      await door?.stop()
      await store?.stop()
    })

    /** Forgets its faults, too. */
    const clearStub = (platform: Platform) => fetch(`${at.stubs.addresses[platform]}/_stub/state`, { method: 'DELETE' })

    /** Slack has nothing to tell a message by that it got twice: it may have one more for each answer that was lost. */
    const expectOneTicketEach = (service: string, lostAnswers = 0) => {
      expect(ticketCounts(at, service), service).to.deep.equal(oneOnEach())
      expect(ticketsOf(at, 'slack', service)[0]!.log.length, `${service} on Slack`).to.be.within(1, 1 + lostAnswers)
      expect(ticketsOf(at, 'email', service)[0]!.log, `${service} by mail`).to.have.length(1)
      expect(ticketsOf(at, 'pagerduty', service)[0]!.log.filter(action => action !== 'trigger')).to.deep.equal([])
    }

    if (extent.platformFaults) {
      it('a stall of 30 s, before and after the request was accepted; an answer of Jira is lost, and its search knows of the issue only 8 s later', async () => {
        for (const platform of PLATFORMS)
          if (platform !== 'jira') at.stubs.fault(platform, { kind: 'stall', ms: 35_000, afterAccepting: platform !== 'slack' })
        at.stubs.fault('jira', { kind: 'own', name: 'search-lag', value: 8_000 })
        at.stubs.fault('jira', { kind: 'reset', afterAccepting: true, on: 'POST /rest/api/3/issue' })
        await makeIncident(at, 'stalled')
        await eventually(async () => expect(ticketsOf(at, 'jira', 'stalled')).not.to.be.empty, { timeoutMs: 30_000 })
        // A create that never arrived takes Jira's whole patience.
        at.stubs.fault('jira', { kind: 'reset', on: 'POST /rest/api/3/issue' })
        await makeIncident(at, 'unaccepted')
        for (const service of ['stalled', 'unaccepted']) await untilDispatched(at, service, { timeoutMs: 150_000 })
        for (const service of ['stalled', 'unaccepted']) expectOneTicketEach(service, 1)
      })

      it('a platform that is down for a while holds up no other, and gets each ticket once it is back', async () => {
        at.stubs.fault('opsgenie', { kind: 'status', status: 503, times: 1_000 })
        const services = Array.from({ length: 5 }, (_, i) => `breaker-${i}`)
        for (const service of services) await makeIncident(at, service)
        await eventually(
          async () => {
            for (const service of services) expect(ticketCounts(at, service)).to.deep.equal({ ...oneOnEach(), opsgenie: 0 })
          },
          { timeoutMs: 30_000, pauseMs: 500 },
        )
        const requests = at.stubs.state('opsgenie')['requests'] as number
        await sleep(extent.downMs)
        // A breaker keeps what is down alone.
        expect((at.stubs.state('opsgenie')['requests'] as number) - requests).to.be.below(20)
        await clearStub('opsgenie')
        for (const service of services) await untilDispatched(at, service, { timeoutMs: 120_000 })
        for (const service of services) expectOneTicketEach(service)
      })
    }

    it(`kill -9 between send and record, ${extent.kills} times`, async () => {
      const services = Array.from({ length: extent.kills }, (_, i) => `killed-${String(i).padStart(2, '0')}`)
      for (const service of services) {
        let left = 1 + Math.floor(Math.random() * 7)
        const died = new Promise<void>(resolve => {
          onDone = async () => {
            if (--left !== 0) return
            await at.app.kill()
            resolve()
          }
        })
        // Requests of the incident before may kill it while it takes these records.
        const isTaken = await makeIncident(at, service).then(
          () => true,
          () => false,
        )
        await Promise.race([died, sleep(MAX_LIFE_MS)])
        onDone = () => undefined
        await at.app.kill()
        await at.app.restart()
        if (!isTaken) await makeIncident(at, service)
      }
      for (const service of services) {
        await untilDispatched(at, service, { timeoutMs: AFTER_A_KILL_MS })
        expectOneTicketEach(service, 1)
      }
    })

    it('two replicas on one store, one of which is killed and comes back', async () => {
      const settings = { ...env(), DATA_DIR: at.app.dataDir }
      replica = await startRole('ticketing', settings)
      const services = Array.from({ length: extent.sharedIncidents }, (_, i) => `shared-${String(i).padStart(2, '0')}`)
      await postRecords(
        at.app.collector,
        services.flatMap(service => faultRecords(service)),
      )
      await sleep(3_000)
      await replica.kill()
      replica = await startRole('ticketing', settings)
      for (const service of services) await untilDispatched(at, service, { timeoutMs: AFTER_A_KILL_MS })
      for (const service of services) expectOneTicketEach(service, 1)
      const other = createCaller(replica.url)
      for (const [i, service] of services.entries()) {
        const { id } = await incidentOf(at, service)
        const [first, then] = i % 2 === 0 ? [at.api, other] : [other, at.api]
        expect((await first.send('POST', `/api/incidents/${id}/acknowledge`, {})).status).to.equal(200)
        expect((await then.send('POST', `/api/incidents/${id}/resolve`, {})).status).to.equal(200)
      }
      await eventually(
        async () => {
          for (const service of services)
            for (const platform of ['pagerduty', 'jira', 'servicenow', 'opsgenie'] as const) {
              const tickets = ticketsOf(at, platform, service)
              expect(
                tickets.map(({ status }) => status),
                `${service} on ${platform}`,
              ).to.deep.equal(['resolved'])
            }
        },
        { timeoutMs: 120_000, pauseMs: 1_000 },
      )
      // Slack takes a message a second.
      for (const service of services) await untilDispatched(at, service, { timeoutMs: 180_000 })
      for (const service of services) await expectEventsInOrder(await incidentOf(at, service), other)
      await replica.stop()
    })

    it(`the search store is gone for ${extent.goneMs / 1_000} s`, async () => {
      const services = Array.from({ length: 10 }, (_, i) => `storeless-${i}`)
      await postRecords(
        at.app.collector,
        services.flatMap(service => faultRecords(service)),
      )
      await eventually(async () => expect(services.filter(service => ticketsOf(at, 'jira', service).length > 0)).not.to.be.empty, {
        timeoutMs: 30_000,
      })
      door.decide(() => 'cut')
      await sleep(extent.goneMs)
      door.decide(() => undefined)
      const backMs = Date.now()
      for (const service of services) await untilDispatched(at, service, { timeoutMs: AFTER_A_KILL_MS })
      console.log(`      all tickets out ${seconds(Date.now() - backMs)} after it was back`)
      for (const service of services) expectOneTicketEach(service, 1)
    })

    const burst = Object.entries(extent.burst) as readonly (readonly [FaultSeverity, number])[]
    const many = burst.reduce((sum, [, count]) => sum + count, 0)
    if (many > 0)
      it(`${many} incidents at once, within the targets' limits, with flat memory`, async () => {
        expect((await at.api.send('PATCH', '/api/v1/config/routing', { ...BURST_ROUTING, low: [] })).status).to.equal(200)
        const targets = burst.flatMap(([severity]) => BURST_ROUTING[severity])
        for (const platform of targets) await clearStub(platform)
        const services = burst
          .flatMap(([severity, count]) =>
            Array.from({ length: count }, (_, i) => ({
              service: `many-${severity}-${String(i).padStart(3, '0')}`,
              severity,
              at: i / count,
            })),
          )
          .sort((a, b) => a.at - b.at)
        at.stubs.fault('slack', SLACK_LIMIT)
        const before = residentBytes(at.app.pid)
        const startMs = Date.now()
        for (let start = 0; start < many; start += 100) {
          const records = services.slice(start, start + 100).flatMap(({ service, severity }) => faultRecords(service, severity))
          expect(await postRecords(at.app.collector, records)).to.equal(200)
        }
        let peak = before
        await eventually(
          async () => {
            peak = Math.max(peak, residentBytes(at.app.pid))
            expect(
              targets.map(
                platform => new Set(headlinesOf(at, platform).flatMap(headline => /many-\w+-\d+/.exec(headline)?.[0] ?? [])).size,
              ),
            ).to.deep.equal(burst.flatMap(([severity, count]) => BURST_ROUTING[severity].map(() => count)))
          },
          { timeoutMs: RUNS_ALL ? 540_000 : 180_000, pauseMs: 2_000 },
        )
        console.log(
          `      ${many} incidents on ${targets.length} targets in ${seconds(Date.now() - startMs)}; memory ${mebibytes(before)} before, ${mebibytes(peak)} at most`,
        )
        for (const { service, severity } of services)
          expect(ticketCounts(at, service, BURST_ROUTING[severity]), service).to.deep.equal(oneOnEach(BURST_ROUTING[severity]))
        // A slow network may bunch what was sent in time.
        for (const platform of targets) expect(at.stubs.state(platform)['limited'], platform).to.be.below(5)
        expect(peak - before).to.be.below(MAX_GROWTH_BYTES)
      })
  })
}

/** Each platform was told in the order in which the incident went through its states. */
async function expectEventsInOrder({ id, service }: ShownIncident, api: { get(path: string): Promise<{ body: unknown }> }): Promise<void> {
  const rows = (await api.get(`/api/v1/dispatches?incident_id=${id}`)).body as readonly {
    platform: Platform
    event: string
    status: string
  }[]
  for (const platform of PLATFORMS) {
    const sent = rows.filter(row => row.platform === platform && row.status === 'sent').map(({ event }) => event)
    expect(sent.join(' '), `${service} on ${platform}`).to.match(/^open( acknowledge)? resolve$/)
  }
}

const residentBytes = (pid: number) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1_024
const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`
const mebibytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`
