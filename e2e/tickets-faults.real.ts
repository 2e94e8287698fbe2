/** Tickets under long and rough faults, on the embedded store and on OpenSearch: each incident has one ticket on each target, its events in order. */
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
  faultRecords,
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

const KILLS = 20
/** A row whose sender was killed waits for its lease. */
const AFTER_A_KILL_MS = 120_000
const MANY = 1_000
/** What the ticketing agent may need for them beyond what it needs for one. */
const MAX_GROWTH_BYTES = 150 * 1024 * 1024
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

/** Where incidents are stored, and where its process, if any, listens. */
interface StoreUnderTest {
  readonly url: string
  stop(): Promise<void>
}

const STORES: Readonly<Record<string, () => Promise<StoreUnderTest>>> = {
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

for (const [name, startStore] of Object.entries(STORES))
  describe(`tickets on ${name}, on bad days`, function () {
    this.timeout(600_000)
    let store: StoreUnderTest
    let door: FaultyProxy
    let at: TicketFixture
    let replica: RoleProcess
    let onDone: (platform: string, request: string) => void | Promise<void> = () => undefined
    const env = () => ({ SEARCH_ENDPOINT: door.url, ENCRYPTION_KEY })

    before(async () => {
      store = await startStore()
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

    /** Slack has nothing to tell a message by that it got twice: it may have one more for each answer that was lost. */
    const expectOneTicketEach = (service: string, lostAnswers = 0) => {
      expect(ticketCounts(at, service), service).to.deep.equal(oneOnEach())
      expect(ticketsOf(at, 'slack', service)[0]!.log.length, `${service} on Slack`).to.be.within(1, 1 + lostAnswers)
      expect(ticketsOf(at, 'email', service)[0]!.log, `${service} by mail`).to.have.length(1)
      expect(ticketsOf(at, 'pagerduty', service)[0]!.log.filter(action => action !== 'trigger')).to.deep.equal([])
    }

    it('a stall of 30 s, before and after the request was accepted', async () => {
      for (const platform of PLATFORMS) at.stubs.fault(platform, { kind: 'stall', ms: 35_000, afterAccepting: platform !== 'slack' })
      await makeIncident(at, 'stalled')
      await untilDispatched(at, 'stalled', { timeoutMs: 150_000 })
      expectOneTicketEach('stalled', 1)
    })

    it('an answer of Jira is lost, and its search knows of the issue only 8 s later', async () => {
      at.stubs.fault('jira', { kind: 'own', name: 'search-lag', value: 8_000 })
      at.stubs.fault('jira', { kind: 'reset', afterAccepting: true, on: 'POST /rest/api/3/issue' })
      await makeIncident(at, 'lagging')
      await untilDispatched(at, 'lagging', { timeoutMs: 90_000 })
      expectOneTicketEach('lagging')
    })

    it('a connection to Jira breaks before the issue was accepted', async () => {
      at.stubs.fault('jira', { kind: 'reset', on: 'POST /rest/api/3/issue' })
      await makeIncident(at, 'unaccepted')
      await untilDispatched(at, 'unaccepted', { timeoutMs: 90_000 })
      expectOneTicketEach('unaccepted')
    })

    it('a platform that is down for half a minute holds up no other, and gets each ticket once it is back', async () => {
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
      await sleep(30_000)
      // A breaker keeps what is down alone.
      expect((at.stubs.state('opsgenie')['requests'] as number) - requests).to.be.below(20)
      await fetch(`${at.stubs.addresses.opsgenie}/_stub/state`, { method: 'DELETE' })
      for (const service of services) await untilDispatched(at, service, { timeoutMs: 120_000 })
      for (const service of services) expectOneTicketEach(service)
    })

    it(`kill -9 between send and record, ${KILLS} times`, async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const service = `killed-${String(kill).padStart(2, '0')}`
        let left = 1 + Math.floor(Math.random() * 10)
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
        await Promise.race([died, sleep(15_000)])
        onDone = () => undefined
        await at.app.kill()
        await at.app.restart()
        if (!isTaken) await makeIncident(at, service)
      }
      for (let kill = 0; kill < KILLS; kill++) {
        const service = `killed-${String(kill).padStart(2, '0')}`
        await untilDispatched(at, service, { timeoutMs: AFTER_A_KILL_MS })
        expectOneTicketEach(service, 1)
      }
    })

    it('two replicas on one store, one of which is killed and comes back', async () => {
      const settings = { ...env(), DATA_DIR: at.app.dataDir }
      replica = await startRole('ticketing', settings)
      const services = Array.from({ length: 30 }, (_, i) => `shared-${String(i).padStart(2, '0')}`)
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

    it('the search store is gone for a minute', async () => {
      const services = Array.from({ length: 10 }, (_, i) => `storeless-${i}`)
      await postRecords(
        at.app.collector,
        services.flatMap(service => faultRecords(service)),
      )
      await eventually(async () => expect(services.filter(service => ticketsOf(at, 'jira', service).length > 0)).not.to.be.empty, {
        timeoutMs: 30_000,
      })
      door.decide(() => 'cut')
      await sleep(60_000)
      door.decide(() => undefined)
      for (const service of services) await untilDispatched(at, service, { timeoutMs: AFTER_A_KILL_MS })
      for (const service of services) expectOneTicketEach(service, 1)
    })

    it(`${MANY} incidents at once, within the targets' limits, with flat memory`, async () => {
      const targets = ['servicenow', 'opsgenie', 'email'] as const
      expect((await at.api.send('PATCH', '/api/v1/config/routing', { medium: targets })).status).to.equal(200)
      for (const platform of [...targets, 'slack'] as const)
        await fetch(`${at.stubs.addresses[platform]}/_stub/state`, { method: 'DELETE' })
      const services = Array.from({ length: MANY }, (_, i) => `many-${String(i).padStart(4, '0')}`)
      const before = residentBytes(at.app.pid)
      let peak = before
      for (let start = 0; start < MANY; start += 100)
        expect(
          await postRecords(
            at.app.collector,
            services.slice(start, start + 100).flatMap(service => faultRecords(service)),
          ),
        ).to.equal(200)
      const startMs = Date.now()
      const arrived = () => targets.map(platform => services.filter(service => ticketsOf(at, platform, service).length > 0).length)
      await eventually(
        async () => {
          peak = Math.max(peak, residentBytes(at.app.pid))
          expect(arrived()).to.deep.equal(targets.map(() => MANY))
        },
        { timeoutMs: 560_000, pauseMs: 2_000 },
      )
      console.log(
        `      ${MANY} incidents on ${targets.length} targets in ${Math.round((Date.now() - startMs) / 1_000)} s; memory ${mebibytes(before)} before, ${mebibytes(peak)} at most`,
      )
      for (const service of services) expect(ticketCounts(at, service, targets)).to.deep.equal(oneOnEach(targets))
      for (const platform of targets) expect(at.stubs.state(platform)['limited'], platform).to.equal(0)
      expect(peak - before).to.be.below(MAX_GROWTH_BYTES)
    })
  })

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
const mebibytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`
