/** Deletes whole daily indices: those past retention, and the oldest while all of them take too much disk. */
import { ALL_LOGS, LOGS_PREFIX } from '../../../contract/indices.ts'
import { formatDay } from '../../../domain/records/timestamp.ts'
import type { SearchStore } from '../../../ports/search-store.ts'

const DAY_MS = 86_400_000

/** The daily indices that there are, each with the start of its UTC day. */
export async function listLogDays(store: Pick<SearchStore, 'listIndices'>): Promise<ReadonlyMap<string, number>> {
  const days = (await store.listIndices(ALL_LOGS)).map(name => [name, dayOf(name)] as const)
  return new Map(days.filter((day): day is readonly [string, number] => day[1] !== undefined))
}

/** The daily indices among `days` whose whole day is older than `retentionDays` at `nowMs`. */
export function expiredIndices(days: ReadonlyMap<string, number>, retentionDays: number, nowMs: number): readonly string[] {
  return [...days].filter(([, startMs]) => startMs + DAY_MS + retentionDays * DAY_MS <= nowMs).map(([name]) => name)
}

/** Start of the UTC day of a daily index; undefined for any other. */
function dayOf(name: string): number | undefined {
  return name.startsWith(LOGS_PREFIX) ? parseDay(name.slice(LOGS_PREFIX.length)) : undefined
}

/** Start of the UTC day `YYYY.MM.dd`; undefined for what is no day of the calendar, and so no name that the product gives. */
function parseDay(text: string): number | undefined {
  const parts = /^(\d{4})\.(\d{2})\.(\d{2})$/.exec(text)
  if (parts === null) return undefined
  const ms = Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]))
  return formatDay(ms) === text ? ms : undefined
}

export interface RetentionResult {
  readonly dropped: readonly string[]
  /** Indices that the store would not delete now, such as one that a snapshot is taken of. */
  readonly failed: readonly { readonly name: string; readonly error: unknown }[]
}

/** Deletes the daily indices past retention among `days`; one that cannot be deleted keeps none of the others. */
export function dropExpiredLogs(
  store: Pick<SearchStore, 'deleteIndex'>,
  days: ReadonlyMap<string, number>,
  retentionDays: number,
  nowMs: number,
): Promise<RetentionResult> {
  return dropAll(store, expiredIndices(days, retentionDays, nowMs))
}

export interface SizeRetentionResult extends RetentionResult {
  /** Bytes of the days that are not over, where these alone are too many. */
  readonly keptBytes?: number
}

/** The days that are kept even where they take too much: yesterday by one clock, today, and tomorrow. */
const MOST_KEPT_DAYS = 3

/**
 * Deletes the oldest daily indices while all of them take more than `maxBytes` of disk. An index whose day is not over stays. By a clock that is behind,
 * many days are not over: then the newest three stay. By a clock that is ahead, today is over: the newest index whose day has begun stays in any case.
 */
export async function dropOversizedLogs(
  store: Pick<SearchStore, 'indexSizes' | 'deleteIndex'>,
  maxBytes: number,
  nowMs: number,
): Promise<SizeRetentionResult> {
  const days = [...(await store.indexSizes(ALL_LOGS))]
    .map(([name, bytes]) => ({ name, bytes, startMs: dayOf(name) }))
    .filter(({ startMs }) => startMs !== undefined)
    .sort((a, b) => a.startMs! - b.startMs!)
  let bytes = days.reduce((sum, day) => sum + day.bytes, 0)
  const newest = days.findLast(({ startMs }) => startMs! <= nowMs)
  const oldest: string[] = []
  for (const [i, day] of days.entries()) {
    if (bytes <= maxBytes || day === newest || (day.startMs! + DAY_MS > nowMs && i >= days.length - MOST_KEPT_DAYS)) break
    oldest.push(day.name)
    bytes -= day.bytes
  }
  return { ...(await dropAll(store, oldest)), ...(bytes > maxBytes && { keptBytes: bytes }) }
}

async function dropAll(store: Pick<SearchStore, 'deleteIndex'>, names: readonly string[]): Promise<RetentionResult> {
  const dropped: string[] = []
  const failed: { name: string; error: unknown }[] = []
  for (const name of names) {
    try {
      await store.deleteIndex(name)
      dropped.push(name)
    } catch (error) {
      failed.push({ name, error })
    }
  }
  return { dropped, failed }
}
