/** A cache that starts empty lets all that it answered before be asked of its database, which runs out of connections, and says so the louder (Decisions 6). */
import type { Change } from '../recent-changes.ts'
import type { Candidate } from '../root-cause.ts'

const OVERRUN = /too many (?:clients|connections)|toomanyconnections|remaining connection slots|max_connections|max_user_connections/i
/** By the name of the service, or by what a cache alone says when it starts. */
const CACHE = /redis|valkey|memcache|dragonfly|varnish|(?:^|-)cache(?:-|$)|db loaded from disk|loading rdb|ready to accept connections tcp/i
/** How long after its start a database is overrun because of it. */
const COLD_MS = 120_000
const AFTER_MS = 2_000

/** The start of a cache that explains why `overrun`, whose evidence came first at `onsetMs`, has too many connections; undefined for most. */
export function coldCacheBefore(
  overrun: Candidate,
  onsetMs: number,
  changes: readonly Change[],
  services: readonly string[],
): Change | undefined {
  const [reason] = overrun.reasons
  if (reason?.kind !== 'errors' || !OVERRUN.test(reason.text)) return undefined
  return changes.findLast(({ nature, service, timeMs, text }) => {
    const isBefore = timeMs <= onsetMs + AFTER_MS && timeMs >= onsetMs - COLD_MS
    const name = services[service]!
    return nature === 'start' && isBefore && name !== overrun.service && CACHE.test(`${name} ${text}`)
  })
}
