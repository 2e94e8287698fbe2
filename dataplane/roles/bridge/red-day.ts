/** Tells that the index which today's logs go to takes nothing. */
import { LOGS_PREFIX } from '../../contract/indices.ts'
import { formatDay } from '../../domain/records/timestamp.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IndexHealth, SearchStore } from '../../ports/search-store.ts'

/** The health of today's index; undefined while the store has none. */
export async function healthOfToday(
  store: Pick<SearchStore, 'clusterStatus' | 'indexHealth'>,
  clock: Pick<Clock, 'nowMs'>,
): Promise<{ readonly index: string; readonly health: IndexHealth } | undefined> {
  if ((await store.clusterStatus()) !== 'red') return undefined
  const index = `${LOGS_PREFIX}${formatDay(clock.nowMs())}`
  const health = (await store.indexHealth()).get(index)
  return health && { index, health }
}

/** One whose shards are on their way is about to take what waits. */
export function troubleOfToday(today: Awaited<ReturnType<typeof healthOfToday>>): string | undefined {
  if (today === undefined || !today.health.isRed || today.health.isStarting) return undefined
  const { index } = today
  return `connected, but index ${index} is red and takes no logs: GET /${index}/_count at the search store says why. Restore it from a backup, or delete it to begin anew; what becomes a dead letter meanwhile can be replayed (logpipeline dlq replay)`
}
