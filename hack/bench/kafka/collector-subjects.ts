/** Collectors that write to Kafka and answer once all brokers in sync have it: ours, and an OpenTelemetry Collector. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freePort } from '../../../dataplane/testing/free-port.ts'
import type { Protocol, Target } from '../load-connection.ts'
import { type ServerCommand, startServer } from '../server-process.ts'
import { type BenchTopics, createTopics, deleteTopics, kafkaBrokers } from './bench-topics.ts'

/** A collector, and how one is started that writes to these topics. */
export interface CollectorKind {
  readonly name: string
  command(topics: BenchTopics, ports: Ports, dataDir: string): ServerCommand
}

export interface RunningCollector {
  readonly pid: number
  target(protocol: Protocol): Target
  /** SIGKILL; its directory goes, too. */
  kill(): Promise<void>
}

export interface CollectorSubject extends RunningCollector {
  readonly name: string
  /** Its topics go, too. */
  remove(): Promise<void>
}

interface Ports {
  readonly http: number
  readonly grpc: number
  readonly health: number
}

/** The command line of this checkout. */
export const PROGRAM = resolve(import.meta.dirname, '../../logpipeline')

/** The role alone, as a user starts it. */
export const OUR_COLLECTOR: CollectorKind = {
  name: 'logpipeline',
  command: (topics, ports, dataDir) => ({
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
  }),
}

/** With its default queue it answers before Kafka has anything; without a queue it answers after Kafka, too. */
export type OtelQueue = 'default queue' | 'no queue'

/** A binary with otlp receiver, kafka exporter and health_check extension (`hack/bench/kafka/build-otelcol.sh`); it writes the same form. */
export function otelCollector(binary: string, queue: OtelQueue): CollectorKind {
  return {
    name: queue === 'default queue' ? 'OpenTelemetry Collector, default queue' : 'OpenTelemetry Collector, no queue',
    command(topics, ports, dataDir) {
      const file = join(dataDir, 'config.yaml')
      writeFileSync(file, otelConfig(topics, ports, queue))
      return { command: binary, args: ['--config', file] }
    },
  }
}

/** YAML reads JSON. */
function otelConfig(topics: BenchTopics, { http, grpc, health }: Ports, queue: OtelQueue): string {
  const kafka = {
    brokers: kafkaBrokers(),
    logs: { topic: topics.raw, encoding: 'otlp_json' },
    producer: { required_acks: -1, compression: 'lz4', linger: '0s' },
    ...(queue === 'no queue' && { sending_queue: { enabled: false }, retry_on_failure: { enabled: false } }),
  }
  const at = (port: number) => ({ endpoint: `127.0.0.1:${port}` })
  return JSON.stringify({
    receivers: { otlp: { protocols: { grpc: at(grpc), http: at(http) } } },
    exporters: { kafka },
    extensions: { health_check: at(health) },
    service: {
      extensions: ['health_check'],
      telemetry: { metrics: { level: 'none' }, logs: { level: 'fatal' } },
      pipelines: { logs: { receivers: ['otlp'], exporters: ['kafka'] } },
    },
  })
}

export async function startCollector({ command }: CollectorKind, topics: BenchTopics): Promise<RunningCollector> {
  const [http, grpc] = [await freePort(), await freePort()]
  const server = await startServer((health, dataDir) => command(topics, { http, grpc, health }, dataDir), '/')
  return {
    pid: server.pid,
    target: protocol => ({ protocol, host: '127.0.0.1', port: protocol === 'grpc' ? grpc : http, path: '/v1/logs' }),
    kill: server.remove,
  }
}

/** On topics of its own. */
export async function startSubject(kind: CollectorKind): Promise<CollectorSubject> {
  const topics = await createTopics()
  const collector = await startCollector(kind, topics)
  return {
    ...collector,
    name: kind.name,
    async remove() {
      await collector.kill()
      await deleteTopics(topics)
    },
  }
}
