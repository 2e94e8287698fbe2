import { Client } from '@opensearch-project/opensearch'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter as GrpcExporter } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { LoggerProvider, type LogRecordExporter, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually, type Standalone } from './testing/standalone-process.ts'
import { useUsualStandalone } from './testing/usual-standalone.ts'

const EXPORTERS: readonly { readonly name: string; readonly create: (app: Standalone) => LogRecordExporter }[] = [
  { name: 'http-json', create: app => new JsonExporter({ url: `${app.collector}/v1/logs` }) },
  { name: 'http-protobuf', create: app => new ProtobufExporter({ url: `${app.collector}/v1/logs` }) },
  { name: 'grpc', create: app => new GrpcExporter({ url: `http://${app.grpc}` }) },
]

describe("OpenTelemetry's own exporters in, the official OpenSearch client out", () => {
  const at = useUsualStandalone()
  let reader: Client
  before(() => {
    reader = new Client({ node: at.app.search })
  })
  after(() => reader.close())

  for (const { name, create } of EXPORTERS) {
    it(`stores what the ${name} exporter sends as the specification's log document`, async function () {
      this.timeout(30_000)
      const provider = new LoggerProvider({
        resource: resourceFromAttributes({
          'service.name': name,
          'host.name': 'node-1',
          'service.version': '1.2.3',
          'cloud.region': 'eu-1',
        }),
        processors: [new SimpleLogRecordProcessor({ exporter: create(at.app) })],
      })
      provider.getLogger('e2e').emit({
        timestamp: Date.now(),
        severityNumber: SeverityNumber.WARN,
        severityText: 'warning',
        body: `order ${name} took 93 ms`,
        attributes: { 'user.id': 'u-17', 'cart.items': 3, ratio: 0.25, paid: true },
      })
      await provider.shutdown()

      const document = await eventually(async () => {
        const { body } = await reader.search({
          index: 'service-logs-*',
          body: {
            query: {
              bool: { filter: [{ term: { service: name } }], must: [{ match: { message: { query: `order ${name}`, operator: 'and' } } }] },
            },
          },
        })
        expect(body.hits.total).to.deep.equal({ value: 1, relation: 'eq' })
        return body.hits.hits[0]!._source as Record<string, unknown>
      })
      expect(document).to.include({
        service: name,
        level: 'WARN',
        message: `order ${name} took 93 ms`,
        host: 'node-1',
        region: 'eu-1',
        tenant_id: 'default',
        anomaly_score: 0,
        is_anomaly: false,
        enriched: true,
        'user.id': 'u-17',
        'cart.items': 3,
        ratio: 0.25,
        paid: true,
      })
      expect(document['attributes']).to.include({ 'service.version': '1.2.3' })
      expect(document['timestamp']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}Z$/)
    })

    it(`shows the exception of a record that the ${name} exporter sends without a body, and groups such records by it`, async function () {
      this.timeout(30_000)
      const service = `${name}-exception`
      const provider = new LoggerProvider({
        resource: resourceFromAttributes({ 'service.name': service }),
        processors: [new SimpleLogRecordProcessor({ exporter: create(at.app) })],
      })
      for (const cart of [17, 18]) {
        const error = new TypeError(`cart ${cart} is undefined`)
        const attributes = { 'exception.type': error.name, 'exception.message': error.message, 'exception.stacktrace': error.stack! }
        provider.getLogger('e2e').emit({ severityNumber: SeverityNumber.ERROR, attributes })
      }
      await provider.shutdown()

      const documents = await eventually(async () => {
        const { body } = await reader.search({ index: 'service-logs-*', body: { query: { term: { service } } } })
        expect(body.hits.hits).to.have.length(2)
        return body.hits.hits.map(({ _source }) => _source as Record<string, unknown>)
      })
      expect(documents.map(({ message }) => message)).to.have.members([
        'TypeError: cart 17 is undefined',
        'TypeError: cart 18 is undefined',
      ])
      for (const document of documents) {
        expect(document).to.include({ level: 'ERROR', pattern: 'TypeError: cart <*> is undefined', 'exception.type': 'TypeError' })
        expect(document['exception.stacktrace']).to.contain('exporters.test.ts')
      }
    })
  }
})
