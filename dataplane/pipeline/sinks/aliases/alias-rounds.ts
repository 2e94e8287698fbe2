/** Rounds in which aliases of logs are made: asks the store which are there, and puts those that are wanted. */
import { ALL_LOGS, tenantLogsAlias } from '../../../contract/indices.ts'
import { isTenantId } from '../../../domain/tenants/tenant.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, SearchStoreRefusal } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { IndexAliases, WantedAliases } from './wanted-aliases.ts'

export interface AliasRounds {
  /** Puts the aliases that are due on their indices; false: none was due. */
  run(): Promise<boolean>
  /** Until when the aliases of an index are taken to be there still, ms. */
  trustedUntilMs(state: IndexAliases): number
  /** Whether a round has something to ask the store, though no alias of the index is wanted. */
  isDue(state: IndexAliases): boolean
}

export interface AliasRoundsDeps {
  readonly store: Pick<SearchStore, 'putAliases' | 'listAliases' | 'listIndices' | 'search'>
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  readonly aliases: WantedAliases
  /** Called when tenants without an alias were found, which are wanted now. */
  readonly onMissing: () => void
}

/** How long aliases are taken to be there still: an index that somebody deleted comes back without them. */
const TRUSTED_MS = 30_000
/** How often the newest indices are searched for tenants without an alias, whose turn a restart may have come between. */
const CATCH_UP_MS = 3_600_000
const CATCH_UP_INDICES = 2
const MAX_TENANTS_FOUND = 10_000
const ALIAS_PREFIX = tenantLogsAlias('')
const BAD_REQUEST = 400

export function createAliasRounds({ store, clock, log, signal, aliases, onMissing }: AliasRoundsDeps): AliasRounds {
  let isSearching = false
  let caughtUpMs = Number.NEGATIVE_INFINITY

  const isTrusted = ({ checkedMs }: IndexAliases) => isRecent(checkedMs, TRUSTED_MS, clock.nowMs())
  const isCaughtUp = () => isRecent(caughtUpMs, CATCH_UP_MS, clock.nowMs())

  /** Asks the store for the aliases of an index. */
  const look = async (index: string, state: IndexAliases) => {
    state.checkedMs = clock.nowMs()
    const found = new Set(await store.listAliases(index))
    state.refused.clear()
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
      // Another writer's document may name anything, and the store would refuse the aliases of all with the one of that.
      for (const { key } of buckets) if (isTenantId(key) && state.there?.has(key) !== true) aliases.want(state, key)
    }
    if (aliases.waiting > 0) onMissing()
  }

  const put = async (index: string, state: IndexAliases, tenants: readonly string[]): Promise<void> => {
    try {
      await store.putAliases(
        index,
        tenants.map(tenant => ({ name: tenantLogsAlias(tenant), filter: { term: { tenant_id: tenant } } })),
      )
    } catch (error) {
      if (!(error instanceof SearchStoreRefusal)) throw error
      if (error.status === BAD_REQUEST) return await putApart(index, state, tenants, error)
      // The index is gone, or will never have them: what still holds records is noted again.
      aliases.drop(index)
      throw error
    }
    for (const tenant of tenants) aliases.noteThere(state, tenant)
  }

  /** Halves of the request, until the aliases that the store refuses stand alone: the others are made. */
  const putApart = async (index: string, state: IndexAliases, tenants: readonly string[], refusal: SearchStoreRefusal): Promise<void> => {
    const [tenant] = tenants
    const middle = tenants.length >> 1
    if (middle === 0 && tenant !== undefined) {
      log.warn(
        { index, alias: tenantLogsAlias(tenant), reason: refusal.message },
        'the alias of a tenant cannot be made; its logs are found in service-logs-* alone',
      )
      return aliases.refuse(state, tenant)
    }
    await put(index, state, tenants.slice(0, middle))
    await put(index, state, tenants.slice(middle))
  }

  return {
    async run() {
      if (!isCaughtUp()) await catchUp()
      let isDone = false
      for (const [index, state] of aliases.indices) {
        if (state.there === undefined) await look(index, state)
        else if (!isTrusted(state)) await check(index, state)
        const tenants = aliases.next(state)
        if (tenants.length === 0) continue
        await put(index, state, tenants)
        isDone = true
      }
      return isDone
    },
    trustedUntilMs: ({ checkedMs }) => checkedMs + TRUSTED_MS,
    isDue: state => state.there === undefined || !isTrusted(state) || !isCaughtUp(),
  }
}
