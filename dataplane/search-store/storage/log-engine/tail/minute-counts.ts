/** Documents of a tail, or of any columns, counted by minute, tenant, service and level. */
import type { Column, MinuteCount } from '../../index-storage.ts'

const MINUTE_MS = 60_000
/** Minute and combination make one number, which must stay exact. */
const MAX_COMBINATIONS = 1e6

/** The columns that minute counts are made of, by the names of the log documents. */
export function countedColumns(column: (field: string) => Column | undefined): CountedColumns {
  return { timestamp: column('timestamp'), tenant: column('tenant_id'), service: column('service'), level: column('level') }
}

export interface CountedColumns {
  readonly timestamp: Column | undefined
  readonly tenant: Column | undefined
  readonly service: Column | undefined
  readonly level: Column | undefined
}

/** Counts the documents that `isCounted`; undefined when a column is missing or a document has no timestamp. */
export function countByMinute(columns: CountedColumns, size: number, isCounted: (doc: number) => boolean): MinuteCount[] | undefined {
  const { timestamp, tenant, service, level } = columns
  if (timestamp?.kind !== 'number' || tenant?.kind !== 'keyword' || service?.kind !== 'keyword' || level?.kind !== 'keyword')
    return undefined
  const services = service.dictionary.length
  const levels = level.dictionary.length
  const combinations = tenant.dictionary.length * services * levels
  if (combinations > MAX_COMBINATIONS) return undefined
  const counts = new Map<number, number>()
  for (let doc = 0; doc < size; doc++) {
    const ms = timestamp.values[doc]!
    if (Number.isNaN(ms)) return undefined
    if (!isCounted(doc)) continue
    const key =
      Math.floor(ms / MINUTE_MS) * combinations + (tenant.codes[doc]! * services + service.codes[doc]!) * levels + level.codes[doc]!
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return byMinute(counts, [tenant, service, level], [tenant.dictionary.length, services, levels])
}

interface Keywords {
  readonly dictionary: readonly string[]
}

/** The counts, whose keys are a minute and a code of each of the columns; `sizes`: how many codes of each the keys have room for. */
function byMinute(
  counts: ReadonlyMap<number, number>,
  [tenant, service, level]: readonly [Keywords, Keywords, Keywords],
  [tenants, services, levels]: readonly [number, number, number],
): MinuteCount[] {
  const combinations = tenants * services * levels
  return Array.from(counts, ([key, count]) => {
    const minute = Math.floor(key / combinations)
    const rest = key - minute * combinations
    return {
      minuteMs: minute * MINUTE_MS,
      tenant: tenant.dictionary[Math.floor(rest / (services * levels))]!,
      service: service.dictionary[Math.floor(rest / levels) % services]!,
      level: level.dictionary[rest % levels]!,
      count,
    }
  })
}

/** Takes away the counts of documents that have died since. */
export function withoutDead(counts: readonly MinuteCount[], dead: readonly MinuteCount[]): MinuteCount[] {
  const keyOf = (each: MinuteCount) => JSON.stringify([each.minuteMs, each.tenant, each.service, each.level])
  const gone = new Map(dead.map(each => [keyOf(each), each.count]))
  return counts.map(each => ({ ...each, count: each.count - (gone.get(keyOf(each)) ?? 0) })).filter(({ count }) => count > 0)
}

/** Codes of tenants, services and levels that make one number together with a minute. */
const MAX_CODES = [64, 4_096, 64] as const
const CODE_COMBINATIONS = 64 * 4_096 * 64

/** Counts of the first documents of a tail, to which those of the next ones are added. */
export class RunningMinuteCounts {
  readonly #counts = new Map<number, number>()
  #size = 0
  #isOver = false

  /** As `countByMinute` for all documents below `size`; undefined, too, where other documents have been counted in, or there are too many values. */
  upTo({ timestamp, tenant, service, level }: CountedColumns, size: number): MinuteCount[] | undefined {
    if (this.#isOver || size < this.#size) return undefined
    if (timestamp?.kind !== 'number' || tenant?.kind !== 'keyword' || service?.kind !== 'keyword' || level?.kind !== 'keyword')
      return undefined
    const [, services, levels] = MAX_CODES
    if ([tenant, service, level].some(({ dictionary }, at) => dictionary.length > MAX_CODES[at]!)) return undefined
    for (let doc = this.#size; doc < size; doc++) {
      const minute = Math.floor(timestamp.values[doc]! / MINUTE_MS)
      const key = minute * CODE_COMBINATIONS + (tenant.codes[doc]! * services + service.codes[doc]!) * levels + level.codes[doc]!
      // A document without a time has no place in the counts.
      if (!Number.isSafeInteger(key)) {
        this.#isOver = true
        return undefined
      }
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    }
    this.#size = size
    return byMinute(this.#counts, [tenant, service, level], MAX_CODES)
  }
}
