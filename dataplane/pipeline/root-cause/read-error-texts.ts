/** Reads the records of a few errors of a window: their patterns lack hosts, ports, all that is quoted, and attributes (Decisions 6). */
import { EXCEPTION_KEYS, joinException } from '../../domain/records/exception-message.ts'
import { chooseChanges, chooseErrors, messageKey, type ReadError, withErrorTexts } from '../../domain/root-cause/errors/error-texts.ts'
import { CALLED_KEYS, readCalled, readQueue } from '../../domain/root-cause/observed/called-service.ts'
import type { Observation } from '../../domain/root-cause/observed/observation.ts'
import { isoTime } from '../../domain/time/iso-time.ts'
import { portionsOf } from '../../limits/portions-of.ts'
import { runInTurns } from '../../limits/run-in-turns.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { searchLogs } from '../search-logs.ts'
import { within } from '../within.ts'
import type { Period } from './read-observations.ts'

/** Errors that are asked for at once: their messages come whole, and each may be as long as a bus message. */
const PAGE_ERRORS = 5
/** Messages in one answer: a few records may have the same `log_id`, service and pattern. */
const PAGE_RECORDS = 2 * PAGE_ERRORS
/** No page is read after so many characters: a message may be long. */
const MAX_CHARACTERS = 1_000_000
/** How long an analysis waits for messages: a ticket waits for its cause no more than ten seconds. */
const MAX_WAIT_MS = 2_000

const ATTRIBUTES: readonly string[] = [...EXCEPTION_KEYS, ...CALLED_KEYS]
/** Attributes that the index of the day has no field for are folded (Decisions 4): those of a record that it refused, of a tenant with many. */
const FIELDS = ['log_id', 'service', 'pattern_id', 'message', ...ATTRIBUTES, ...ATTRIBUTES.map(key => `attributes.${key}`)]

interface StoredMessage extends Readonly<Record<string, unknown>> {
  readonly log_id: string
  readonly service: string
  readonly pattern_id: string
  readonly message?: string
  readonly attributes?: Readonly<Record<string, unknown>>
}

export interface ErrorTextDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
}

/** The observations with the messages that came in time: errors without one are known by their patterns alone. */
export async function readErrorTexts(
  { store, clock, log }: ErrorTextDeps,
  window: Pick<Period, 'tenant' | 'atMs'>,
  observations: readonly Observation[],
): Promise<readonly Observation[]> {
  const errors = [...chooseErrors(observations, window.atMs), ...(await runInTurns(chooseChanges(observations, window.atMs)))]
  const messages = new Map<string, ReadError>()
  const read = (signal: AbortSignal) => readMessages(store, window.tenant, errors, messages, signal)
  const late = (message: string): never => {
    throw new Error(message)
  }
  try {
    await within(clock, MAX_WAIT_MS, read, late)
  } catch (error) {
    log.warn({ error, tenant: window.tenant }, 'messages of errors were not read; the root cause goes by their patterns')
  }
  return runInTurns(withErrorTexts(observations, messages))
}

/** Puts what it reads into `messages`, page by page, until `signal` aborts. */
async function readMessages(
  store: SearchStore,
  tenant: string,
  errors: readonly Observation[],
  messages: Map<string, ReadError>,
  signal: AbortSignal,
): Promise<void> {
  let characters = 0
  for (const page of portionsOf(errors, PAGE_ERRORS)) {
    if (characters >= MAX_CHARACTERS || signal.aborted) break
    const times = page.map(({ timeMs }) => timeMs)
    const [fromMs, toMs] = [Math.floor(Math.min(...times)), Math.floor(Math.max(...times)) + 1]
    const filter = [
      { term: { tenant_id: tenant } },
      { range: { timestamp: { gte: isoTime(Math.max(fromMs, 0)), lt: isoTime(Math.max(toMs, 0)) } } },
      // Records of other services, and other patterns, may have the same `log_id`.
      { terms: { log_id: distinct(page.map(({ logId }) => logId)) } },
      { terms: { service: distinct(page.map(({ service }) => service)) } },
      { terms: { pattern_id: distinct(page.map(({ patternId }) => patternId)) } },
    ]
    const { hits } = await searchLogs<StoredMessage>(store, {
      ...{ fromMs, toMs },
      body: {
        size: PAGE_RECORDS,
        track_total_hits: false,
        seq_no_primary_term: false,
        _source: FIELDS,
        query: { bool: { filter } },
      },
    })
    for (const { source } of hits) {
      const message = String(source.message ?? '')
      characters += message.length
      const key = messageKey({ logId: source.log_id, service: source.service, patternId: source.pattern_id })
      const fields = { ...source.attributes, ...source }
      const attribute = (name: string) => fields[name]
      messages.set(key, { message, exception: exceptionOf(fields), called: readCalled(attribute), queue: readQueue(attribute) })
    }
  }
}

/** Empty where the message says it, as that of a logger that was given both mostly does. */
function exceptionOf(source: StoredMessage): string {
  const texts = EXCEPTION_KEYS.map(key => source[key]).filter(text => typeof text === 'string' && text !== '') as string[]
  return String(source.message ?? '').includes(String(texts.at(-1))) ? '' : joinException(texts)
}

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
