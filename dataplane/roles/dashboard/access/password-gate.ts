/** The one user that the dashboard may ask for, by Basic authentication (RFC 7617). */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../../../http/http-error.ts'
import type { Clock } from '../../../ports/clock.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface PasswordGate {
  /** Throws `HttpError` 401, or 429 after too many wrong ones from one address. */
  assertAllowed(request: IncomingMessage): void
}

/** Wrong passwords of one address in a minute. */
const MAX_FAILURES = 10
const FAILURE_WINDOW_MS = 60_000
/** Addresses whose failures are counted; beyond it the one that failed longest ago is forgotten. */
const MAX_ADDRESSES = 10_000

interface Failures {
  count: number
  readonly sinceMs: number
}

export function createPasswordGate({ username, password }: Credentials, clock: Clock): PasswordGate {
  const expected = digest(`${username}:${password}`)
  const failures = new Map<string, Failures>()

  const note = (address: string) => {
    const known = failures.get(address)
    const isOld = known === undefined || clock.nowMs() - known.sinceMs >= FAILURE_WINDOW_MS
    failures.delete(address)
    failures.set(address, isOld ? { count: 1, sinceMs: clock.nowMs() } : { ...known, count: known.count + 1 })
    if (failures.size > MAX_ADDRESSES) failures.delete(failures.keys().next().value!)
  }
  const waitMs = (address: string): number => {
    const known = failures.get(address)
    return known === undefined || known.count < MAX_FAILURES ? 0 : known.sinceMs + FAILURE_WINDOW_MS - clock.nowMs()
  }

  return {
    assertAllowed({ headers, socket }) {
      const address = socket.remoteAddress ?? ''
      const wait = waitMs(address)
      if (wait > 0)
        throw new HttpError(429, 'too many wrong passwords; try again later', { 'retry-after': String(Math.ceil(wait / 1_000)) })
      const given = readBasic(headers.authorization)
      if (given !== undefined && timingSafeEqual(digest(given), expected)) return
      if (given !== undefined) note(address)
      throw new HttpError(401, given === undefined ? 'a user name and a password are needed' : 'wrong user name or password', {
        'www-authenticate': 'Basic realm="logpipeline", charset="UTF-8"',
      })
    },
  }
}

function readBasic(header: string | undefined): string | undefined {
  const match = /^basic +([A-Za-z0-9+/_=-]+) *$/i.exec(header ?? '')
  return match === null ? undefined : Buffer.from(match[1]!, 'base64').toString('utf8')
}

/** Of one length, so that the comparison takes one time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
