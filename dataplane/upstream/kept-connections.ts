/** Connections to a back end that are kept, and requests over them: what may be repeated is sent once more where its connection breaks. */
import type { Client, Dispatcher, Pool } from 'undici'
import { HttpError } from '../http/http-error.ts'
import { withInterimAnswers } from '../http/interim-answers.ts'
import { atFirstUse } from '../process/at-first-use.ts'
import type { Log } from '../telemetry/log.ts'
import { createAwayLog } from './away-log.ts'

/** Connections to one back end; further requests wait for one. */
const MAX_CONNECTIONS = 128
const CONNECT_MS = 5_000
/** Less than servers of the product keep them; a server that keeps them for less says so. */
const KEEP_MS = 30_000
/** Until the head of an answer, and between two pieces of its body. */
const ANSWER_MS = 90_000
/** Errors of a connection that ended without an answer. */
const BROKEN: ReadonlySet<string | undefined> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
/** Errors of requests that HTTP cannot carry. */
const UNFIT: ReadonlySet<string | undefined> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'])

export interface BackEndConfig {
  readonly endpoint: string
  /** Such as "the bridge". */
  readonly name: string
  /** PEM of the authority that signed its certificate. */
  readonly ca?: Buffer | undefined
  /** The message for callers while the back end cannot be reached. */
  readonly unreachable?: string
}

export interface KeptConnections {
  /**
   * A connection that breaks before the answer may have been closed as it was taken: what may be repeated is, once, on a new one. Rejects with
   * `HttpError`: 502 when the back end cannot be reached, 504 when it does not answer.
   */
  send<T>(isRepeatable: boolean, signal: AbortSignal | undefined, ask: (to: Dispatcher) => Promise<T>): Promise<T>
  /** Sends as it is: no request is repeated, and errors are those of the connection. */
  sendOnce<T>(ask: (to: Dispatcher) => Promise<T>): Promise<T>
  /** The error that callers get for one of a connection. */
  failed(cause: unknown): HttpError
  close(): Promise<void>
}

interface Connections {
  readonly pool: Pool
  /** A connection of its own, to be closed. */
  fresh(): Client
}

export const CALLER_GONE = new Error('the caller hung up')

export function createKeptConnections({ endpoint, name, ca, unreachable }: BackEndConfig, log: Log): KeptConnections {
  const { origin } = new URL(endpoint)
  const times = { keepAliveTimeout: KEEP_MS, keepAliveMaxTimeout: KEEP_MS, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS }
  const connections = atFirstUse<Connections>(async () => {
    const { buildConnector, Client, Pool } = await import('undici')
    const connect = withInterimAnswers(buildConnector({ timeout: CONNECT_MS, noDelay: true, ...(ca !== undefined && { ca }) }))
    const options: Client.Options = { ...times, pipelining: 1, connect }
    return { pool: new Pool(origin, { ...options, connections: MAX_CONNECTIONS }), fresh: () => new Client(origin, options) }
  })

  const isAway = createAwayLog(log, { name, endpoint })
  const failed = (cause: unknown): HttpError => {
    if (cause instanceof HttpError) return cause
    const { code, name: kind } = cause as NodeJS.ErrnoException
    if (UNFIT.has(code)) return new HttpError(400, 'expected a request that can be passed on, seen another', {}, { cause })
    // A page that was left is nobody's fault.
    if (cause !== CALLER_GONE) isAway(cause)
    if (code === 'UND_ERR_HEADERS_TIMEOUT') return new HttpError(504, `${name} did not answer in time`, {}, { cause })
    if (code === 'UND_ERR_HEADERS_OVERFLOW' || kind === 'HTTPParserError')
      return new HttpError(502, `${name} gave an answer that cannot be passed on`, {}, { cause })
    return new HttpError(502, unreachable ?? `${name} cannot be reached`, {}, { cause })
  }

  return {
    async send(isRepeatable, signal, ask) {
      const { pool, fresh: connect } = await connections.open()
      // A connection whose end has arrived is not taken then.
      if (!isRepeatable) await nextTurn()
      try {
        return await ask(pool)
      } catch (error) {
        const isBroken = BROKEN.has((error as NodeJS.ErrnoException).code)
        if (!isRepeatable || !isBroken || signal?.aborted === true) throw failed(error)
      }
      const fresh = connect()
      try {
        return await ask(fresh)
      } catch (error) {
        throw failed(error)
      } finally {
        // Once the answer is whole.
        fresh.close().catch(() => undefined)
      }
    },

    async sendOnce(ask) {
      const { pool } = await connections.open()
      return ask(pool)
    },

    failed,
    close: () => connections.close(({ pool }) => pool.destroy()),
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
