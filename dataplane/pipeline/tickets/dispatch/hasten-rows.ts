/** Has what waits for a target tried at once, when somebody mended the target or found it working. */
import { ALL_DISPATCHES } from '../../../contract/indices.ts'
import type { TargetId } from '../../../contract/target-id.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import { hastenThread } from '../../../domain/tickets/delivery.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type SearchStore, VersionConflict } from '../../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import type { Log } from '../../../telemetry/log.ts'
import { fingerprint } from './target-settings.ts'

export interface HasteningDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly config: TicketingConfigSource
  /** Rows are due. */
  readonly onRows: () => void
}

export interface Hastening {
  /** Returns at once; what waits is due a moment later. `default`'s targets are those of the tenants without any of their own, too. */
  hasten(tenant: string, targets: readonly TargetId[]): void
  stop(): Promise<void>
}

/** Searches show rows a second late, and other agents remember settings for a second. */
const SEEN_EVERYWHERE_MS = 1_500
/** Rows of a target; one ends the rest of the target, and the others follow at the end of their own pauses. */
const MAX_HASTENED = 1_000

export function createHastening({ store, clock, log, config, onRows }: HasteningDeps): Hastening {
  const stopping = new AbortController()
  /** The work on a target that has not begun to look: further calls ask for no more than that. */
  const waiting = new Set<string>()
  const working = new Set<Promise<void>>()

  const hastenTarget = async (tenant: string, target: TargetId) => {
    const isOwn = tenant === DEFAULT_TENANT ? await sharedWith(tenant, target) : async () => true
    const { hits } = await store.search<TicketThread>({
      index: ALL_DISPATCHES,
      takesPart: true,
      body: {
        size: MAX_HASTENED,
        track_total_hits: false,
        query: {
          bool: {
            filter: [
              { term: { state: 'pending' } },
              { term: { platform: target } },
              ...(tenant === DEFAULT_TENANT ? [] : [{ term: { tenantId: tenant } }]),
            ],
          },
        },
        sort: [{ pendingSince: { order: 'asc', unmapped_type: 'date' } }],
      },
    })
    for (const hit of hits) {
      if (stopping.signal.aborted) return
      const source = hastenThread(hit.source, clock.nowMs())
      if (source === undefined || !(await isOwn(hit.source.tenantId))) continue
      await store.put(hit.index, hit.id, source, hit).catch(error => {
        // Somebody else has the row: it is tried just now, or was a moment ago.
        if (!(error instanceof VersionConflict)) throw error
      })
    }
    if (hits.length > 0) onRows()
  }

  /** Whether a tenant sends to the target with the settings that `tenant` has. */
  const sharedWith = async (tenant: string, target: TargetId) => {
    const settingsOf = async (of: string) => {
      const found = (await config.load(of)).targets.get(target)
      return found && fingerprint(found)
    }
    const own = await settingsOf(tenant)
    const known = new Map<string, Promise<boolean>>()
    return (of: string) => {
      const shares = known.get(of) ?? settingsOf(of).then(settings => of === tenant || settings === own)
      known.set(of, shares)
      return shares
    }
  }

  const work = async (key: string, tenant: string, target: TargetId) => {
    await clock.sleep(SEEN_EVERYWHERE_MS, stopping.signal)
    waiting.delete(key)
    if (stopping.signal.aborted) return
    await hastenTarget(tenant, target).catch(error =>
      log.warn({ error, tenant, platform: target }, 'rows of a mended target wait for their next attempt'),
    )
  }
  return {
    hasten(tenant, targets) {
      for (const target of targets) {
        const key = `${tenant}/${target}`
        if (waiting.has(key)) continue
        waiting.add(key)
        const running = work(key, tenant, target).finally(() => working.delete(running))
        working.add(running)
      }
    },
    async stop() {
      stopping.abort()
      await Promise.all(working)
    },
  }
}
