/** The parts of `@platformatic/kafka` that this adapter uses, loaded one by one. */

export type { Broker, Callback, Connection, Reader, ResponseParser } from '@platformatic/kafka'

type Library = typeof import('@platformatic/kafka')

/**
 * The package offers its modules all together. Its clients and schema registries, which nothing here needs, took each thread 38 MB (2026-11-28).
 */
const load = async (module: string): Promise<Library> => import(new URL(module, import.meta.resolve('@platformatic/kafka')).href)

/** The versions of each request. */
export const apis: Pick<Library, Extract<keyof Library, `${string}V${number}` | `apiVersionsV${number}`>> = await load('./apis/index.js')
export const { ConfigResourceTypes, IncrementalAlterConfigOperationTypes } = await load('./apis/enumerations.js')
export const {
  decodeConsumerProtocolAssignment,
  decodeConsumerProtocolSubscription,
  encodeConsumerProtocolAssignment,
  encodeConsumerProtocolSubscription,
} = await load('./clients/consumer/consumer-protocol.js')
export const { cooperativeStickyAssigner } = await load('./clients/consumer/partitions-assigners.js')
export const { ResponseError } = await load('./errors.js')
export const { ConnectionPool } = await load('./network/connection-pool.js')
export const { compressionsAlgorithms, crc32c, protocolErrors, protocolErrorsCodesById, Writer } = await load('./protocol/index.js')

export type ConnectionPool = InstanceType<Library['ConnectionPool']>

export type Writer = InstanceType<Library['Writer']>
