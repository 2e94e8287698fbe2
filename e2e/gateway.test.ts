/** The gateway of a standalone: a key from the command, logs in, the tenant's own logs out. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually, PROGRAM, type Standalone, startStandalone } from './testing/standalone-process.ts'

const DEADLINE_MS = 30_000

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  readonly body: any
}

describe('the gateway of a standalone', () => {
  let standalone: Standalone
  let ca: string
  let keyOfAcme: string
  before(async function () {
    this.timeout(120_000)
    standalone = await startStandalone()
    ca = readFileSync(join(standalone.dataDir, 'gateway-certificate.pem'), 'utf8')
    await eventually(() => call('/health'), { timeoutMs: DEADLINE_MS })
  })
  after(() => standalone.remove())

  const call = (path: string, key?: string, body?: object, method = body === undefined ? 'GET' : 'POST') =>
    new Promise<Answer>((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const headers = {
        ...(key !== undefined && { 'x-service-api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      }
      const sent = request(standalone.gateway + path, { ca, method, headers }, async response => {
        let received = ''
        for await (const piece of response) received += piece
        resolve({ status: response.statusCode!, body: JSON.parse(received) })
      })
      sent.on('error', reject)
      sent.end(text)
    })
  const keys = async (...args: readonly string[]) => {
    const env = { PATH: process.env['PATH'], DATA_DIR: standalone.dataDir }
    return (await promisify(execFile)(PROGRAM, ['keys', ...args], { env })).stdout
  }
  const record = (message: string) => ({ severityText: 'INFO', body: { stringValue: message } })

  it('a key that was never made is refused before the first one is', async () => {
    expect((await call('/health', `svc_proj_${'0'.repeat(64)}`)).status).to.equal(401)
  })

  it('takes logs in and shows them to their tenant alone', async function () {
    this.timeout(2 * DEADLINE_MS)
    const [mine, theirs] = [(await keys('create', '--tenant', 'acme')).trim(), (await keys('create', '--tenant', 'globex')).trim()]
    keyOfAcme = mine
    for (const [key, message] of [[mine, 'mine'] as const, [theirs, 'theirs'] as const])
      expect(await call('/v1/logs', key, { resourceLogs: [{ scopeLogs: [{ logRecords: [record(message)] }] }] })).to.deep.equal({
        status: 200,
        body: { partialSuccess: {} },
      })
    const messages = async (key: string) => {
      const { body } = await call('/api/search/service-logs-*/_search', key, { query: { match_all: {} } })
      return (body.hits.hits as readonly { readonly _source: { readonly message: string } }[]).map(({ _source }) => _source.message)
    }
    for (const [key, message] of [[mine, 'mine'] as const, [theirs, 'theirs'] as const]) {
      await eventually(async () => expect(await messages(key)).to.deep.equal([message]), { timeoutMs: DEADLINE_MS })
    }
  })

  it('shows nothing of other tenants through the target of a ticket that leads to the product itself', async () => {
    const key = (await keys('create', '--tenant', 'acme')).trim()
    const { port } = new URL(standalone.search)
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
      // The path of the platform's interface becomes one more name of the parameter.
      const apiBaseUrl = `http://${host}:${port}/service-logs-*/_search?filter_path=hits.hits._source.message,`
      const config = { apiBaseUrl, apiKey: 'key' }
      const { status, body } = await call('/api/ticketing/api/v1/test-connection', key, { platform: 'opsgenie', config })
      expect(body.message, host).to.not.contain('theirs')
      expect([status, body.status, body.message], host).to.deep.equal([200, 'error', body.message])
      expect(body.message, host).to.contain('it is a port of logpipeline itself')
    }
  })

  for (const [path, expected] of Object.entries({
    '/api/bridge/health': { status: 'ok' },
    '/api/features/health': { status: 'ok' },
    '/api/agent/health': { status: 'ok' },
    '/api/airflow/health': {},
  }))
    it(`${path} answers`, async () => {
      const { status, body } = await call(path, keyOfAcme)
      expect(status).to.equal(200)
      expect(body).to.include(expected)
    })

  it('a key that the command revokes stops within a second', async () => {
    const key = (await keys('create', '--tenant', 'initech', '--name', 'gone')).trim()
    expect((await call('/health', key)).status).to.equal(200)
    const { id } = JSON.parse(await keys('list', '--tenant', 'initech')) as { readonly id: string }
    await keys('revoke', '--tenant', 'initech', id)
    await eventually(async () => expect((await call('/health', key)).status).to.equal(401), { timeoutMs: 1_000 })
  })
}).timeout(60_000)
