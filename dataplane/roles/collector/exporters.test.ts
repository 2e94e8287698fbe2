import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter as GrpcExporter } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { LoggerProvider, type LogRecordExporter, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type Harness, startHarness } from './testing/collector-harness.ts'

const GZIP = { compression: 'gzip' as never }
const EXPORTERS: readonly { readonly name: string; readonly create: (harness: Harness) => LogRecordExporter }[] = [
  { name: 'HTTP JSON', create: ({ httpUrl }) => new JsonExporter({ url: `${httpUrl}/v1/logs` }) },
  { name: 'HTTP JSON, gzip', create: ({ httpUrl }) => new JsonExporter({ url: `${httpUrl}/v1/logs`, ...GZIP }) },
  { name: 'HTTP protobuf', create: ({ httpUrl }) => new ProtobufExporter({ url: `${httpUrl}/v1/logs` }) },
  { name: 'HTTP protobuf, gzip', create: ({ httpUrl }) => new ProtobufExporter({ url: `${httpUrl}/v1/logs`, ...GZIP }) },
  { name: 'gRPC', create: ({ grpcPort }) => new GrpcExporter({ url: `http://127.0.0.1:${grpcPort}` }) },
  { name: 'gRPC, gzip', create: ({ grpcPort }) => new GrpcExporter({ url: `http://127.0.0.1:${grpcPort}`, ...GZIP }) },
]

describe("the collector and OpenTelemetry's own exporters", () => {
  let harness: Harness
  beforeEach(async () => {
    harness = await startHarness()
  })
  afterEach(() => harness.collector.stop())

  for (const { name, create } of EXPORTERS)
    it(`${name}: every record arrives, with time, severity, body and attributes`, async () => {
      const provider = new LoggerProvider({
        resource: resourceFromAttributes({ 'service.name': 'checkout', tenant_id: 'acme' }),
        processors: [new SimpleLogRecordProcessor({ exporter: create(harness) })],
      })
      const logger = provider.getLogger('test', '1.0')
      for (let i = 0; i < 10; i++)
        logger.emit({
          timestamp: new Date(1_767_225_600_000 + i),
          severityNumber: SeverityNumber.ERROR,
          severityText: 'ERROR',
          body: `order ${i} failed`,
          attributes: { 'user.id': 'u1', count: i, ratio: 0.5, ok: false, list: ['a', 1] },
        })
      await provider.shutdown()
      const messages = harness.payloads()
      expect(new Set(messages.map(({ key }) => key))).to.deep.equal(new Set(['acme/checkout']))
      const records = messages.flatMap(({ payload }) =>
        payload.resourceLogs!.flatMap(each => each.scopeLogs!.flatMap(scope => scope.logRecords!)),
      )
      expect(records.map(record => record.body!.stringValue).sort()).to.deep.equal(
        Array.from({ length: 10 }, (_, i) => `order ${i} failed`),
      )
      const record = records.find(each => each.body!.stringValue === 'order 7 failed')!
      expect(record).to.deep.include({ timeUnixNano: '1767225600007000000', severityNumber: 17, severityText: 'ERROR' })
      const attributes = Object.fromEntries(record.attributes!.map(({ key, value }) => [key, Object.values(value!)[0]]))
      expect([attributes['user.id'], Number(attributes['count']), attributes['ratio'], attributes['ok']]).to.deep.equal([
        'u1',
        7,
        0.5,
        false,
      ])
    })
})
