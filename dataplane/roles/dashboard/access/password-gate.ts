/** The one user that the dashboard may ask for: by Basic authentication (RFC 7617), or by a form that opens a session. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../../../http/http-error.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import { createSessions } from './sessions.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface PasswordGate {
  /** Whether the request has a session, or the right password. Throws `HttpError` 401 for a wrong one, 429 after too many from one address. */
  admits(request: IncomingMessage): boolean
  /** The cookie of a new session. Throws as `admits` does. */
  open(request: IncomingMessage, given: Credentials): string
  /** Ends the session of the request, where it has one; gives the cookie that takes it from the browser. */
  close(request: IncomingMessage): string
}

/** Wrong passwords that one address may send in a minute. */
const MAX_FAILURES = 10
const FAILURE_WINDOW_MS = 60_000
/** Addresses whose failures are counted; beyond it the one that failed longest ago is forgotten. */
const MAX_ADDRESSES = 10_000
const WRONG_PASSWORD = 'wrong user name or password'

interface Failures {
  count: number
  readonly sinceMs: number
}

export function createPasswordGate(credentials: Credentials, clock: Clock): PasswordGate {
  const expected = digest(credentials)
  const failures = new Map<string, Failures>()
  const sessions = createSessions(`${credentials.username}:${credentials.password}`, clock)

  const note = (address: string) => {
    const known = failures.get(address)
    const isOld = known === undefined || monotonicMs(clock) - known.sinceMs >= FAILURE_WINDOW_MS
    failures.delete(address)
    failures.set(address, isOld ? { count: 1, sinceMs: monotonicMs(clock) } : { ...known, count: known.count + 1 })
    if (failures.size > MAX_ADDRESSES) failures.delete(failures.keys().next().value!)
  }
  const waitMs = (address: string): number => {
    const known = failures.get(address)
    return known === undefined || known.count < MAX_FAILURES ? 0 : known.sinceMs + FAILURE_WINDOW_MS - monotonicMs(clock)
  }
  const assertRight = ({ socket }: IncomingMessage, given: Credentials): void => {
    const address = socket.remoteAddress ?? ''
    const wait = waitMs(address)
    if (wait > 0) throw new HttpError(429, 'too many wrong passwords; try again later', { 'retry-after': String(Math.ceil(wait / 1_000)) })
    if (timingSafeEqual(digest(given), expected)) return
    note(address)
    throw new HttpError(401, WRONG_PASSWORD)
  }

  return {
    admits(request) {
      if (sessions.holds(request.headers.cookie)) return true
      const given = readBasic(request.headers.authorization)
      if (given === undefined) return false
      assertRight(request, given)
      return true
    },
    open(request, given) {
      assertRight(request, given)
      return sessions.open()
    },
    close: ({ headers }) => sessions.close(headers.cookie),
  }
}

function readBasic(header: string | undefined): Credentials | undefined {
  const match = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(header ?? '')
  if (match === null) return undefined
  const [username = '', ...rest] = Buffer.from(match[1]!, 'base64').toString('utf8').split(':')
  return { username, password: rest.join(':') }
}

/** All digests have one length, so that all comparisons take one time. The name's length keeps name and password apart. */
function digest({ username, password }: Credentials): Buffer {
  return createHash('sha256').update(`${username.length}:${username}${password}`).digest()
}
