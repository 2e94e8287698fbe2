/** The newest records of a live tail: a bounded list, each record once. */
import type { TimeWindow } from '../../../url-state/time-range.ts'
import type { LogRecord } from '../records/log-record.ts'
import { allClauses, recordOrder, type Scope, type SearchBody, timeClause } from '../requests/scope.ts'

/** Records that the tail keeps; older ones go as newer ones come. */
export const MAX_LIVE_RECORDS = 5_000
/** Records that a request brings at most. */
export const LIVE_PAGE_SIZE = 500
/** Each request looks so far back from the newest record, for those that arrive late. */
export const LIVE_OVERLAP_MS = 10_000
/** A tail begins with records of so long. */
const LIVE_START_MS = 300_000
/** Clocks of senders may run ahead so far. */
const AHEAD_MS = 60_000
/** The rate is that of so long. */
const RATE_MS = 10_000

export interface LiveBuffer {
  /** Newest first. */
  readonly records: readonly LogRecord[]
  /** Records that came since the start of the tail, whether or not they are still kept. */
  readonly seen: number
  /** Records that came faster than they could be fetched. */
  readonly skipped: number
  /** Records a second, over the last ten. */
  readonly rate: number
  /** How many of `records` came with the last answer. */
  readonly fresh: number
  /** Where the records are that were not fetched, as long as requests look back so far. */
  readonly gaps?: readonly Gap[]
  /** When the tail was cleared, and which records were of a later time by the clock of their sender. */
  readonly cleared?: { readonly atMs: number; readonly ahead: ReadonlySet<string> }
}

/** The tail as it was when the reader left its top. */
export type HeldTail = Pick<LiveBuffer, 'records' | 'seen'>

export interface ShownTail {
  readonly records: readonly LogRecord[]
  /** The first so many came with the last answer. */
  readonly fresh: number
  /** Records that came since, and are not shown. */
  readonly newer: number
}

/** The rows of the tail: they hold still while one reads below the top. A tail that begins anew is held by nothing. */
export function showTail({ records, seen, fresh }: LiveBuffer, held: HeldTail | undefined): ShownTail {
  if (held === undefined || records.length === 0) return { records, fresh: seen === fresh ? 0 : fresh, newer: 0 }
  return { records: held.records, fresh: 0, newer: seen - held.seen }
}

interface Gap {
  readonly fromMs: number
  readonly toMs: number
  readonly records: number
}

export const EMPTY_LIVE: LiveBuffer = { records: [], seen: 0, skipped: 0, rate: 0, fresh: 0 }

/** The time of the records of a tail. */
export function windowOfTail(records: readonly Pick<LogRecord, 'timestampMs'>[], nowMs: number): TimeWindow {
  const [newest, oldest] = [records[0]?.timestampMs ?? nowMs, records.at(-1)?.timestampMs ?? nowMs - LIVE_START_MS]
  return { fromMs: oldest, toMs: newest + 1 }
}

/** Nothing of what was there is shown again. */
export function clearLive({ records, seen, cleared }: LiveBuffer, nowMs: number): LiveBuffer {
  const ahead = [...(cleared?.ahead ?? []), ...records.filter(({ timestampMs }) => timestampMs >= nowMs).map(({ id }) => id)]
  return { ...EMPTY_LIVE, seen, cleared: { atMs: nowMs, ahead: new Set(ahead.slice(-MAX_LIVE_RECORDS)) } }
}

export interface LiveRequest {
  readonly body: SearchBody
  readonly fromMs: number
}

export function liveRequest({ query }: Pick<Scope, 'query'>, buffer: LiveBuffer, nowMs: number): LiveRequest {
  const newestMs = buffer.records[0]?.timestampMs
  const startMs = newestMs === undefined ? nowMs - LIVE_START_MS : Math.min(newestMs, nowMs) - LIVE_OVERLAP_MS
  const fromMs = Math.max(startMs, buffer.cleared?.atMs ?? startMs)
  const recent = { range: { timestamp: { gte: new Date(nowMs - RATE_MS).toISOString() } } }
  return {
    fromMs,
    body: {
      size: LIVE_PAGE_SIZE,
      track_total_hits: true,
      query: allClauses([timeClause({ fromMs, toMs: nowMs + AHEAD_MS }), query]),
      sort: recordOrder('newest'),
      aggs: { rate: { filter: recent } },
    },
  }
}

interface LiveAnswer {
  readonly hits: { readonly total: { readonly value: number } }
  readonly aggregations?: { readonly rate: { readonly doc_count: number } }
}

/** The buffer with the records of an answer, which are newest first. */
export function addLive(buffer: LiveBuffer, records: readonly LogRecord[], answer: unknown, { fromMs }: LiveRequest): LiveBuffer {
  const { hits, aggregations } = answer as LiveAnswer
  const isFirst = buffer.seen === 0
  const rate = (aggregations?.rate.doc_count ?? 0) / (RATE_MS / 1_000)
  const known = new Set(buffer.cleared?.ahead)
  let inWindow = known.size
  for (const record of buffer.records) {
    if (record.timestampMs < fromMs) break
    known.add(record.id)
    inWindow++
  }
  const fresh = records.filter(({ id }) => !known.has(id))
  const isFull = records.length >= LIVE_PAGE_SIZE
  const missed = isFull ? Math.max(0, hits.total.value - inWindow - fresh.length - missedSince(buffer.gaps ?? [], fromMs)) : 0
  if (fresh.length === 0) return { ...buffer, rate, fresh: 0 }
  return {
    ...buffer,
    records: merge(fresh, buffer.records).slice(0, MAX_LIVE_RECORDS),
    seen: buffer.seen + fresh.length,
    // At the start the tail shows the newest, and has skipped nothing.
    skipped: buffer.skipped + (isFirst ? 0 : missed),
    gaps: [
      ...(buffer.gaps ?? []).filter(({ toMs }) => toMs >= fromMs),
      ...(missed === 0
        ? []
        : [{ fromMs: isFirst ? fromMs : (buffer.records[0]?.timestampMs ?? fromMs), toMs: fresh.at(-1)!.timestampMs, records: missed }]),
    ],
    rate,
    fresh: fresh.length,
  }
}

/** Records of gaps that a request from this time on counts again; of a gap that begins before, the part behind it. */
function missedSince(gaps: readonly Gap[], sinceMs: number): number {
  const parts = gaps.map(({ fromMs, toMs, records }) => {
    if (fromMs >= sinceMs) return records
    return toMs < sinceMs ? 0 : (records * (toMs - sinceMs)) / (toMs - fromMs)
  })
  return Math.round(parts.reduce((sum, part) => sum + part, 0))
}

/** Both newest first. */
function merge(fresh: readonly LogRecord[], old: readonly LogRecord[]): LogRecord[] {
  const merged: LogRecord[] = []
  let at = 0
  for (const record of fresh) {
    while (at < old.length && isNewer(old[at]!, record)) merged.push(old[at++]!)
    merged.push(record)
  }
  return merged.concat(old.slice(at))
}

function isNewer(a: LogRecord, b: LogRecord): boolean {
  for (let i = 0; i < 3; i++) {
    const [x, y] = [a.sort[i] ?? '', b.sort[i] ?? '']
    if (x !== y) return x > y
  }
  return false
}
