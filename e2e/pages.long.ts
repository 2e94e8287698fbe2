/** The pages for users tell the truth: their commands are run, their files are read. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parse, parseAllDocuments } from 'yaml'
import { DECLARED_TICKETING } from '../dataplane/contract/declared-ticketing.ts'
import { ROLES } from '../dataplane/contract/roles.ts'
import { startStubPlatforms } from '../dataplane/demo/platforms/start.ts'
import type { SeenIncident } from '../dataplane/demo/shop/incidents.ts'
import { SERVICE_NAMES } from '../dataplane/demo/shop/services.ts'
import { countDocuments, type ListedIncident, postRecords, type SentRecord, scanLogs } from './testing/api.ts'
import { checkOtelcolConfig } from './testing/otelcol-config.ts'
import { commandsOf, onlyBlock, pageBlocks, ROOT } from './testing/page-blocks.ts'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'
import { oneOnEach, ticketCounts } from './testing/ticket-fixture.ts'

const PAGES = ['README.md', 'docs/sending.md', 'docs/operating.md']
/** Their commands are not run, but read. */
const CHART_PAGES = ['charts/logpipeline/README.md', 'charts/logpipeline/examples/README.md']

/** A block with the addresses of `app`. */
function blockFor(app: Standalone, block: string): string {
  return block
    .replaceAll('http://127.0.0.1:3000', app.dashboard)
    .replaceAll('http://127.0.0.1:4318', app.collector)
    .replaceAll('http://127.0.0.1:18081', app.ticketing)
    .replaceAll('http://127.0.0.1:9200', app.search)
    .replace(/logpipeline demo (?=--)/, `logpipeline demo --console ${app.dashboard} --endpoint ${app.collector} `)
}

/** Runs a block as it would be pasted, with the addresses and the directory of `app`. */
function runIn(app: Standalone, block: string): string {
  const env = { PATH: process.env['PATH'], DATA_DIR: app.dataDir }
  return execFileSync('sh', ['-ec', blockFor(app, block)], { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/** The same for a block that asks a server of this process. */
async function runBeside(app: Standalone, block: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-ec', blockFor(app, block)], { cwd: ROOT, encoding: 'utf8' })).stdout
}

const listIncidents = async (app: Standalone) => (await (await fetch(`${app.ticketing}/api/incidents`)).json()) as readonly ListedIncident[]

describe('the README', function () {
  this.timeout(60_000)
  let app: Standalone
  const blocks = commandsOf('README.md')
  const [, send, list, search, replay, toStubs, fail, page, letters] = blocks
  before(async () => {
    app = await startStandalone()
  })
  after(() => app.remove())

  it('has nine blocks to run', () => {
    expect(blocks).to.have.length(9)
  })

  it('sends records of a service that neither the demo nor the sample has: they would join its incidents', () => {
    const servicesIn = (text: string) =>
      [...text.matchAll(/"service\.name", ?"value": ?\{"stringValue": ?"([^"]+)"/g)].map(([, name]) => name!)
    const others = [...SERVICE_NAMES, ...servicesIn(readFileSync(join(ROOT, 'docs/shop-outage.ndjson'), 'utf8'))]
    expect(others).to.include('inventory')
    for (const block of [send!, fail!]) {
      const [service] = servicesIn(block)
      expect(service).to.be.a('string')
      expect(others).to.not.include(service)
    }
  })

  it('sends three records, sees an incident, finds a log', async () => {
    expect(JSON.parse(runIn(app, send!))).to.deep.equal({ partialSuccess: {} })
    await eventually(async () => {
      const incidents = JSON.parse(runIn(app, list!)) as readonly ListedIncident[]
      expect(incidents.map(({ service, status, severity, anomalyCount }) => ({ service, status, severity, anomalyCount }))).to.deep.equal([
        { service: 'kiosk', status: 'open', severity: 'critical', anomalyCount: 3 },
      ])
    })
    await eventually(async () => {
      const found = JSON.parse(runIn(app, search!)) as { hits: { total: { value: number }; hits: { _source: { message: string } }[] } }
      expect(found.hits.total.value).to.equal(1)
      expect(found.hits.hits[0]!._source.message).to.equal('payment 4711: connection refused')
    })
  })

  it('sends an incident to stand-ins of all platforms, as one ticket on each', async () => {
    const stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0 })
    try {
      const here = (block: string) => block.replaceAll('http://127.0.0.1:18100', stubs.addresses.index)
      expect(await runBeside(app, here(toStubs!))).to.contain('"updated":["pagerduty","jira","servicenow","opsgenie","slack","email"]')
      expect(JSON.parse(runIn(app, fail!))).to.deep.equal({ partialSuccess: {} })
      await eventually(async () => expect(ticketCounts({ stubs }, 'billing')).to.deep.equal(oneOnEach()), { timeoutMs: 30_000 })
    } finally {
      await stubs.stop()
    }
  })

  it('pages with search_after, which from and size end before', async () => {
    const found = JSON.parse(runIn(app, page!)) as { hits: { hits: { sort: unknown[] }[] } }
    expect(found.hits.hits).to.have.length(3)
    expect(found.hits.hits[0]!.sort).to.have.length(3)
    const status = async (path: string) => (await fetch(`${app.search}/service-logs-*/_search?${path}`)).status
    expect([await status('from=9990&size=10'), await status('from=9991&size=10'), await status('scroll=1m')]).to.deep.equal([200, 400, 200])
  })

  it('names queries and aggregations that the store knows', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const named = (start: string) => {
      const [item = ''] = readme.slice(readme.indexOf(start)).split('\n- ', 1)
      return [...item.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
    }
    expect(named('Queries:')).to.have.length(19)
    expect(named('Aggregations:')).to.have.length(26)
    const answer = async (body: object) => {
      const response = await fetch(`${app.search}/service-logs-*/_search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return JSON.stringify(await response.json())
    }
    const unknown = /not supported|unknown query|Unknown aggregation/
    for (const name of named('Queries:')) expect(await answer({ query: { [name]: {} } }), name).not.to.match(unknown)
    for (const name of named('Aggregations:')) expect(await answer({ aggs: { a: { [name]: {} } } }), name).not.to.match(unknown)
    expect(await answer({ query: { percolate: {} } })).to.match(unknown)
  })

  it('plays the sample in, after which an incident of one service names another', async () => {
    expect(runIn(app, replay!)).to.match(/records accepted +115\n/)
    await eventually(async () => {
      const found = (await listIncidents(app)).find(({ service }) => service === 'inventory')
      expect(found?.affectedServices).to.have.members(['inventory', 'checkout'])
    })
  })

  it('says truly what makes an incident: 100 ERROR lines of one kind do not, three after twenty calm ones do', async () => {
    const lines = (service: string, severityText: string, count: number): readonly SentRecord[] =>
      Array.from({ length: count }, (_, at) => ({
        id: `${service}-${severityText}-${at}`,
        service,
        severityText,
        body: `tick ${at}`,
        attempt: 1,
        timeUnixNano: `${BigInt(Date.now()) * 1_000_000n + BigInt(at)}`,
      }))
    expect(await postRecords(app.collector, lines('all-errors', 'ERROR', 100))).to.equal(200)
    expect(await postRecords(app.collector, lines('calm-first', 'INFO', 20))).to.equal(200)
    expect(await postRecords(app.collector, lines('calm-first', 'ERROR', 3))).to.equal(200)
    await eventually(async () => {
      expect((await listIncidents(app)).map(({ service }) => service)).to.include('calm-first')
    })
    expect((await listIncidents(app)).map(({ service }) => service)).not.to.include('all-errors')
    const anomalies = await countDocuments(app.search, 'service-logs-*', {
      bool: { filter: [{ term: { service: 'all-errors' } }, { term: { is_anomaly: true } }] },
    })
    expect(anomalies).to.equal(0)
  })

  it('lists and replays dead letters beside the running process', () => {
    expect(runIn(app, letters!)).to.be.a('string')
  })
})

describe('the start of the README, on an empty data directory', function () {
  this.timeout(330_000)
  let app: Standalone
  before(async () => {
    app = await startStandalone()
  })
  after(() => app.remove())

  it('plays a shop that breaks, and says where in the console its incident is, with the right cause', async () => {
    const out = await runBeside(app, commandsOf('README.md')[0]!)
    const [, address, id] = /Open (\S+)\/incidents\/(\S+)/.exec(out)!
    expect(address).to.equal(app.dashboard)
    const incident = (await (await fetch(`${app.ticketing}/api/incidents/${id}`)).json()) as SeenIncident
    expect(incident.rootCause?.candidates[0]?.service).to.equal('cart')
  })
})

/** One for both pages below: what the first leaves there are no errors, from which incidents came. */
let shared: Promise<Standalone> | undefined
const startShared = () => {
  shared ??= startStandalone()
  return shared
}
after(async () => await (await shared)?.remove())

describe('docs/operating.md', function () {
  this.timeout(90_000)
  const page = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8')
  const blocks = commandsOf('docs/operating.md')
  const [backup, restore, makeLetter, listLetters, replayLetters] = blocks
  let app: Standalone
  before(async () => {
    app = await startShared()
  })

  it('has five blocks to run', () => {
    expect(blocks).to.have.length(5)
  })

  it('says of every port of every role what it is open to', () => {
    const table = page.slice(page.indexOf('| port | role |'), page.indexOf('\n\n', page.indexOf('| port | role |')))
    for (const { listens } of Object.values(ROLES)) for (const { port } of listens) expect(table).to.match(new RegExp(`\\b${port}\\b`))
  })

  it('shows declared targets as the ticketing agent reads them, each with a file for its secret', () => {
    const declared = DECLARED_TICKETING.parse(JSON.parse(onlyBlock('docs/operating.md', 'json ticketing')))
    const ids = Object.keys(declared.platforms)
    expect(declared.routes.map(({ platform }) => platform)).to.have.members(ids)
    for (const id of ids) expect(page).to.contain(`\`${id.replace(':', '.')}.webhookUrl\``)
  })

  it('watches metrics that there are', async () => {
    const get = async (address: string) => await (await fetch(`${address}/metrics`, { headers: { accept: 'text/plain' } })).text()
    const shown = (await Promise.all([app.health, app.bridge, app.search, app.agent, app.ticketing].map(get))).join('\n')
    const watched = [...page.matchAll(/\b((?:service|logpipeline)_\w+)/g)].map(([, name]) => name!)
    expect(watched).to.have.length.above(8)
    for (const name of new Set(watched)) expect(shown, name).to.contain(`# HELP ${name} `)
  })

  it('makes a dead letter, shows it and replays it', async () => {
    runIn(app, makeLetter!)
    await eventually(async () => {
      expect(runIn(app, listLetters!)).to.match(/ indexer +raw-logs\S+ .* 400 mapper_parsing_exception: failed to parse/)
    })
    expect(await countDocuments(app.search, 'service-logs-*')).to.equal(0)
    expect(runIn(app, replayLetters!)).to.contain('replayed 1 letter: 1 to raw-logs\n')
    await eventually(async () => expect(await countDocuments(app.search, 'service-logs-*', { match: { message: 'paid' } })).to.equal(1))
    await fetch(`${app.search}/service-logs-*`, { method: 'DELETE' })
  })

  it('saves what is there while it works, and brings it back', async () => {
    const [record] = ['kept over a restore'].map(body => ({
      id: 'one',
      service: 'safe',
      severityText: 'INFO',
      body,
      attempt: 1,
      timeUnixNano: `${BigInt(Date.now()) * 1_000_000n}`,
    }))
    expect(await postRecords(app.collector, [record!])).to.equal(200)
    await eventually(async () => expect(await countDocuments(app.search, 'service-logs-*')).to.equal(1))
    const place = mkdtempSync(join(tmpdir(), 'logpipeline-restore-'))
    for (const block of [backup!, restore!])
      runIn(
        app,
        block.replace(/logpipeline-backup|data-restored/g, name => join(place, name)),
      )
    const restored = await startStandalone({ DATA_DIR: join(place, 'data-restored') })
    try {
      expect((await scanLogs(restored.search, { match_all: {} })).map(({ message }) => message)).to.deep.equal(['kept over a restore'])
    } finally {
      await restored.remove()
      rmSync(place, { recursive: true })
    }
  })
})

describe('docs/sending.md', function () {
  this.timeout(60_000)
  let app: Standalone
  const blocks = commandsOf('docs/sending.md')
  const [variables, template, replay, list, upload, uploaded] = blocks
  before(async () => {
    app = await startShared()
  })

  it('has six blocks to run', () => {
    expect(blocks).to.have.length(6)
  })

  it('has a template by which Vector’s documents go to a data stream', async () => {
    expect(JSON.parse(runIn(app, template!))).to.deep.equal({ acknowledged: true })
    const { search_store: sink } = parse(onlyBlock('docs/sending.md', 'yaml vector')).sinks
    expect(sink).to.deep.include({ type: 'elasticsearch', api_version: 'v8', mode: 'data_stream' })
    const lines = [{ create: { _index: 'logs-generic-default' } }, { '@timestamp': '2026-11-21T12:00:00Z', message: 'hello' }]
    expect(await bulkIndices(lines)).to.deep.equal([[201, '.ds-logs-generic-default-000001']])
  })

  it('has fluent-bit send documents without a type, as the store takes them', async () => {
    const [output] = parse(onlyBlock('docs/sending.md', 'yaml fluent-bit')).pipeline.outputs
    expect(output).to.deep.include({ name: 'opensearch', suppress_type_name: 'on' })
    const document = { '@timestamp': '2026-11-21T12:00:00.000Z', log: 'hello' }
    const create = { _index: output.index, _id: '6f3a' }
    expect(await bulkIndices([{ create }, document])).to.deep.equal([[201, 'app-logs']])
    const refused = await bulk([{ create: { ...create, _type: '_doc' } }, document])
    expect(refused.status).to.equal(400)
  })

  const bulk = (lines: readonly object[]) =>
    fetch(`${app.search}/_bulk`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.map(line => `${JSON.stringify(line)}\n`).join(''),
    })

  /** Status and index of each item. */
  async function bulkIndices(lines: readonly object[]): Promise<readonly unknown[]> {
    const { items } = (await (await bulk(lines)).json()) as { items: Record<string, { status: number; _index: string }>[] }
    return items.flatMap(item => Object.values(item).map(({ status, _index }) => [status, _index]))
  }

  it('has the variables by which an SDK finds the collector', async () => {
    runIn(app, `${variables}\nexec ${process.execPath} e2e/testing/send-by-environment.ts`)
    await eventually(async () => {
      const logs = await scanLogs(app.search, { term: { service: 'checkout' } })
      // The SDK may give all three one timestamp.
      expect(logs.map(({ message, environment, tenant_id }) => ({ message, environment, tenant_id }))).to.have.deep.members(
        [1, 2, 3].map(order => ({ message: `order ${order} paid`, environment: 'production', tenant_id: 'default' })),
      )
    })
  })

  it('replays the sample, from which two incidents come', async () => {
    expect(runIn(app, replay!)).to.match(/records accepted +115\n/)
    await eventually(async () => {
      const incidents = JSON.parse(runIn(app, list!)) as readonly ListedIncident[]
      expect(incidents.map(({ service, severity }) => `${service} ${severity}`).sort()).to.deep.equal(['checkout high', 'inventory high'])
      for (const { affectedServices } of incidents) expect(affectedServices).to.have.members(['checkout', 'inventory'])
    })
  })

  it('uploads lines, of which one is no JSON, and finds the others', async () => {
    expect(JSON.parse(runIn(app, upload!))).to.deep.include({ accepted: 2, rejected: 1 })
    await eventually(async () => {
      const { hits } = JSON.parse(runIn(app, uploaded!)) as { hits: { hits: { _source: object }[] } }
      const messages = hits.hits.map(({ _source }) => ('message' in _source ? _source.message : undefined))
      expect(messages).to.have.members(['payment 4713: read timed out', 'payment 4714 done'])
    })
  })

  it('configures an OpenTelemetry Collector so that it loses nothing, and for our port', () => {
    const { endpoint, problems } = checkOtelcolConfig(onlyBlock('docs/sending.md', 'yaml otelcol'))
    expect(problems).to.deep.equal([])
    expect(endpoint.hostname).to.equal('127.0.0.1')
  })

  it('has fluent-bit and Vector send documents without a type, to the port of the search store', () => {
    const { outputs } = parse(onlyBlock('docs/sending.md', 'yaml fluent-bit')).pipeline
    expect(outputs).to.have.length(1)
    expect(outputs[0]).to.deep.include({ name: 'opensearch', port: 9200, suppress_type_name: 'on' })
    const sink = parse(onlyBlock('docs/sending.md', 'yaml vector')).sinks.search_store
    expect(sink).to.deep.include({ type: 'elasticsearch', api_version: 'v8', endpoints: ['http://127.0.0.1:9200'] })
  })

  it('has a DaemonSet whose parts fit each other, and which sends to the pipeline of the quick start', () => {
    const objects = parseAllDocuments(onlyBlock('docs/sending.md', 'yaml kubernetes')).map(document => document.toJS() as KubernetesYaml)
    expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).to.deep.equal([
      'v1 Namespace',
      'v1 ConfigMap',
      'apps/v1 DaemonSet',
    ])
    const [namespace, configMap, daemonSet] = objects
    for (const { metadata } of [configMap!, daemonSet!]) expect(metadata.namespace).to.equal(namespace!.metadata.name)
    const { selector, template } = daemonSet!.spec!
    expect(template.metadata.labels).to.deep.include(selector.matchLabels)
    const [container] = template.spec.containers
    expect(container!.volumeMounts.map(({ name }) => name)).to.deep.equal(template.spec.volumes.map(({ name }) => name))
    expect(template.spec.volumes.find(({ configMap }) => configMap !== undefined)?.configMap?.name).to.equal(configMap!.metadata.name)
    const mounted = container!.volumeMounts.find(({ name }) => name === 'config')!.mountPath
    const [file, config] = Object.entries(configMap!.data!)[0]!
    expect(container!.args).to.deep.equal([`--config=${mounted}/${file}`])

    const { endpoint, problems } = checkOtelcolConfig(config)
    expect(problems).to.deep.equal([])
    const example = readFileSync(join(ROOT, 'charts/logpipeline/examples/kubectl/all-in-one.yaml'), 'utf8')
    const { name, namespace: its } = (parse(example) as KubernetesYaml).metadata
    expect(endpoint.hostname).to.equal(`${name}-collector.${its}`)
    expect(config).to.contain(`/var/log/pods/${its}_*`).and.to.contain(`/var/log/pods/${namespace!.metadata.name}_*`)
  })
})

interface KubernetesYaml {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly selector: { readonly matchLabels: object }
    readonly template: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly string[]
          readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
        }[]
        readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[]
      }
    }
  }
}

describe('every page for users', () => {
  const commands = PAGES.flatMap(page =>
    pageBlocks(page)
      .filter(({ language }) => language === 'sh')
      .map(({ text }) => ({ page, text, lines: text.replaceAll('\\\n', ' ').split('\n') })),
  )

  it('has blocks of languages that are looked at', () => {
    const languages = new Set(PAGES.flatMap(pageBlocks).map(({ language }) => language))
    expect([...languages].sort()).to.deep.equal([
      '',
      'json ticketing',
      'nginx',
      'sh',
      'yaml fluent-bit',
      'yaml kubernetes',
      'yaml otelcol',
      'yaml vector',
    ])
  })

  for (const { page, text } of commands)
    it(`${page}: ${text.split('\n')[0]!.slice(0, 60)} … is shell`, () => {
      execFileSync('sh', ['-n'], { input: text })
    })

  it('says the namespace of whatever kubectl and helm do, and both ports of what is forwarded', () => {
    const lines = [...PAGES, ...CHART_PAGES].flatMap(page => [
      ...[...readFileSync(join(ROOT, page), 'utf8').matchAll(/`((?:kubectl|helm template) \S+ [^`\n]+)`/g)].map(([, line]) => line!),
      ...pageBlocks(page).flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n')),
    ])
    const calls = lines.flatMap(line => line.split(/ \| | && /)).filter(call => /^(kubectl|helm) /.test(call))
    expect(calls).to.have.length.above(20)
    const withoutNamespace = calls.filter(call => !/ --namespace \S| --all-namespaces/.test(call))
    expect(withoutNamespace.filter(call => !/^kubectl (create namespace|delete crd|kustomize) /.test(call))).to.deep.equal([])
    for (const call of calls.filter(call => call.includes(' port-forward '))) expect(call).to.match(/ (\d+):\1 &$/)
  })

  it('installs packages before anything of hack/ that does not do so itself', () => {
    for (const { page, lines } of commands) {
      const first = lines.findIndex(line => /\bhack\/(?!logpipeline\b|setup\.sh)/.test(line))
      if (first >= 0) expect(lines.slice(0, first), `${page}: ${lines[first]}`).to.include('sh hack/setup.sh')
    }
  })

  it('names files that are there', () => {
    const named = commands
      .flatMap(({ lines }) => lines)
      .flatMap(line => [...line.matchAll(/(?<![\w./-])((?:charts|docs|hack|e2e)\/[\w./-]+)/g)].map(([, path]) => path!))
    for (const path of named) expect(existsSync(join(ROOT, path)), path).to.equal(true)
  })
})
