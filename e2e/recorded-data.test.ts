import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type StubPlatforms, startStubPlatforms } from '../dataplane/demo/platforms/start.ts'
import { isJsonObject } from '../dataplane/json/is-json-object.ts'
import type { FeatureRow } from '../dataplane/ports/online-store.ts'
import { openOnlineStore } from '../dataplane/roles/backends.ts'
import { createCaller } from '../dataplane/testing/http-caller.ts'
import { countDocuments, postRecords } from './testing/api.ts'
import { FOLDER, type Recorded, seenIn } from './testing/recorded-data.ts'
import { eventually, PROGRAM, type Standalone, startStandalone } from './testing/standalone-process.ts'

/** Nothing of the recording is too old, whenever the tests run. */
const RETENTION_DAYS = '3650'

const NAMES = readdirSync(FOLDER)
  .filter(name => name.endsWith('.json'))
  .map(name => name.slice(0, -'.json'.length))

/** Recordings are made by `hack/record-data.ts`. A change that fails here needs a form of its own, and code that reads the one before (docs/operating.md, Upgrade). */
for (const name of NAMES)
  describe(`a backup as it was recorded: ${name}`, function () {
    this.timeout(60_000)
    const recorded = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Recorded
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-recorded-'))
    const dataDir = join(directory, 'data')
    let app: Standalone
    let stubs: StubPlatforms
    let features: readonly (FeatureRow | undefined)[]
    const run = async (args: readonly string[]) =>
      (await promisify(execFile)(PROGRAM, args, { env: { PATH: process.env['PATH'], DATA_DIR: dataDir } })).stdout.trim()

    before(async function () {
      this.timeout(90_000)
      await promisify(execFile)('tar', ['-xzf', join(FOLDER, `${name}.tar.gz`), '-C', directory])
      await run(['restore', join(directory, 'backup')])
      // The start computes those of the hour before anew.
      const onlineStore = await openOnlineStore({ DATA_DIR: dataDir })
      features = await onlineStore.read([{ tenant: 'default', service: 'cart' }])
      await onlineStore.close()
      stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0 })
      app = await startStandalone({ DATA_DIR: dataDir, RETENTION_DAYS })
    })
    after(async () => {
      await app?.remove()
      await stubs?.stop()
      rmSync(directory, { recursive: true, force: true })
    })

    it('has its logs, found in every way, its incidents with their tickets and history, and its settings', async () => {
      expect(within(await seenIn(app), recorded.found)).to.deep.equal(recorded.found)
    })

    it('works off what was on its way, once', async () => {
      const backlog = () => countDocuments(app.search, 'service-logs-*', { term: { service: 'backlog' } })
      await eventually(async () => expect(await backlog()).to.equal(recorded.backlog))
    })

    it('has features, and keys that are good', async () => {
      const [row] = features
      expect(row?.values).to.deep.include({ ml_p99_latency_1h: recorded.features['ml_p99_latency_1h']![0] })
      expect(await statusAtGateway(app.gateway, recorded.key)).to.equal(200)
      expect(
        await statusAtGateway(
          app.gateway,
          recorded.key.replace(/.$/, last => (last === '0' ? '1' : '0')),
        ),
      ).to.equal(401)
    })

    it('tells the ticket that it has of a change, with its secret, and makes no second one', async () => {
      const api = createCaller(app.ticketing)
      const moved = await api.send('PATCH', '/api/v1/config/platforms', { pagerduty: { apiBaseUrl: stubs.addresses.pagerduty } })
      expect(moved.status, JSON.stringify(moved.body)).to.equal(200)
      const { id } = recorded.found.incidents.find(each => (each as { service: string }).service === 'open') as { readonly id: string }
      expect((await api.send('POST', `/api/incidents/${id}/acknowledge`, { actor: 'grace' })).status).to.equal(200)
      const requests = () => stubs.state('pagerduty')['lastRequests'] as readonly { readonly request: string; readonly status: number }[]
      // A wrong key is answered 400; an event that opens a ticket would be among the incidents.
      await eventually(async () =>
        expect(requests().map(({ request, status }) => `${request} ${status}`)).to.deep.equal(['POST /v2/enqueue 202']),
      )
      expect(stubs.state('pagerduty')['incidents']).to.deep.equal([])
    })

    it('has its dead letter, which is replayed once its cause is gone', async () => {
      expect((await run(['dlq', 'list', '--json'])).split('\n')).to.have.lengthOf(1)
      const gone = await fetch(`${app.search}/service-logs-${recorded.dayOfLetter}`, { method: 'DELETE' })
      expect(gone.status).to.equal(200)
      expect(await run(['dlq', 'replay'])).to.equal('replayed 1 letter: 1 to raw-logs')
      await eventually(async () => expect(await countDocuments(app.search, 'service-logs-*', { term: { service: 'letter' } })).to.equal(1))
    })

    it('takes new records beside its own, on the days that it has', async () => {
      const timeUnixNano = `${BigInt(Date.parse(recorded.recordedAt)) * 1_000_000n + 999_999_999n}`
      const record = { id: 'new', service: 'cart', severityText: 'INFO', body: 'order 999 paid by card in 7 ms', attempt: 1, timeUnixNano }
      const cart = () => countDocuments(app.search, 'service-logs-*', { match_phrase: { message: 'paid by card' } })
      const countBefore = await cart()
      expect(await postRecords(app.collector, [record])).to.equal(200)
      await eventually(async () => expect(await cart()).to.equal(countBefore + 1))
    })
  })

/** The members of `seen` that `expected` names: a later version may tell more of an object. */
function within(seen: unknown, expected: unknown): unknown {
  if (Array.isArray(seen) && Array.isArray(expected)) return seen.map((each, i) => within(each, expected[i]))
  if (!isJsonObject(seen) || !isJsonObject(expected)) return seen
  return Object.fromEntries(Object.keys(expected).map(key => [key, within(seen[key], expected[key])]))
}

const statusAtGateway = (gateway: string, key: string): Promise<number | undefined> =>
  new Promise((done, fail) => {
    const headers = { 'x-service-api-key': key }
    const call = request(`${gateway}/health`, { rejectUnauthorized: false, headers }, response => {
      response.resume()
      done(response.statusCode)
    })
    call.once('error', fail).end()
  })
