/** Collectors that write to Kafka and answer once all brokers in sync have it: ours, and an OpenTelemetry Collector. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Protocol, Target } from '../load-connection.ts'
import { freePort, type ServerCommand, startServer } from '../server-process.ts'
import { type BenchTopics, createTopics, deleteTopics, kafkaBrokers } from './bench-topics.ts'

export interface CollectorSubject {
  readonly name: string
  readonly pid: number
  target(protocol: Protocol): Target
  remove(): Promise<void>
}

interface Ports {
  readonly http: number
  readonly grpc: number
  readonly health: number
}

const PROGRAM = resolve(import.meta.dirname, '../../logpipeline')

/** The role alone, as a user starts it. */
export function startOurCollector(): Promise<CollectorSubject> {
  return startCollector('logpipeline', (topics, ports, dataDir) => ({
    command: PROGRAM,
    args: ['collector'],
    env: {
      ...topics.settings,
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      OTLP_HTTP_PORT: String(ports.http),
      OTLP_GRPC_PORT: String(ports.grpc),
      HEALTH_PORT: String(ports.health),
    },
  }))
}

/** A binary with otlp receiver, kafka exporter and health_check extension (`hack/bench/kafka/build-otelcol.sh`); it answers after Kafka, too, and writes the same form. */
export function startOtelCollector(binary: string): Promise<CollectorSubject> {
  return startCollector('OpenTelemetry Collector', (topics, ports, dataDir) => {
    const file = join(dataDir, 'config.yaml')
    writeFileSync(file, otelConfig(topics, ports))
    return { command: binary, args: ['--config', file] }
  })
}

/** YAML reads JSON. */
function otelConfig(topics: BenchTopics, { http, grpc, health }: Ports): string {
  const kafka = {
    brokers: kafkaBrokers(),
    logs: { topic: topics.raw, encoding: 'otlp_json' },
    producer: { required_acks: -1, compression: 'lz4', linger: '0s' },
    // With its queue it would answer before Kafka has anything.
    sending_queue: { enabled: false },
    retry_on_failure: { enabled: false },
  }
  const at = (port: number) => ({ endpoint: `127.0.0.1:${port}` })
  return JSON.stringify({
    receivers: { otlp: { protocols: { grpc: at(grpc), http: at(http) } } },
    exporters: { kafka },
    extensions: { health_check: at(health) },
    service: {
      extensions: ['health_check'],
      telemetry: { metrics: { level: 'none' }, logs: { level: 'error' } },
      pipelines: { logs: { receivers: ['otlp'], exporters: ['kafka'] } },
    },
  })
}

async function startCollector(
  name: string,
  build: (topics: BenchTopics, ports: Ports, dataDir: string) => ServerCommand,
): Promise<CollectorSubject> {
  const topics = await createTopics()
  const [http, grpc] = [await freePort(), await freePort()]
  const server = await startServer((health, dataDir) => build(topics, { http, grpc, health }, dataDir), '/')
  return {
    name,
    pid: server.pid,
    target: protocol => ({ protocol, host: '127.0.0.1', port: protocol === 'grpc' ? grpc : http, path: '/v1/logs' }),
    async remove() {
      await server.remove()
      await deleteTopics(topics)
    },
  }
}
