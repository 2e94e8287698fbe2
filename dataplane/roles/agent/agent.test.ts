import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { TOPICS } from '../../contract/topics.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createCaller } from '../../testing/http-caller.ts'
import { type AgentDeps, startAgent } from './agent.ts'
import { readStreamJobs } from './stream-source.ts'

const partitions = Object.values(TOPICS).flatMap(({ name, partitions }) =>
  Array.from({ length: partitions }, (_, partition) => ({ topic: name, partition, startOffset: 0, endOffset: 0 })),
)
const BUS: AgentDeps['bus'] = async () => ({
  describe: async () => ({ brokers: 3, partitions, deletedEarlyBytes: 4_096 }),
  committedOffsets: async () => [],
  subscribe: () => Promise.reject(new Error('there are no letters to read')),
  groupMembers: async () => [],
  send: () => Promise.reject(new Error('there is nothing to send')),
})

const TOPIC_SECTION = {
  'raw-logs': { partitions: 6, consumerLag: 0 },
  'enriched-logs': { partitions: 6, consumerLag: 0 },
  'anomaly-events': { partitions: 3, consumerLag: 0 },
  'dead-letter-queue': { partitions: 1, consumerLag: 0 },
}
const SEARCH_SECTION = {
  status: 'yellow',
  nodes: 3,
  indices: 3,
  totalDocs: 12,
  totalSizeBytes: 1_500,
  activePrimaryShards: 5,
  activeShards: 8,
}

/** As OpenSearch answers; the third index is closed. */
const SEARCH_ANSWERS: Readonly<Record<string, unknown>> = {
  '/_cluster/health': { status: 'yellow', number_of_nodes: 3, active_primary_shards: 5, active_shards: 8 },
  '/_cat/indices': [
    { index: 'service-logs-2026.11.21', 'docs.count': '10', 'store.size': '1000' },
    { index: 'service-incidents-default', 'docs.count': '2', 'store.size': '500' },
    { index: 'closed', 'docs.count': null, 'store.size': null },
  ],
}

describe('the infrastructure agent', () => {
  const stops: (() => unknown)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })

  const serve = async (answer: (path: string) => { readonly status?: number; readonly body: string } | 'hang'): Promise<string> => {
    const server: Server = createServer((request, response) => {
      const given = answer(request.url!.split('?')[0]!)
      if (given === 'hang') return
      response.writeHead(given.status ?? 200, { 'content-type': 'application/json' }).end(given.body)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    stops.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  /** Answers by the address that was asked; resolves to the port. */
  const serveEverywhere = async (answer: (host: string) => string): Promise<number> => {
    const server = createServer((request, response) => response.end(answer(request.headers.host!.split(':')[0]!)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const second = createServer((request, response) => response.end(answer(request.headers.host!.split(':')[0]!)))
    await new Promise<void>(resolve => second.listen(port, '127.0.0.2', resolve))
    for (const one of [server, second])
      stops.push(() => {
        one.closeAllConnections()
        one.close()
      })
    return port
  }
  const searchStore = () => serve(path => ({ body: JSON.stringify(SEARCH_ANSWERS[path] ?? {}) }))
  const agent = async (deps: Partial<AgentDeps> = {}) => {
    const running = await startAgent({
      bus: BUS,
      topics: { raw: 'raw-logs', enriched: 'enriched-logs', anomaly: 'anomaly-events', deadLetter: 'dead-letter-queue' },
      search: { endpoint: deps.search?.endpoint ?? (await searchStore()) },
      stream: [],
      host: '127.0.0.1',
      port: 0,
      portSetting: 'PORT',
      clock: systemClock,
      log: SILENT,
      ...deps,
    })
    stops.push(() => running.stop())
    const base = `http://127.0.0.1:${running.port}`
    return { base, ...createCaller(base) }
  }

  it('GET /health returns status ok', async () => {
    const { get } = await agent()
    expect(await get('/health')).to.deep.include({ status: 200, body: { status: 'ok' } })
  })

  it('GET /ready returns 200 when all collectors are initialised', async () => {
    const { get } = await agent()
    expect(await get('/ready')).to.deep.include({
      status: 200,
      body: { status: 'ready', collectors: { bus: 'initialized', stream: 'initialized', search: 'initialized', secrets: 'initialized' } },
    })
  })

  it('GET /metrics returns the four sections, and what lies in the dead-letter queue', async () => {
    const { get } = await agent()
    const { status, body, headers } = await get('/metrics')
    expect(status).to.equal(200)
    expect(headers.get('age')).to.equal('0')
    expect(body).to.deep.equal({
      bus: { status: 'healthy', brokers: 3, topics: TOPIC_SECTION },
      stream: { status: 'healthy', jobs: [] },
      search: SEARCH_SECTION,
      secrets: { status: 'healthy', externalSecrets: [] },
      deadLetters: { letters: 0, oldest: null },
    })
  })

  it('GET /metrics on the cloud, with a tenant, leaves out the shard counts and the letters of all tenants', async () => {
    const { get } = await agent()
    expect((await get('/metrics', 'shop')).body).not.to.have.property('deadLetters')
    const { activePrimaryShards: _primary, activeShards: _all, ...shared } = SEARCH_SECTION
    expect((await get('/metrics', 'shop')).body.search).to.deep.equal(shared)
  })

  it('GET /metrics is Prometheus text when Accept asks for text/plain or openmetrics', async () => {
    const { base } = await agent()
    const typeFor = async (accept: string) => {
      const response = await fetch(`${base}/metrics`, { headers: { accept } })
      return [response.headers.get('content-type')!.split(';')[0], await response.text()] as const
    }
    for (const accept of ['text/plain', 'application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1']) {
      const [type, text] = await typeFor(accept)
      expect(type, accept).to.equal('text/plain')
      expect(text).to.contain('service_agent_source_up{section="search"} 1')
      expect(text).to.contain('service_agent_consumer_lag{topic="raw-logs"} 0')
      expect(text).to.contain('service_agent_bus_deleted_early_bytes 4096')
    }
    for (const accept of [
      '*/*',
      'application/json',
      'application/json, text/plain, */*',
      'text/plain;q=0.5, application/json;q=0.9',
      'text/plain;q=0',
    ])
      expect((await typeFor(accept))[0], accept).to.equal('application/json')
  })

  it('a source that is down gives `down`, and its collector `error`', async () => {
    const { get } = await agent({
      bus: () => Promise.reject(new Error('connection refused')),
      search: { endpoint: 'http://127.0.0.1:1' },
    })
    const { body } = await get('/metrics')
    expect(body.bus).to.deep.equal({ status: 'down', brokers: 0, topics: {} })
    expect(body.search).to.include({ status: 'red', nodes: 0, indices: 0, totalDocs: 0, activeShards: 0 })
    expect(await get('/ready')).to.deep.include({
      status: 503,
      body: { status: 'not_ready', collectors: { bus: 'error', stream: 'initialized', search: 'error', secrets: 'initialized' } },
    })
  })

  it('a source that hangs holds up no request for longer than two seconds', async () => {
    const { get } = await agent({ search: { endpoint: await serve(() => 'hang') } })
    const startedMs = Date.now()
    const { body } = await get('/metrics')
    expect(Date.now() - startedMs).to.be.lessThan(2_500)
    expect(body.bus.status).to.equal('healthy')
    expect(body.search.status).to.equal('red')
    expect((await get('/ready')).body.collectors.search).to.equal('initializing')
  })

  it('keeps showing what it knew of a source that went down; its collector stays initialised', async () => {
    let works = true
    const bus: AgentDeps['bus'] = () => (works ? BUS() : Promise.reject(new Error('gone')))
    const { get } = await agent({ bus })
    works = false
    // Within a second of the last answer it is not asked again.
    await new Promise(resolve => setTimeout(resolve, 1_010))
    const { body } = await get('/metrics')
    expect(body.bus).to.deep.equal({ status: 'down', brokers: 3, topics: TOPIC_SECTION })
    expect((await get('/ready')).status).to.equal(200)
  })

  it('bus: degraded, with the reason, while the bus takes no records; a tenant is not told the reason', async () => {
    const problem = '/data/bus has 999 bytes free, the bus keeps 1000 in reserve'
    const bus: AgentDeps['bus'] = async () => ({ ...(await BUS()), describe: async () => ({ brokers: 1, partitions, problem }) })
    const { get } = await agent({ bus })
    expect((await get('/metrics')).body.bus).to.deep.equal({ status: 'degraded', brokers: 1, topics: TOPIC_SECTION, reason: problem })
    const { body } = await get('/metrics', 'shop')
    expect(body.bus).to.deep.equal({ status: 'degraded', brokers: 1, topics: TOPIC_SECTION })
  })

  for (const [own, status] of [
    ['green', 'yellow'],
    ['red', 'red'],
  ] as const)
    it(`search: ${status} where it says ${own}, with the reason, while its disk is full`, async () => {
      const block = { description: 'disk usage exceeded flood-stage watermark', retryable: true, levels: ['write'] }
      const blocks = { indices: { a: { 12: block }, b: { 12: block }, closed: { 4: { description: 'index closed' } } } }
      const answers: Readonly<Record<string, unknown>> = {
        ...SEARCH_ANSWERS,
        '/_cluster/health': { ...(SEARCH_ANSWERS['/_cluster/health'] as object), status: own },
        '/_cluster/state/blocks': { blocks },
      }
      const endpoint = await serve(path => ({ body: JSON.stringify(answers[path]) }))
      const { get } = await agent({ search: { endpoint } })
      const reason = '2 indices cannot be written: disk usage exceeded flood-stage watermark'
      expect((await get('/metrics')).body.search).to.deep.equal({ ...SEARCH_SECTION, status, reason })
      expect((await get('/metrics', 'shop')).body.search).to.not.have.property('reason')
    })

  it('search: the figures of a user who may not see the state', async () => {
    const endpoint = await serve(path =>
      path === '/_cluster/state/blocks' ? { status: 403, body: '{"error":"no"}' } : { body: JSON.stringify(SEARCH_ANSWERS[path]) },
    )
    expect((await (await agent({ search: { endpoint } })).get('/metrics')).body.search).to.deep.equal(SEARCH_SECTION)
  })

  it('bus: degraded while topics are missing, down without brokers', async () => {
    const busWith = (brokers: number): AgentDeps['bus'] => {
      return async () => ({ ...(await BUS()), describe: async () => ({ brokers, partitions: partitions.slice(0, 6) }) })
    }
    expect((await (await agent({ bus: busWith(1) })).get('/metrics')).body.bus.status).to.equal('degraded')
    expect((await (await agent({ bus: busWith(0) })).get('/metrics')).body.bus.status).to.equal('down')
  })

  it('stream: ETL and enrichment are one process, reported as two jobs', async () => {
    const startedSeconds = Math.floor(Date.now() / 1_000) - 3_723
    const running = await serve(path => ({
      body: path === '/health' ? '{"status":"ok"}' : `# HELP x\nprocess_start_time_seconds ${startedSeconds}\n`,
    }))
    const failing = await serve(() => ({ status: 503, body: '{"status":"error"}' }))
    const stream = [
      { name: 'etl', endpoint: running },
      { name: 'score', endpoint: failing },
    ] as const
    const { body } = await (await agent({ stream })).get('/metrics')
    expect(body.stream.status).to.equal('degraded')
    const [etl, enrich, score] = body.stream.jobs
    expect(etl).to.include({ name: 'etl', state: 'RUNNING', taskManagers: 1 })
    expect(etl.uptime).to.match(/^1h2m\d(\.\d+)?s$/)
    expect(enrich).to.deep.equal({ ...etl, name: 'enrich' })
    expect(score).to.deep.equal({ name: 'score', state: 'FAILED', taskManagers: 0, uptime: '0s' })
  })

  it('stream: every address of the name is a task manager; the first to start gives the uptime', async () => {
    const started: Readonly<Record<string, number>> = { '127.0.0.1': 100, '127.0.0.2': 160 }
    const port = await serveEverywhere(host => `process_start_time_seconds ${started[host]}\n`)
    const jobs = await readStreamJobs([{ name: 'score', endpoint: `http://stream-score:${port}` }], {
      clock: createFakeClock(400_000),
      resolve: async () => ['127.0.0.1', '127.0.0.2'],
    })
    expect(jobs).to.deep.equal([{ name: 'score', state: 'RUNNING', taskManagers: 2, uptimeMs: 300_000 }])
  })

  it('stream: down when no job runs', async () => {
    const { get } = await agent({ stream: [{ name: 'score', endpoint: 'http://127.0.0.1:1' }] })
    expect((await get('/metrics')).body.stream.status).to.equal('down')
  })
})
