import { connect, constants } from 'node:http2'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import type { LogsPayload } from '../../../otlp/payload.ts'
import { LOGS_EXPORT_PATH } from '../../../otlp-intake/grpc-message.ts'
import type { Clock } from '../../../ports/clock.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createRecordingBus, type RecordingBus } from '../../../testing/recording-bus.ts'
import { type Collector, type CollectorAddresses, type CollectorSettings, startCollector } from '../collector.ts'

/** A collector on free ports, over a bus in memory. */
export interface Harness extends CollectorAddresses {
  readonly bus: RecordingBus
  readonly collector: Collector
  readonly httpUrl: string
  readonly healthUrl: string
  /** Messages of what was logged as an error. */
  readonly loggedErrors: readonly string[]
  /** Payloads that reached the bus, in order. */
  payloads(): readonly { readonly key: string; readonly payload: LogsPayload }[]
  /** `POST /v1/logs`. */
  post(body: string | Uint8Array, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  json(): Record<string, unknown>
}

export async function startHarness(settings: Partial<CollectorSettings> = {}, clock: Clock = systemClock): Promise<Harness> {
  const bus = createRecordingBus()
  const loggedErrors: string[] = []
  const collector = await startCollector({
    bus,
    clock,
    log: { ...SILENT, error: (_fields: object, message: string) => loggedErrors.push(message) },
    settings: {
      host: '127.0.0.1',
      grpcPort: 0,
      httpPort: 0,
      healthPort: 0,
      maxRequestBytes: 4 * MAX_BUS_MESSAGE_BYTES,
      maxPendingBytes: 64 << 20,
      tenantId: 'default',
      rawTopic: 'raw-logs',
      ...settings,
    },
  })
  const { addresses } = collector
  const httpUrl = `http://127.0.0.1:${addresses.httpPort}`
  return {
    ...addresses,
    bus,
    collector,
    loggedErrors,
    httpUrl,
    healthUrl: `http://127.0.0.1:${addresses.healthPort}`,
    payloads: () => bus.sent.map(({ record }) => ({ key: record.key, payload: JSON.parse(Buffer.from(record.value).toString()) })),
    async post(body, headers = {}) {
      const answer = await fetch(`${httpUrl}/v1/logs`, {
        method: 'POST',
        body: Buffer.from(body),
        headers: { 'content-type': 'application/json', ...headers },
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, headers: answer.headers, body: bytes, json: () => JSON.parse(bytes.toString()) }
    },
  }
}

export interface GrpcAnswer {
  readonly headers: Readonly<Record<string, unknown>>
  /** The trailers, or of an answer of headers alone these. */
  readonly trailers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

export interface GrpcCall {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The bytes of the data frames, in turn. */
  readonly frames: readonly Uint8Array[]
}

/** The length-prefixed form of a message. */
export function grpcMessage(message: Uint8Array, compressed = false): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt8(compressed ? 1 : 0)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** One call on a connection of its own, spoken by hand. */
export function callGrpc(port: number, { path = LOGS_EXPORT_PATH, headers = {}, frames }: GrpcCall): Promise<GrpcAnswer> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`)
    session.on('error', reject)
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    const chunks: Buffer[] = []
    let responseHeaders: Record<string, unknown> = {}
    let trailers: Record<string, unknown> | undefined
    stream.on('response', received => {
      responseHeaders = received
    })
    stream.on('trailers', received => {
      trailers = received
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => {
      session.close()
      resolve({ headers: responseHeaders, trailers: trailers ?? responseHeaders, body: Buffer.concat(chunks) })
    })
    for (const frame of frames) stream.write(frame)
    stream.end()
  })
}
