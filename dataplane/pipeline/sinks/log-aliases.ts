/** Makes the alias of each tenant on the daily indices of its logs (Decisions 8). */
import { ALL_LOGS, tenantLogsAlias } from '../../contract/indices.ts'
import { backOffMs } from '../../limits/back-off.ts'
import { isRecent } from '../../limits/is-recent.ts'
import type { Clock } from '../../ports/clock.ts'
import { type SearchStore, SearchStoreRefusal } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { type IndexAliases, NEW_ALIASES_A_MINUTE, WantedAliases } from './wanted-aliases.ts'

/**
 * Keeps a filtered alias `service-logs-{tenant}` on every daily index that holds a tenant's logs (Decisions 8). Aliases are made in batches,
 * beside the way of the records: a record is found in `service-logs-*` before its tenant's alias is there.
 */
export interface LogAliases {
  /** An index that exists holds records of a tenant. Returns at once; the alias follows. */
  note(index: string, tenant: string): void
  /** Looks at once for tenants without an alias, which the last end may have come between. */
  start(): void
  /** When a tenant was first known to have an alias, ms; of those known before the start, the start. Undefined for one that has none. */
  knownSinceMs(tenant: string): number | undefined
}

export interface LogAliasesDeps {
  readonly store: Pick<SearchStore, 'putAliases' | 'listAliases' | 'listIndices' | 'search'>
  readonly clock: Clock
  readonly log: Log
  /** Ends the work. */
  readonly signal: AbortSignal
  /** Aliases that had to wait for the next minutes. */
  readonly onDelayed?: (aliases: number) => void
}

/** How long aliases are taken to be there still: an index that somebody deleted comes back without them. */
const TRUSTED_MS = 30_000
/** How often the newest indices are searched for tenants without an alias, whose turn a restart may have come between. */
const CATCH_UP_MS = 3_600_000
const CATCH_UP_INDICES = 2
const MAX_TENANTS_FOUND = 10_000
const PAUSE_MS = 1_000
const PAUSE_AFTER_FAILURE = { firstMs: 2_000, maxMs: 30_000 }
const WARN_EVERY_MS = 60_000

export function createLogAliases({ store, clock, log, signal, onDelayed }: LogAliasesDeps): LogAliases {
  const aliases = new WantedAliases(clock)
  let isWorking = false
  let isLookPlanned = false
  let isSearching = false
  let caughtUpMs = Number.NEGATIVE_INFINITY
  let warnedMs = Number.NEGATIVE_INFINITY
  let isFailing = false

  /** Asks the store for the aliases of an index. */
  const look = async (index: string, state: IndexAliases) => {
    state.checkedMs = clock.nowMs()
    const found = new Set(await store.listAliases(index))
    const before = state.there ?? new Set<string>()
    state.there = new Set()
    for (const alias of found) if (alias.startsWith(ALIAS_PREFIX)) aliases.noteThere(state, alias.slice(ALIAS_PREFIX.length))
    for (const tenant of before) if (!state.there.has(tenant)) aliases.want(state, tenant)
  }
  /** An index that was made anew lacks the alias that was there first. */
  const check = async (index: string, state: IndexAliases) => {
    state.checkedMs = clock.nowMs()
    const [first] = state.there ?? []
    if (first === undefined) return
    const found = await store.listAliases(index, tenantLogsAlias(first))
    if (found.length === 0) await look(index, state)
  }
  /** Learns who is known from the newest indices, then finds tenants that hold records and have no alias, which may take a while. */
  const catchUp = async () => {
    const newest = (await store.listIndices(ALL_LOGS)).toSorted().slice(-CATCH_UP_INDICES)
    for (const index of newest) await look(index, aliases.of(index))
    caughtUpMs = clock.nowMs()
    if (isSearching) return
    isSearching = true
    void searchMissing(newest)
      .catch(error => {
        if (!signal.aborted) log.warn({ error }, 'cannot look for tenants without an alias of logs, tried again in an hour')
      })
      .finally(() => {
        isSearching = false
      })
  }
  const searchMissing = async (newest: readonly string[]) => {
    for (const index of newest) {
      const aggs = { tenants: { terms: { field: 'tenant_id', size: MAX_TENANTS_FOUND } } }
      const { aggregations } = await store.search({ index, body: { size: 0, track_total_hits: false, aggs } })
      const { buckets } = (aggregations?.['tenants'] ?? { buckets: [] }) as { readonly buckets: readonly { readonly key: string }[] }
      const state = aliases.of(index)
      for (const { key } of buckets) if (state.there?.has(key) !== true) aliases.want(state, key)
    }
    if (aliases.waiting > 0) start()
  }

  /** Puts the aliases that are due on their indices; false: none was due. */
  const step = async (): Promise<boolean> => {
    if (!isRecent(caughtUpMs, CATCH_UP_MS, clock.nowMs())) await catchUp()
    let isDone = false
    for (const [index, state] of aliases.indices) {
      if (state.there === undefined) await look(index, state)
      else if (!isRecent(state.checkedMs, TRUSTED_MS, clock.nowMs())) await check(index, state)
      const tenants = aliases.next(state)
      if (tenants.length === 0) continue
      await put(index, state, tenants)
      isDone = true
    }
    return isDone
  }
  const put = async (index: string, state: IndexAliases, tenants: readonly string[]) => {
    try {
      await store.putAliases(
        index,
        tenants.map(tenant => ({ name: tenantLogsAlias(tenant), filter: { term: { tenant_id: tenant } } })),
      )
    } catch (error) {
      // The index is gone, or will never have them: what still holds records is noted again.
      if (error instanceof SearchStoreRefusal) aliases.drop(index)
      throw error
    }
    for (const tenant of tenants) aliases.noteThere(state, tenant)
  }
  const tellDelayed = () => {
    const delayed = aliases.countWaiting()
    if (delayed > 0) onDelayed?.(delayed)
    const atMs = clock.nowMs()
    if (isRecent(warnedMs, WARN_EVERY_MS, atMs)) return
    warnedMs = atMs
    log.warn(
      { aliases: aliases.waiting, newTenantsAMinute: NEW_ALIASES_A_MINUTE },
      'new tenants beyond the limit: their aliases of logs wait',
    )
  }
  const work = async () => {
    let failures = 0
    do {
      try {
        if (await step()) continue
        if (aliases.waiting > 0) tellDelayed()
        if (isFailing) log.info({}, 'aliases of logs are made again')
        isFailing = false
        failures = 0
      } catch (error) {
        if (!isFailing && !signal.aborted) log.warn({ error, waiting: aliases.waiting }, 'aliases of logs cannot be made now, trying again')
        isFailing = true
        failures++
      }
      if (aliases.waiting > 0 || isFailing) await clock.sleep(failures === 0 ? PAUSE_MS : backOffMs(PAUSE_AFTER_FAILURE, failures), signal)
    } while ((aliases.waiting > 0 || isFailing) && !signal.aborted)
  }
  const start = () => {
    if (isWorking) return
    isWorking = true
    void work().finally(() => {
      isWorking = false
      // Wanted between its last look and its end.
      if (aliases.waiting > 0 && !signal.aborted) start()
    })
  }
  /** Looks again once the aliases of these records are not trusted any more: they may be the last that the index gets. */
  const startLater = async ({ checkedMs }: IndexAliases) => {
    isLookPlanned = true
    await clock.sleep(checkedMs + TRUSTED_MS - clock.nowMs(), signal)
    isLookPlanned = false
    if (!signal.aborted) start()
  }
  const isDue = (state: IndexAliases) =>
    state.there === undefined || !isRecent(state.checkedMs, TRUSTED_MS, clock.nowMs()) || !isRecent(caughtUpMs, CATCH_UP_MS, clock.nowMs())

  return {
    start,
    knownSinceMs: tenant => aliases.knownSinceMs(tenant),
    note(index, tenant) {
      const state = aliases.of(index)
      if (state.there?.has(tenant) !== true) aliases.want(state, tenant)
      else if (!isDue(state)) {
        if (!isLookPlanned) void startLater(state)
        return
      }
      start()
    },
  }
}

const ALIAS_PREFIX = tenantLogsAlias('')
