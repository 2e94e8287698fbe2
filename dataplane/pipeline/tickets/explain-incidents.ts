/** Has a language model explain incidents whose cause was found; to tickets that are out what it says follows as a comment (Decisions 6). */
import { incidentsIndex } from '../../contract/indices.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { RootCause } from '../../domain/root-cause/root-cause.ts'
import { owe, type TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import type { Clock } from '../../ports/clock.ts'
import { retryOnConflict } from '../../ports/retry-on-conflict.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { readStoredIncident } from '../incident-of.ts'

/** Undefined: there is nothing to say. A model that could not be used: a cause with `fallback`. Ends by itself, in bounded time. */
export type ExplainIncident = (incident: TicketedIncident) => Promise<RootCause | undefined>

/** Whether the configured model of a tenant is known to give no answer. Never rejects; at most 5 s. */
export type IsModelAway = (tenant: string) => Promise<boolean>

export interface Explaining {
  /** Has it explained, once for each service that the rules name first. */
  ask(incident: TicketedIncident): void
  /** Forgets the questions that wait. */
  stop(): Promise<void>
}

/** Tickets go out meanwhile. */
const PAUSE_MS = 2_000
const MAX_AT_ONCE = 4
/** A model that is slow leaves room for those of other tenants. */
const MAX_OF_TENANT = 2
const MAX_WAITING = 200
const MAX_WAITING_OF_TENANT = 50
const MAX_REMEMBERED = 5_000

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
  const waiting: Question[] = []
  const running = new Map<Promise<void>, string>()
  const countOf = (tenants: Iterable<string>, tenant: string) => [...tenants].filter(each => each === tenant).length

  const next = () => {
    while (!stopping.signal.aborted && running.size < MAX_AT_ONCE) {
      const at = waiting.findIndex(({ tenantId }) => countOf(running.values(), tenantId) < MAX_OF_TENANT)
      const [question] = at < 0 ? [] : waiting.splice(at, 1)
      if (question === undefined) return
      const work = run(question)
        .catch(error => {
          known.delete(question.key)
          log.warn({ error, incident: question.id }, 'an incident was not explained')
        })
        .finally(() => {
          running.delete(work)
          next()
        })
      running.set(work, question.tenantId)
    }
  }

  const run = async ({ id, tenantId, key, fromMs }: Question) => {
    // Time in the queue counts.
    const pauseMs = Math.min(PAUSE_MS, fromMs - clock.nowMs())
    if (pauseMs > 0) await clock.sleep(pauseMs, stopping.signal)
    const index = incidentsIndex(tenantId)
    const read = () => readStoredIncident(store, index, id)
    const asked = await read()
    if (stopping.signal.aborted || asked === undefined || asked.source.ticketing?.explainedAt !== undefined) return
    const rootCause = await explain(asked.source)
    if (rootCause === undefined) {
      // No model is configured, or no cause is found: that may change.
      known.delete(key)
      return
    }
    await retryOnConflict(async () => {
      const stored = await read()
      if (stored === undefined) return
      const at = new Date(clock.nowMs()).toISOString()
      const { source } = stored
      // The rules have named another service since: that one is asked about.
      if (firstOf(source) !== firstOf(asked.source)) return
      const explained: TicketedIncident = { ...source, rootCause, ticketing: { ...source.ticketing, explainedAt: at } }
      const isNews = rootCause.mode === 'llm' && !rootCause.fallback && source.status !== 'resolved'
      const targets = source.platforms as readonly TargetId[]
      const changed = isNews ? owe(explained, { event: 'comment', at, targets, news: [rootCause.summary] }) : explained
      await store.put(index, id, changed, stored)
      if (isNews) onOwed()
    })
  }

  return {
    ask(incident) {
      const { id, tenantId } = incident
      const key = `${tenantId}/${id}/${firstOf(incident) ?? ''}`
      if (known.has(key) || waiting.length >= MAX_WAITING || stopping.signal.aborted) return
      const own = waiting.map(each => each.tenantId)
      if (countOf(own, tenantId) >= MAX_WAITING_OF_TENANT) return
      if (known.size >= MAX_REMEMBERED) known.delete(known.values().next().value!)
      known.add(key)
      waiting.push({ id, tenantId, key, fromMs: clock.nowMs() + PAUSE_MS })
      next()
    },
    async stop() {
      stopping.abort()
      waiting.length = 0
      await Promise.race([Promise.allSettled(running.keys()), clock.sleep(STOP_MS)])
    },
  }
}

/** A model that still thinks is not waited for. */
const STOP_MS = 1_000

interface Question {
  readonly id: string
  readonly tenantId: string
  readonly key: string
  /** Not before then. */
  readonly fromMs: number
}

function firstOf({ rootCause }: TicketedIncident): string | undefined {
  return rootCause?.candidates[0]?.service
}
