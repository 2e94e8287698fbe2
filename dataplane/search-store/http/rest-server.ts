/** The HTTP server: its times, and the memory that all of its requests share. */
import type { Server } from 'node:http'
import { continueWhenRead } from '../../http/expect-continue.ts'
import { createServer } from '../../http/node-http.ts'
import { withOneHost } from '../../http/request-host.ts'
import { TIMEOUT_CHECK_MS } from '../../http/server.ts'
import { answerUnreadableRequests } from '../../http/unreadable-request.ts'
import { BodyMemory } from '../../limits/body-memory.ts'
import { LentBuffers } from '../../memory/lent-buffers.ts'
import { monotonicMs } from '../../ports/clock.ts'
import { MemoryPool } from '../memory-pool.ts'
import { HeldAnswers } from './answer/held-answers.ts'
import { Exchange, type ExchangeConfig, type SharedParts } from './exchange.ts'
import { BODY_MEMORY_ERRORS } from './request/request-body.ts'
import { createRouter, type Route } from './route.ts'

export interface RestServerConfig extends ExchangeConfig {
  readonly routes: readonly Route[]
  /** Bytes of bodies with documents that all requests hold at a time, also of those that are still coming in and of unpacked ones. */
  readonly maxHeldBytes: number
  /** Bytes of answers that clients have not read yet. Default 128 MiB. */
  readonly maxHeldAnswerBytes?: number
}

/** Bytes of query bodies that are held at a time. Bodies with documents have a bound of their own, which they may use up. */
const MAX_HELD_QUERY_BYTES = 32 * 1024 * 1024
/** Memory of bulk operations beside their bodies, bytes: enough for one bulk with as many operations as are allowed. */
const MAX_HELD_OPERATION_BYTES = 128 * 1024 * 1024
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
const KEEP_ALIVE_MS = 60_000
/** How much longer than clients are told a connection is kept, ms, so that a client that is late does not find the connection closed. */
const KEEP_ALIVE_GRACE_MS = 10_000

export function createRestServer(config: RestServerConfig): Server {
  const nowMs = () => monotonicMs(config.deps.clock)
  const shared: SharedParts = {
    config,
    match: createRouter(config.routes),
    held: {
      query: new BodyMemory(MAX_HELD_QUERY_BYTES, BODY_MEMORY_ERRORS, nowMs),
      documents: new BodyMemory(config.maxHeldBytes, BODY_MEMORY_ERRORS, nowMs),
      operations: new MemoryPool(MAX_HELD_OPERATION_BYTES),
      answers: new HeldAnswers(config.maxHeldAnswerBytes),
    },
    memory: new LentBuffers(),
  }
  const serve = withOneHost((request, response) => {
    const exchange = new Exchange(shared, request, response)
    exchange.run().catch(error => config.onError(error, { method: request.method ?? '', path: request.url ?? '' }))
  })
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveTimeoutBuffer: KEEP_ALIVE_GRACE_MS,
      noDelay: true,
      maxHeaderSize: 65_536,
      requireHostHeader: false,
    },
    serve,
  )
  continueWhenRead(server, serve)
  answerUnreadableRequests(server)
  return server
}
