/** A connection to Redis or Valkey that answers or fails in time. */
import { createClient, DisconnectsClientError, SocketClosedUnexpectedlyError } from '@redis/client'
import { OnlineStoreUnavailable } from '../../../ports/online-store.ts'

export interface RedisConnectionConfig {
  /** `redis://` or `rediss://` (TLS), with user and password where they are needed. */
  readonly url: string
  /** For connecting, and for each round trip. Default 2,000. */
  readonly timeoutMs?: number
}

export type RedisClient = ReturnType<typeof buildClient>

export interface RedisConnection {
  /**
   * Connects where need be and runs one round trip; a second time where a kept connection was closed meanwhile, or a node of a cluster names the one that
   * has the keys. Rejects with `OnlineStoreUnavailable`, at the latest after eight times the time-out.
   */
  run<T>(work: (client: RedisClient) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const DEFAULT_TIMEOUT_MS = 2_000
/** Nodes that are asked after the one of the URL. */
const MAX_REDIRECTIONS = 2

/**
 * Does nothing by itself: it connects for the first call, and anew for the call after one that failed. The client's own reconnecting
 * and its time-outs would keep what was sent waiting for as long as a server hangs.
 */
export function createRedisConnection({ url, timeoutMs = DEFAULT_TIMEOUT_MS }: RedisConnectionConfig): RedisConnection {
  let current: { readonly client: RedisClient; readonly connected: Promise<unknown> } | undefined
  let isClosed = false
  /** The node of a cluster that has the keys, when it is not the one of the URL; forgotten with the next failure. */
  let owner: string | undefined
  /** The first fault of each connection: an end while it is being made becomes an error of the client's own code. */
  const faults = new WeakMap<RedisClient, unknown>()
  /** Connections that have answered: the other end may close them at any time. */
  const kept = new WeakSet<RedisClient>()

  const open = () => {
    if (isClosed) throw new Error('closed')
    if (current === undefined) {
      const client = buildClient(owner ?? url, timeoutMs)
      // A caller that waits for the connection gets the error. The next call finds a connection that broke between two calls.
      client.on('error', error => {
        if (!faults.has(client)) faults.set(client, error)
        drop(client)
      })
      current = { client, connected: client.connect() }
    }
    return current
  }
  const drop = (client: RedisClient) => {
    if (current?.client === client) current = undefined
    if (client.isOpen) client.destroy()
  }

  return {
    async run(work) {
      let redirections = 0
      for (let mayBeResent = true; ; ) {
        let client: RedisClient | undefined
        try {
          const opened = open()
          client = opened.client
          await within(timeoutMs, opened.connected)
          const answer = await within(timeoutMs, work(client))
          kept.add(client)
          return answer
        } catch (error) {
          if (client !== undefined) drop(client)
          owner = ownerNamedBy(error, owner ?? url)
          if (owner !== undefined && redirections++ < MAX_REDIRECTIONS) continue
          // Reads and writes of whole rows may be done twice.
          if (mayBeResent && client !== undefined && kept.has(client) && wasClosed(error)) {
            mayBeResent = false
            continue
          }
          const cause = client !== undefined && !kept.has(client) && faults.has(client) ? faults.get(client) : error
          throw new OnlineStoreUnavailable(`the online store did not do it: ${reason(cause)}`, { cause })
        }
      }
    },
    async close() {
      isClosed = true
      if (current !== undefined) drop(current.client)
    },
  }
}

/** `MOVED 3999 10.0.0.2:6379`: a node of a cluster that does not have the keys, as after a failover, names the one that has; without a host it is its own. */
const MOVED = /^MOVED \d+ (.*):(\d+)$/

/** The address at the node that an answer names. */
function ownerNamedBy(error: unknown, asked: string): string | undefined {
  const [, host = '', port = ''] = MOVED.exec(error instanceof Error ? error.message : '') ?? []
  if (port === '') return undefined
  const address = new URL(asked)
  if (host !== '') address.hostname = host.includes(':') ? `[${host}]` : host
  address.port = port
  return address.href
}

/** The other end closed the connection. */
function wasClosed(error: unknown): boolean {
  return (
    error instanceof SocketClosedUnexpectedlyError ||
    error instanceof DisconnectsClientError ||
    ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
  )
}

function buildClient(url: string, timeoutMs: number) {
  return createClient({ url, disableOfflineQueue: true, socket: { connectTimeout: timeoutMs, reconnectStrategy: false } })
}

async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Several addresses of one name fail as an `AggregateError` without a text of its own. */
function reason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reason).join(', ')
  return error instanceof Error ? error.message : String(error)
}
