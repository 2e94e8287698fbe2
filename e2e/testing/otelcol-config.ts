/** Rules for a configuration of an OpenTelemetry Collector that loses nothing on its way to our collector. */
import { parse } from 'yaml'
import { PORTS } from '../../dataplane/contract/roles.ts'

type Components = Readonly<Record<string, Readonly<Record<string, unknown>> | null>>

interface OtelcolConfig {
  readonly extensions?: Components
  readonly receivers: Components
  readonly processors?: Components
  readonly exporters: Components
  readonly service: {
    readonly extensions?: readonly string[]
    readonly pipelines: Readonly<Record<string, Readonly<Partial<Record<Role, readonly string[]>>>>>
  }
}

const ROLES = ['receivers', 'processors', 'exporters'] as const
type Role = (typeof ROLES)[number]

const EXPORTER_FIELDS = ['endpoint', 'compression', 'retry_on_failure', 'sending_queue', 'tls']
const OTLP_PORTS: Readonly<Record<string, number>> = { otlp_http: PORTS.otlpHttp, otlp_grpc: PORTS.otlpGrpc }

/** The address that it sends to, and what is wrong with it: empty when nothing is. */
export function checkOtelcolConfig(text: string): { readonly endpoint: URL; readonly problems: readonly string[] } {
  const config = parse(text) as OtelcolConfig
  const [[name, exporter]] = Object.entries(config.exporters) as [[string, Readonly<Record<string, unknown>>]]
  const endpoint = new URL(String(exporter['endpoint']))
  const queue = exporter['sending_queue'] as { readonly storage?: string; readonly batch?: object } | undefined
  const retry = exporter['retry_on_failure'] as { readonly max_elapsed_time?: number } | undefined
  const problems = [
    ...Object.keys(exporter).flatMap(field => (EXPORTER_FIELDS.includes(field) ? [] : [`${name} has no field ${field}`])),
    ...(Number(endpoint.port) === OTLP_PORTS[name] ? [] : [`${name} sends to port ${endpoint.port}`]),
    ...(queue?.storage !== undefined && Object.hasOwn(config.extensions ?? {}, queue.storage) ? [] : ['the queue is not in a file']),
    ...(queue?.batch === undefined ? ['the queue makes no batches'] : []),
    ...(retry?.max_elapsed_time === 0 ? [] : ['the exporter gives up']),
    ...(Object.hasOwn(config.processors ?? {}, 'batch') ? ['the batch processor answers before it sends'] : []),
    ...unevenUse('extensions', config.extensions, config.service.extensions),
    ...Object.values(config.service.pipelines).flatMap(pipeline => ROLES.flatMap(role => unevenUse(role, config[role], pipeline[role]))),
  ]
  return { endpoint, problems }
}

/** Components that are used but not defined, or defined but not used. */
function unevenUse(what: string, defined: Components = {}, used: readonly string[] = []): readonly string[] {
  return [
    ...used.filter(name => !Object.hasOwn(defined, name)).map(name => `${what}: ${name} is not defined`),
    ...Object.keys(defined).flatMap(name => (used.includes(name) ? [] : [`${what}: ${name} is not used`])),
  ]
}
