/**
 * Records a small `DATA_DIR` of this version's form for `e2e/recorded-data.test.ts`: a backup in `e2e/testdata/<form>.tar.gz`, and what must be found in it in
 * `<form>.json`. `hack/node hack/record-data.ts format-1` — once for each form, before the change that makes another; what lies there is never recorded anew.
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { version } from '../dataplane/config/version.ts'
import { platformSettings } from '../dataplane/demo/platforms/settings.ts'
import { startStubPlatforms } from '../dataplane/demo/platforms/start.ts'
import { freePorts } from '../dataplane/testing/free-port.ts'
import { createCaller } from '../dataplane/testing/http-caller.ts'
import { postRecords, type SentRecord } from '../e2e/testing/api.ts'
import { FOLDER, type Recorded, seenIn } from '../e2e/testing/recorded-data.ts'
import { eventually, PROGRAM, startStandalone } from '../e2e/testing/standalone-process.ts'

const DAY_MS = 86_400_000
const BACKLOG = 5

const name = process.argv[2]
if (name === undefined || !/^format-\d+$/.test(name) || existsSync(join(FOLDER, `${name}.json`))) {
  process.stderr.write(`expected the name of a new recording, such as format-2, seen ${name ?? 'nothing'}\n`)
  process.exit(64)
}

const FEATURES = {
  ...{ tenant_id: ['default'], service: ['cart'], event_timestamp: [new Date().toISOString()], created: [new Date().toISOString()] },
  ...{ ml_error_rate_1h: [0.25], ml_p99_latency_1h: [120], ml_request_rate_1h: [1.5], ml_anomaly_history_count: [4] },
}
const startMs = Date.now()
const directory = mkdtempSync(join(tmpdir(), 'logpipeline-record-'))
const run = (args: readonly string[]) =>
  promisify(execFile)(PROGRAM, args, { env: { PATH: process.env['PATH'], DATA_DIR: app.dataDir } }).then(({ stdout }) => stdout.trim())
let count = 0
const records = (service: string, many: number, of: Partial<SentRecord> = {}, daysAgo = 0): SentRecord[] =>
  Array.from({ length: many }, () => {
    const number = ++count
    const timeUnixNano = `${BigInt(startMs - daysAgo * DAY_MS) * 1_000_000n + BigInt(number) * 1_001_003n}`
    return {
      id: `r${number}`,
      service,
      severityText: 'INFO',
      body: `order ${number} paid by card in ${number * 7} ms`,
      attempt: 1,
      timeUnixNano,
      ...of,
    }
  })
const must = async (status: Promise<number>, expected = 200) => {
  if ((await status) !== expected) throw new Error(`expected ${expected}, seen ${await status}`)
}

const stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0 })
const app = await startStandalone()
try {
  const api = createCaller(app.ticketing)
  const search = createCaller(app.search)
  const send = (method: string, path: string, body?: unknown, caller = api) =>
    must(caller.send(method, path, body).then(({ status }) => status))
  const { pagerduty } = platformSettings(stubs.addresses)
  await send('PATCH', '/api/v1/config/platforms', { pagerduty })
  await send('PATCH', '/api/v1/config/routing', { critical: ['pagerduty'], high: ['pagerduty'], medium: ['pagerduty'], low: [] })
  await send('PATCH', '/api/v1/config/anomaly', { minimumScore: 0.9 })
  const body = JSON.stringify({ push_source_name: 'service_stats', df: FEATURES })
  const pushed = fetch(`${app.features}/push`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  await must(pushed.then(({ status }) => status))
  const key = await run(['keys', 'create', '--tenant', 'shop', '--name', 'recorded'])

  const indexed = (many: number) =>
    eventually(async () => {
      const { body } = await search.send('GET', '/service-logs-*/_count')
      if ((body as { count: number }).count !== many) throw new Error(`indexed: ${JSON.stringify(body)}`)
    })
  for (const daysAgo of [0, 1]) await must(postRecords(app.collector, records('cart', 20, {}, daysAgo)))
  await indexed(40)
  // A new field ends the segment: what comes later is in another one, beside it.
  await send('PUT', '/service-logs-*/_mapping', { properties: { recorded: { type: 'keyword' } } }, search)
  await must(postRecords(app.collector, records('shipping', 20)))
  for (const service of ['open', 'acknowledged', 'resolved'])
    await must(postRecords(app.collector, records(service, 3, { severityText: 'ERROR', body: 'payment failed: connection refused' })))
  await indexed(69)
  const { body: deleted } = await search.send('POST', '/service-logs-*/_delete_by_query?refresh=true', {
    query: { terms: { 'record.id': ['r3', 'r45'] } },
  })
  if ((deleted as { deleted: number }).deleted !== 2) throw new Error(JSON.stringify(deleted))

  const dayOfLetter = new Date(startMs - 5 * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '.')
  await send('PUT', `/service-logs-${dayOfLetter}`, { mappings: { properties: { message: { type: 'long' } } } }, search)
  await must(postRecords(app.collector, records('letter', 1, {}, 5)))
  const listed = await eventually(
    async () => {
      const { body } = await api.send('GET', '/api/incidents?limit=10')
      const all = body as { id: string; service: string; dispatches: object; analysedAt?: string }[]
      if (all.length !== 3 || all.some(each => Object.keys(each.dispatches).length === 0 || each.analysedAt === undefined))
        throw new Error(JSON.stringify(all))
      return all
    },
    { timeoutMs: 60_000 },
  )
  const idOf = (service: string) => listed.find(each => each.service === service)!.id
  await send('POST', `/api/incidents/${idOf('acknowledged')}/acknowledge`, { actor: 'ada', note: 'on it' })
  await send('POST', `/api/incidents/${idOf('resolved')}/resolve`, { actor: 'ada' })
  await eventually(async () => {
    if ((await run(['dlq', 'list', '--json'])).split('\n').length !== 1) throw new Error('no letter')
    const { lastRequests } = stubs.state('pagerduty')
    if ((lastRequests as unknown[]).length !== 5) throw new Error(`events at PagerDuty: ${(lastRequests as unknown[]).length}`)
  })
  const found = await seenIn(app)
  await app.stop()
  await sendToBusAlone(records('backlog', BACKLOG))

  const backup = join(directory, 'backup')
  await run(['backup', backup])
  const expected: Recorded = {
    ...{
      version,
      recordedAt: new Date(startMs).toISOString(),
      key,
      dayOfLetter,
      backlog: BACKLOG,
    },
    ...{ features: FEATURES, found },
  }
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(expected, null, 1)}\n`)
  await promisify(execFile)('tar', [
    '--owner=0',
    '--group=0',
    '--sort=name',
    '-czf',
    resolve(FOLDER, `${name}.tar.gz`),
    '-C',
    directory,
    'backup',
  ])
} finally {
  await app.remove()
  await stubs.stop()
  rmSync(directory, { recursive: true, force: true })
}

/** A collector by itself has nobody behind it: what it takes in is on its way still. */
async function sendToBusAlone(backlog: readonly SentRecord[]): Promise<void> {
  const [http, grpc, health] = await freePorts(3)
  const ports = { OTLP_HTTP_PORT: String(http), OTLP_GRPC_PORT: String(grpc), HEALTH_PORT: String(health) }
  const env = { PATH: process.env['PATH'], DATA_DIR: app.dataDir, HOST: '127.0.0.1', ...ports }
  const collector = spawn(PROGRAM, ['collector'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const gone = new Promise(done => collector.once('exit', done))
  await eventually(() => must(fetch(`http://127.0.0.1:${health}/`).then(({ status }) => status)))
  await must(postRecords(`http://127.0.0.1:${http}`, backlog))
  collector.kill()
  await gone
}
