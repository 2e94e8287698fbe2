/** Sessions of the dashboard's user. A session is a cookie that proves itself, so that it holds on every replica and after a restart. */
import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../ports/clock.ts'

export interface Sessions {
  /** The value of `Set-Cookie`. */
  open(): string
  holds(cookies: string | undefined): boolean
  /** Ends the session on this replica; gives the `Set-Cookie` that removes it. */
  close(cookies: string | undefined): string
}

const COOKIE = 'logpipeline_session'
const SESSION_MS = 7 * 24 * 3_600_000
/** How far another replica's clock, or this one before it was set, may be ahead. */
const MOST_AHEAD_MS = 24 * 3_600_000
/** Sessions that were closed before their time. */
const MAX_CLOSED = 10_000
const SALT = 'logpipeline dashboard session'
const KEY_BYTES = 32
/** End in ms, a number of its own, and the proof of both. */
const TOKEN = /^\d{13}\.[\w-]{22}\.[\w-]{43}$/
/** No script and no other site gets it. */
const FLAGS = 'Path=/; HttpOnly; SameSite=Strict'

/** Sessions opened with one secret are none with another: a new password ends all. */
export function createSessions(secret: string, clock: Clock): Sessions {
  // Slow, so that a password is not found from a cookie.
  const key = scryptSync(secret, SALT, KEY_BYTES)
  const closed = new Set<string>()
  const proofOf = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  const find = (cookies = ''): string | undefined =>
    cookies
      .split(';')
      .map(each => each.trim())
      .filter(each => each.startsWith(`${COOKIE}=`))
      .map(each => each.slice(COOKIE.length + 1))
      .find(isGood)
  const isGood = (token: string): boolean => {
    if (!TOKEN.test(token) || closed.has(token)) return false
    const cut = token.lastIndexOf('.')
    const isProven = timingSafeEqual(Buffer.from(token.slice(cut + 1)), Buffer.from(proofOf(token.slice(0, cut))))
    const leftMs = Number(token.slice(0, 13)) - clock.nowMs()
    // One of a clock that was years ahead would be good for as long.
    return isProven && leftMs > 0 && leftMs <= SESSION_MS + MOST_AHEAD_MS
  }
  return {
    open() {
      const text = `${clock.nowMs() + SESSION_MS}.${randomBytes(16).toString('base64url')}`
      return `${COOKIE}=${text}.${proofOf(text)}; ${FLAGS}; Max-Age=${SESSION_MS / 1_000}`
    },
    holds: cookies => find(cookies) !== undefined,
    close(cookies) {
      const token = find(cookies)
      if (token !== undefined) closed.add(token)
      if (closed.size > MAX_CLOSED) closed.delete(closed.values().next().value!)
      return `${COOKIE}=; ${FLAGS}; Max-Age=0`
    },
  }
}
