/** Connections to mail servers: one pool for each server and log-in, each connection to an address that was checked. */
import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { createTransport, Transporter } from 'nodemailer'
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js'
import type { Target } from '../../../domain/tickets/target.ts'
import type { OutboundAddress, OutboundAddresses } from '../../../ports/outbound-addresses.ts'
import { TargetUnreachable } from '../../../ports/outbound-http.ts'
import { CONNECTION_WORDS } from '../../../text/connection-words.ts'
import { field } from '../target-field.ts'
import { logInOptions } from './log-in.ts'

const CONNECT_MS = 10_000
const GREETING_MS = 10_000
/** Silence of the server. */
const SOCKET_MS = 30_000
const MAX_CONNECTIONS = 3
const MAX_MESSAGES = 100
/** Shorter than servers wait, so that none hangs up while a mail is on its way. */
const IDLE_MS = 30_000
const MAX_POOLS = 100
const IMPLICIT_TLS_PORT = 465

export type SmtpTransport = Transporter<SMTPPool.SentMessageInfo>

export interface SmtpPools {
  /** Runs `work` with the pool of the target, which is not closed meanwhile. */
  use<T>(target: Target, work: (pool: SmtpPool) => Promise<T>): Promise<T>
  close(): void
}

export interface SmtpPool {
  readonly transport: SmtpTransport
  /** The server offered no log-in at the newest connection, though the target has a user. */
  readonly isWithoutLogIn: boolean
}

interface HeldPool extends SmtpPool {
  isWithoutLogIn: boolean
  users: number
}

export function createSmtpPools(addresses: OutboundAddresses): SmtpPools {
  /** The one used longest ago first. */
  const pools = new Map<string, HeldPool>()

  const poolOf = (target: Target, connect: typeof createTransport): HeldPool => {
    const key = keyOf(target)
    const onLogIn = (isUsed: boolean) => {
      pool.isWithoutLogIn = !isUsed
    }
    const pool: HeldPool = pools.get(key) ?? {
      transport: connect(optionsOf(target, addresses, onLogIn)),
      isWithoutLogIn: false,
      users: 0,
    }
    pools.delete(key)
    pools.set(key, pool)
    for (const [other, { transport, users }] of pools) {
      if (pools.size <= MAX_POOLS) break
      if (users > 0 || other === key) continue
      transport.close()
      pools.delete(other)
    }
    return pool
  }

  return {
    async use(target, work) {
      // With the first mail, which most processes never send.
      const { createTransport } = await import('nodemailer')
      const pool = poolOf(target, createTransport)
      pool.users++
      try {
        return await work(pool)
      } finally {
        pool.users--
      }
    },
    close() {
      for (const { transport } of pools.values()) transport.close()
      pools.clear()
    },
  }
}

const FIELDS = ['host', 'port', 'secure', 'user', 'password']

function keyOf(target: Target): string {
  return createHash('sha256')
    .update(JSON.stringify(FIELDS.map(name => field(target, name) ?? null)))
    .digest('hex')
}

function optionsOf(target: Target, addresses: OutboundAddresses, onLogIn: (isUsed: boolean) => void): SMTPPool.Options {
  const host = field(target, 'host') ?? ''
  const port = Number(field(target, 'port') ?? 587)
  const secure = field(target, 'secure') === undefined ? port === IMPLICIT_TLS_PORT : field(target, 'secure') === 'true'
  const user = field(target, 'user')
  const options: SMTPPool.Options & { readonly maxRequeues: number; readonly idleTimeout: number } = {
    pool: true,
    host,
    port,
    secure,
    ...(user !== undefined && { auth: { user, pass: field(target, 'password') ?? '' } }),
    maxConnections: MAX_CONNECTIONS,
    maxMessages: MAX_MESSAGES,
    // The outbox tries again, and knows which mail may be sent twice.
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SOCKET_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket(_, done) {
      openSocket(host, port, addresses).then(
        ({ socket, isPublic }) => {
          const logIn = user === undefined ? {} : logInOptions(isPublic, onLogIn)
          done(null, { connection: socket, ...encryption(isPublic, secure), ...logIn })
        },
        error => done(error, undefined),
      )
    },
  }
  return options
}

/** In the open network nothing goes without TLS and a certificate that fits; in a private one TLS is used where it is offered. */
function encryption(isPublic: boolean, secure: boolean) {
  if (isPublic || secure) return { requireTLS: !secure }
  return { opportunisticTLS: true, tls: { rejectUnauthorized: false } }
}

async function openSocket(host: string, port: number, addresses: OutboundAddresses) {
  const found = await addresses.resolve(host, port)
  let last: unknown
  for (const address of found) {
    try {
      return { socket: await connectTo(address, port), isPublic: address.isPublic }
    } catch (error) {
      last = error
    }
  }
  const why = last instanceof Error ? (CONNECTION_WORDS.get(String((last as NodeJS.ErrnoException).code)) ?? last.message) : 'no connection'
  throw new TargetUnreachable(`${host}:${port}: ${why}`, false, { cause: last })
}

function connectTo({ address, family }: OutboundAddress, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, family })
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(CONNECT_MS, () => fail(new Error(`no connection within ${CONNECT_MS / 1_000} s`)))
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.setTimeout(0)
      socket.off('error', fail)
      resolve(socket)
    })
  })
}
