import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type FaultyProxy, startFaultyProxy } from '../dataplane/testing/faulty-proxy.ts'
import { backendAddress } from '../dataplane/testing/real/address.ts'
import { countDocuments, postRecords, type SentRecord } from './testing/api.ts'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

export const needs = ['opensearch']

const TENANT = 'opensearch-e2e'
const RECORDS = 6_000
const PER_REQUEST = 500
/** Each of these records is an anomaly by its message: a third of those of one service. */
const isAnomaly = (at: number) => at % 300 === 0

/** A door with TLS and Basic authentication before OpenSearch, and now and then trouble behind it. */
describe('the product on OpenSearch, over TLS and with a password', function () {
  this.timeout(120_000)
  const search = backendAddress('opensearch')
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-tls-'))
  const certificate = join(directory, 'cert.pem')
  let door: FaultyProxy
  let product: Standalone

  before(async () => {
    const key = join(directory, 'key.pem')
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, '-keyout', key, '-out', certificate],
      {
        stdio: 'ignore',
      },
    )
    await clear()
    door = await startFaultyProxy(search, { cert: readFileSync(certificate), key: readFileSync(key) })
    door.decide(({ authorization }) => (authorization === EXPECTED ? undefined : { status: 401 }))
    product = await startStandalone(settings('secret'))
  })
  after(async () => {
    await product?.remove()
    await door?.stop()
    await clear()
    rmSync(directory, { recursive: true, force: true })
  })

  const EXPECTED = `Basic ${Buffer.from('logs:secret').toString('base64')}`
  const settings = (password: string) => ({
    SEARCH_ENDPOINT: door.url,
    SEARCH_USERNAME: 'logs',
    SEARCH_PASSWORD: password,
    SEARCH_CA_FILE: certificate,
    SERVICE_TENANT_ID: TENANT,
  })
  const clear = async () => {
    for (const index of ['service-logs-*', 'service-anomalies-*', 'service-incidents-*', 'service-audit-*', 'service-config'])
      await (await fetch(`${search}/${index}?ignore_unavailable=true`, { method: 'DELETE' })).text()
  }
  const count = async (index: string, query?: object) => {
    await (await fetch(`${search}/${index}/_refresh?ignore_unavailable=true`, { method: 'POST' })).text()
    return await countDocuments(search, `${index}`, query)
  }
  const counter = async (name: string) => {
    const text = await (await fetch(`${product.bridge}/metrics`)).text()
    return Number(new RegExp(`^service_bridge_${name} (\\d+)$`, 'm').exec(text)?.[1])
  }

  it('documents, anomalies and incidents appear, each once, while bulks fail, hang or lose their answers', async () => {
    let bulks = 0
    door.decide(({ authorization, path }) => {
      if (authorization !== EXPECTED) return { status: 401 }
      if (!path.startsWith('/_bulk')) return undefined
      return ([undefined, { status: 429 }, 'lost', { delayMs: 300 }, { status: 503 }] as const)[bulks++ % 5]
    })
    const startMs = Date.now()
    const records = Array.from(
      { length: RECORDS },
      (_, at): SentRecord => ({
        id: `r-${at}`,
        service: at % 2 === 0 ? 'checkout' : 'cart',
        severityText: isAnomaly(at) ? 'ERROR' : 'INFO',
        body: isAnomaly(at) ? `payment ${at}: connection refused` : `request ${at} served`,
        attempt: 0,
        timeUnixNano: `${BigInt(startMs) * 1_000_000n + BigInt(at)}`,
      }),
    )
    for (let at = 0; at < RECORDS; at += PER_REQUEST)
      expect(await postRecords(product.collector, records.slice(at, at + PER_REQUEST))).to.equal(200)
    const anomalies = records.filter((_, at) => isAnomaly(at)).length
    await eventually(
      async () => {
        expect(await count(`service-logs-${TENANT}`)).to.equal(RECORDS)
        expect(await count(`service-logs-${TENANT}`, { term: { is_anomaly: true } })).to.equal(anomalies)
        expect(await count(`service-anomalies-${TENANT}`)).to.equal(anomalies)
        const incidents = (await (await fetch(`${product.ticketing}/api/incidents`)).json()) as readonly Record<string, unknown>[]
        expect(incidents.map(({ service, status, anomalyCount }) => ({ service, status, anomalyCount }))).to.deep.equal([
          { service: 'checkout', status: 'open', anomalyCount: anomalies },
        ])
      },
      { timeoutMs: 60_000, pauseMs: 300 },
    )
    expect(await counter('etl_records_received_total')).to.equal(RECORDS)
    // A bulk that lost its answer is counted when it is tried again.
    await eventually(async () => expect(await counter('opensearch_indexed_total')).to.equal(RECORDS + anomalies), {
      timeoutMs: 60_000,
      pauseMs: 300,
    })
    expect(await counter('opensearch_errors_total')).to.be.above(0)
    expect(door.mostInFlight).to.be.below(20)
  })

  it('an acknowledged incident stays so, and its audit trail is there', async () => {
    const [incident] = (await (await fetch(`${product.ticketing}/api/incidents`)).json()) as readonly [{ readonly id: string }]
    const answer = await fetch(`${product.ticketing}/api/incidents/${incident.id}/acknowledge`, { method: 'POST' })
    expect(answer.status).to.equal(200)
    await eventually(async () => {
      const audit = await fetch(`${product.ticketing}/api/v1/audit?incident_id=${incident.id}`)
      const { entries } = (await audit.json()) as { readonly entries: readonly { readonly action: string }[] }
      expect(entries.map(({ action }) => action).sort()).to.deep.equal(['acknowledged', 'created'])
    })
  })

  it('a wrong password is refused at start, and says which settings to look at', async () => {
    const failure = await startStandalone(settings('wrong')).then(
      started => started.remove().then(() => undefined),
      (error: Error) => error,
    )
    expect(failure?.message).to.match(/exited with [1-9]/)
    expect(failure?.message).to.contain('SEARCH_USERNAME and SEARCH_PASSWORD')
  })
})
