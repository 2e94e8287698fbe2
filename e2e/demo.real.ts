/** `logpipeline demo` on a standalone: each fault makes incidents whose cause is the service that broke, and the time before makes none. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { FAULT_NAMES, FAULTS } from '../dataplane/demo/shop/faults.ts'
import type { SeenIncident } from '../dataplane/demo/shop/incidents.ts'
import { eventually, PROGRAM, type Standalone, startStandalone } from './testing/standalone-process.ts'

type ListedIncident = SeenIncident & { readonly firstSeen: string; readonly createdAt: string }

/** As long as the shop's fault lasts with `--at-once`. */
const BROKEN_AGO_MS = 180_000
/** Records that are kept of a silent service are those of its last three half minutes. */
const SHOWN_BEFORE_MS = 120_000

/** A cause that came too late for the first attempt is there a minute later. */
const PATIENT = { timeoutMs: 90_000, pauseMs: 1_000 } as const

describe('logpipeline demo', function () {
  this.timeout(330_000)
  let app: Standalone
  before(async () => {
    app = await startStandalone()
  })
  after(() => app?.remove())

  for (const fault of FAULT_NAMES)
    it(`${fault}: names ${FAULTS[fault].cause} as the cause of each incident, and had none before`, async () => {
      // See the shop's README: a silent worker needs another service on its partition.
      const tenant = fault === 'silent-worker' ? 'default' : fault
      const startedMs = Date.now()
      const args = ['demo', '--fault', fault, '--seed', '7', '--history', '15', '--at-once', '--tenant', tenant]
      const { stdout } = await promisify(execFile)(PROGRAM, [...args, '--endpoint', app.collector, '--console', app.dashboard])
      expect(stdout).to.contain(`broke three minutes ago (${fault})`)
      const [, id] = /Open \S+\/incidents\/(\S+)/.exec(stdout)!
      await eventually(async () => {
        const headers = { 'x-service-tenant-id': tenant }
        const incidents = (await (await fetch(`${app.ticketing}/api/incidents`, { headers })).json()) as readonly ListedIncident[]
        expect(incidents.map(incident => incident.id)).to.include(id)
        for (const { service, rootCause, firstSeen } of incidents) {
          expect(rootCause?.candidates[0]?.service, `cause of the incident of ${service}`).to.equal(FAULTS[fault].cause)
          expect(Date.parse(firstSeen), `incident of ${service}`).to.be.above(startedMs - BROKEN_AGO_MS - SHOWN_BEFORE_MS)
        }
      }, PATIENT)
    })
})
