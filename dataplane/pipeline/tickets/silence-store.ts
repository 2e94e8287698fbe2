/** Silences of a tenant: one document, so that their number has a bound however many write. */
import { randomUUID } from 'node:crypto'
import { CONFIG_INDEX, incidentsIndex } from '../../contract/indices.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import { isForgotten, type Silence, silencesId } from '../../domain/tickets/silence.ts'
import type { Clock } from '../../ports/clock.ts'
import { retryOnConflict } from '../../ports/retry-on-conflict.ts'
import { type SearchStore, VersionConflict, type Versioned } from '../../ports/search-store.ts'

/** Silences of a tenant, those of the last week that are over among them. */
export const MAX_SILENCES = 200
/** Incidents that are told at once when their silence is taken away; others follow when it would have ended. */
const MAX_WOKEN = 1_000
/** How long what was read counts, ms. */
const REMEMBERED_MS = 1_000
const MAX_REMEMBERED = 5_000

interface StoredSilences {
  readonly section: 'ticketing.silences'
  readonly tenantId: string
  readonly value: readonly Silence[]
  readonly updatedAt: string
}

export interface SilenceStore {
  /** At most a second old. */
  recent(tenant: string): Promise<readonly Silence[]>
  list(tenant: string): Promise<readonly Silence[]>
  /** Undefined when there are too many. */
  add(tenant: string, silence: Omit<Silence, 'id' | 'createdAt'>): Promise<Silence | undefined>
  /** False when there is none of that id. Incidents that it held back are looked at again. */
  remove(tenant: string, id: string): Promise<boolean>
}

export function createSilenceStore({ store, clock }: { readonly store: SearchStore; readonly clock: Clock }): SilenceStore {
  const remembered = new Map<string, { readonly atMs: number; readonly silences: readonly Silence[] }>()
  const nowIso = () => new Date(clock.nowMs()).toISOString()

  const change = <T>(tenant: string, edit: (silences: readonly Silence[]) => readonly [readonly Silence[] | undefined, T]): Promise<T> =>
    retryOnConflict(async () => {
      const stored = await store.get<StoredSilences>(CONFIG_INDEX, silencesId(tenant))
      const [value, result] = edit((stored?.source.value ?? []).filter(silence => !isForgotten(silence, clock.nowMs())))
      if (value === undefined) return result
      const document: StoredSilences = { section: 'ticketing.silences', tenantId: tenant, value, updatedAt: nowIso() }
      await store.put(CONFIG_INDEX, silencesId(tenant), document, stored ?? { only: 'new' })
      remembered.delete(tenant)
      return result
    })

  const wake = async (tenant: string, id: string) => {
    const index = incidentsIndex(tenant)
    await store.refresh(index)
    const { hits } = await store.search<TicketedIncident>({
      index,
      body: { size: MAX_WOKEN, track_total_hits: false, query: { bool: { filter: [{ term: { 'ticketing.quietBy': id } }] } } },
    })
    for (const hit of hits) await wakeOne(hit)
    await store.refresh(index)
  }
  const wakeOne = async ({ index, id, seqNo, primaryTerm, source }: Versioned<TicketedIncident>) => {
    const ticketing = { ...source.ticketing, attentionAt: nowIso() }
    try {
      await store.put(index, id, { ...source, ticketing }, { seqNo, primaryTerm })
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error
      const current = await store.get<TicketedIncident>(index, id)
      if (current?.source.ticketing?.quietBy === source.ticketing?.quietBy) await wakeOne(current!)
    }
  }

  const list = async (tenant: string) => {
    const silences = (await store.get<StoredSilences>(CONFIG_INDEX, silencesId(tenant)))?.source.value ?? []
    return silences.filter(silence => !isForgotten(silence, clock.nowMs()))
  }
  return {
    list,
    async recent(tenant) {
      const known = remembered.get(tenant)
      if (known !== undefined && Math.abs(clock.nowMs() - known.atMs) < REMEMBERED_MS) return known.silences
      const silences = await list(tenant)
      if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
      remembered.set(tenant, { atMs: clock.nowMs(), silences })
      return silences
    },
    add: (tenant, fields) =>
      change(tenant, silences => {
        if (silences.length >= MAX_SILENCES) return [undefined, undefined]
        const silence = { id: randomUUID(), ...fields, createdAt: nowIso() }
        return [[...silences, silence], silence]
      }),
    async remove(tenant, id) {
      const isThere = await change(tenant, silences => {
        const left = silences.filter(silence => silence.id !== id)
        return left.length === silences.length ? [undefined, false] : [left, true]
      })
      if (isThere) await wake(tenant, id)
      return isThere
    },
  }
}
