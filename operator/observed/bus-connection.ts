/** Where the bus of a distributed pipeline is. */
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import type { Effect, Problem } from './finding.ts'
import type { StrimziListener } from './foreign-kinds.ts'
import { type Gathered, isServed } from './gathered.ts'

export interface BusConnection {
  /** `host:port`, comma-separated. */
  readonly brokers: string
  readonly isTls: boolean
  /** PEM, of the authority that the status of a Strimzi listener names. */
  readonly caCertificates?: string
}

/** Connection and problem of the bus. With both, the connection is used in spite of the problem. */
export interface ResolvedBus {
  readonly connection?: BusConnection
  readonly problem?: Problem
}

/** Undefined in mode AllInOne, whose bus is its own. */
export function resolveBus({ bus, mode }: LogPipelineSpec, read: Pick<Gathered, 'kafka' | 'servedApis'>): ResolvedBus | undefined {
  if (mode === 'AllInOne' || bus === undefined) return undefined
  const isTls = bus.tls !== undefined
  if (bus.strimzi === undefined) return { connection: { brokers: (bus.bootstrapServers ?? []).join(','), isTls } }
  return resolveStrimzi(bus.strimzi, isTls, read)
}

type Strimzi = NonNullable<NonNullable<LogPipelineSpec['bus']>['strimzi']>

function resolveStrimzi(wanted: Strimzi, isTls: boolean, read: Pick<Gathered, 'kafka' | 'servedApis'>): ResolvedBus {
  const { cluster } = wanted
  if (!isServed(read, 'Kafka.kafka.strimzi.io'))
    return problem('StrimziNotInstalled', 'spec.bus.strimzi: expected the Strimzi operator, found no Kafka API in this cluster')
  if (read.kafka === undefined) return problem('MissingKafka', `spec.bus.strimzi.cluster: expected a Kafka ${cluster}, found none`)
  const { listeners = [], conditions = [] } = read.kafka.status ?? {}
  const ready = conditions.find(({ type }) => type === 'Ready')
  const notReady: Pick<ResolvedBus, 'problem'> =
    ready?.status === 'True'
      ? {}
      : problem('KafkaNotReady', `Kafka ${cluster} is not ready: ${ready?.message ?? ready?.reason ?? 'no status yet'}`, 'progressing')
  const known = listeners.filter(({ bootstrapServers }) => bootstrapServers)
  if (known.length === 0) return notReady.problem === undefined ? noListener(wanted, listeners) : notReady
  const listener = wanted.listener === undefined ? only(known) : known.find(({ name }) => name === wanted.listener)
  if (listener === undefined) return noListener(wanted, known)
  return { connection: connectionOf(listener, isTls), ...notReady }
}

function connectionOf({ bootstrapServers = '', certificates = [] }: StrimziListener, isTls: boolean): BusConnection {
  const certificate = certificates.length === 0 ? {} : { caCertificates: `${certificates.map(pem => pem.trim()).join('\n')}\n` }
  return { brokers: bootstrapServers, isTls: isTls || certificates.length > 0, ...certificate }
}

const only = (listeners: readonly StrimziListener[]) => (listeners.length === 1 ? listeners[0] : undefined)

function noListener({ cluster, listener }: Strimzi, listeners: readonly StrimziListener[]): ResolvedBus {
  const wanted = listener === undefined ? 'to be named, since there are several' : `one of Kafka ${cluster}`
  const names = listeners.map(({ name }) => name).join(', ') || 'none'
  return problem('MissingListener', `spec.bus.strimzi.listener: expected ${wanted}, seen ${listener ?? 'nothing'}; there are: ${names}`)
}

function problem(reason: string, message: string, effect: Effect = 'stalled'): { readonly problem: Problem } {
  return { problem: { reason, message, effect } }
}
