/** Has a language model explain incidents whose ticket is out; what it says follows as a comment (Decisions 6). */
import { incidentsIndex } from '../../contract/indices.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import { owe, type TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import type { Clock } from '../../ports/clock.ts'
import { type SearchStore, VersionConflict } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { completeIncident } from './stored-ticketed-incident.ts'

/** Undefined: there is nothing to say. A model that could not be used: a cause with `fallback`. Ends by itself, in bounded time. */
export type ExplainIncident = (incident: TicketedIncident) => Promise<RootCause | undefined>

export interface Explaining {
  /** The ticket of this incident is out on a target. */
  opened(incident: TicketedIncident): void
  /** What waits is forgotten. */
  stop(): Promise<void>
}

/** Other targets get their tickets meanwhile. */
const PAUSE_MS = 2_000
const MAX_AT_ONCE = 2
const MAX_WAITING = 200
const MAX_REMEMBERED = 5_000
const MAX_CONFLICTS = 20

export function createExplaining({
  store,
  clock,
  log,
  explain,
  onOwed,
}: {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly explain: ExplainIncident
  /** A comment is to be sent. */
  onOwed(): void
}): Explaining {
  const stopping = new AbortController()
  const known = new Set<string>()
  const waiting: TicketedIncident[] = []
  const running = new Set<Promise<void>>()

  const next = () => {
    while (!stopping.signal.aborted && running.size < MAX_AT_ONCE && waiting.length > 0) {
      const work = run(waiting.shift()!)
        .catch(error => log.warn({ error }, 'an incident was not explained'))
        .finally(() => {
          running.delete(work)
          next()
        })
      running.add(work)
    }
  }

  const run = async ({ id, tenantId }: TicketedIncident) => {
    await clock.sleep(PAUSE_MS, stopping.signal)
    const index = incidentsIndex(tenantId)
    const read = async () => {
      const stored = await store.get<TicketedIncident>(index, id)
      return stored === undefined ? undefined : { ...stored, source: completeIncident(stored) }
    }
    const asked = await read()
    if (stopping.signal.aborted || asked === undefined || asked.source.ticketing?.explainedAt !== undefined) return
    const rootCause = await explain(asked.source)
    if (rootCause === undefined) return
    for (let attempt = 0; ; attempt++) {
      const stored = await read()
      if (stored === undefined) return
      const at = new Date(clock.nowMs()).toISOString()
      const { source } = stored
      const explained: TicketedIncident = { ...source, rootCause, ticketing: { ...source.ticketing, explainedAt: at } }
      const isNews = rootCause.mode === 'llm' && !rootCause.fallback && source.status !== 'resolved'
      const targets = source.platforms as readonly TargetId[]
      const changed = isNews ? owe(explained, { event: 'comment', at, targets, news: [rootCause.summary] }) : explained
      try {
        await store.put(index, id, changed, stored)
        if (isNews) onOwed()
        return
      } catch (error) {
        if (!(error instanceof VersionConflict) || attempt >= MAX_CONFLICTS) throw error
      }
    }
  }

  return {
    opened(incident) {
      const key = `${incident.tenantId}/${incident.id}`
      if (known.has(key) || waiting.length >= MAX_WAITING || stopping.signal.aborted) return
      if (known.size >= MAX_REMEMBERED) known.delete(known.values().next().value!)
      known.add(key)
      waiting.push(incident)
      next()
    },
    async stop() {
      stopping.abort()
      waiting.length = 0
      await Promise.race([Promise.allSettled(running), clock.sleep(STOP_MS)])
    },
  }
}

/** A model that still thinks is not waited for. */
const STOP_MS = 1_000
