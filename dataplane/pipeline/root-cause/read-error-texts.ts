/** Reads the messages of a few errors of a window: their patterns lack hosts, ports and all that is quoted (Decisions 6). */
import { ALL_LOGS } from '../../contract/indices.ts'
import { chooseErrors, messageKey, withErrorTexts } from '../../domain/root-cause/error-texts.ts'
import type { Observation } from '../../domain/root-cause/observation.ts'
import { isoTime } from '../../domain/time/iso-time.ts'
import { portionsOf } from '../../limits/portions-of.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Period } from './read-observations.ts'

/** Errors that are asked for at once: their messages come whole, and each may be as long as a bus message. */
const PAGE_ERRORS = 5
/** Messages in one answer: a few records may have the same `log_id`, service and pattern. */
const PAGE_RECORDS = 2 * PAGE_ERRORS
/** No page is read after so many characters: a message may be long. */
const MAX_CHARACTERS = 1_000_000

interface StoredMessage {
  readonly log_id: string
  readonly service: string
  readonly pattern_id: string
  readonly message?: string
}

export async function readErrorTexts(
  store: SearchStore,
  { tenant, atMs, toMs }: Omit<Period, 'fromMs'>,
  observations: readonly Observation[],
): Promise<readonly Observation[]> {
  const errors = chooseErrors(observations, atMs)
  const messages = new Map<string, string>()
  let characters = 0
  for (const page of portionsOf(errors, PAGE_ERRORS)) {
    if (characters >= MAX_CHARACTERS) break
    const filter = [
      { term: { tenant_id: tenant } },
      { range: { timestamp: { gte: isoTime(Math.max(atMs, 0)), lt: isoTime(Math.max(toMs, 0)) } } },
      // Records of other services, and other patterns, may have the same `log_id`.
      { terms: { log_id: distinct(page.map(({ logId }) => logId)) } },
      { terms: { service: distinct(page.map(({ service }) => service)) } },
      { terms: { pattern_id: distinct(page.map(({ patternId }) => patternId)) } },
    ]
    const { hits } = await store.search<StoredMessage>({
      index: ALL_LOGS,
      body: {
        size: PAGE_RECORDS,
        track_total_hits: false,
        seq_no_primary_term: false,
        _source: ['log_id', 'service', 'pattern_id', 'message'],
        query: { bool: { filter } },
      },
    })
    for (const { source } of hits) {
      const message = String(source.message ?? '')
      characters += message.length
      messages.set(messageKey({ logId: source.log_id, service: source.service, patternId: source.pattern_id }), message)
    }
  }
  return withErrorTexts(observations, messages)
}

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
