/** Makes the alias of each tenant on the daily indices of its logs (Decisions 8). */
import { backOffMs } from '../../../limits/back-off.ts'
import { onceEvery } from '../../../limits/once-every.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import { createAliasRounds } from './alias-rounds.ts'
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

const PAUSE_MS = 1_000
const PAUSE_AFTER_FAILURE = { firstMs: 2_000, maxMs: 30_000 }
const WARN_EVERY_MS = 60_000

export function createLogAliases({ store, clock, log, signal, onDelayed }: LogAliasesDeps): LogAliases {
  const aliases = new WantedAliases(clock)
  const rounds = createAliasRounds({ store, clock, log, signal, aliases, onMissing: () => start() })
  let isWorking = false
  let isLookPlanned = false
  let isFailing = false
  const mayWarn = onceEvery(WARN_EVERY_MS, () => clock.nowMs())

  const tellDelayed = () => {
    const delayed = aliases.countWaiting()
    if (delayed > 0) onDelayed?.(delayed)
    if (!mayWarn()) return
    log.warn(
      { aliases: aliases.waiting, newTenantsAMinute: NEW_ALIASES_A_MINUTE },
      'new tenants beyond the limit: their aliases of logs wait',
    )
  }

  const work = async () => {
    let failures = 0
    do {
      try {
        if (await rounds.run()) continue
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
  const startLater = async (state: IndexAliases) => {
    isLookPlanned = true
    await clock.sleep(rounds.trustedUntilMs(state) - clock.nowMs(), signal)
    isLookPlanned = false
    if (!signal.aborted) start()
  }

  return {
    start,
    knownSinceMs: tenant => aliases.knownSinceMs(tenant),
    note(index, tenant) {
      const state = aliases.of(index)
      if (state.there?.has(tenant) !== true && !state.refused.has(tenant)) aliases.want(state, tenant)
      else if (!rounds.isDue(state)) {
        if (!isLookPlanned) void startLater(state)
        return
      }
      start()
    },
  }
}
