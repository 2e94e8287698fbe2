/** Searches as people ask them of log records: bodies of `_search`, with values that the records have. */
import { classOf, findField } from '../query/bind/field.ts'
import type { ReadableIndex, Segment } from '../storage/index-storage.ts'

export type Body = Readonly<Record<string, unknown>>

const MESSAGE = 'message'
const TIME = 'timestamp'
const LEVEL = 'level'
const SERVICE = 'service'
const PATTERN = 'pattern_id'
const DURATION = 'duration_ms'
const FACETS = [LEVEL, SERVICE, 'host', 'environment']

const HITS = 50
const BUCKETS = 50
const BARS = 50
const MIN_WORD_LENGTH = 4
const PREFIX_LENGTH = 4

const terms = (field: string, aggs?: Body): Body => ({ terms: { field, size: BUCKETS }, ...(aggs && { aggs }) })
const bars = (intervalMs: number, aggs?: Body): Body => ({
  date_histogram: { field: TIME, fixed_interval: `${intervalMs}ms`, min_doc_count: 1 },
  ...(aggs && { aggs }),
})

interface Times {
  readonly fromMs: number
  readonly toMs: number
}

function timesOf(segments: readonly Segment[]): Times {
  const fromMs = Math.min(...segments.map(({ minTimestampMs }) => minTimestampMs))
  return { fromMs, toMs: Math.max(...segments.map(({ maxTimestampMs }) => maxTimestampMs)) }
}

/** Questions of a first page about all records, which counts tell. */
export function openingQuestions(): readonly Body[] {
  const counted = { services: terms(SERVICE, { levels: terms(LEVEL) }), times: bars(BAR_MS, { levels: terms(LEVEL) }) }
  return [counted, { patterns: terms(PATTERN) }, Object.fromEntries(FACETS.map(field => [field, terms(field)]))].map(aggs => ({
    size: 0,
    aggs,
  }))
}

const BAR_MS = 30 * 60_000

/** Columns, and shapes of texts, that most questions with a condition look at. */
export const USUAL_FIELDS = { columns: [TIME, LEVEL, SERVICE], text: MESSAGE } as const

/**
 * Questions about some segments of an index, under conditions of each usual kind. Each round has other values, since answers to equal questions
 * are kept. None where the documents are not log records.
 */
export function usualQuestions({ mapping }: ReadableIndex, segments: readonly Segment[], round: number): readonly Body[] {
  const newest = segments.at(-1)
  const message = findField(mapping, MESSAGE)
  const times = timesOf(segments)
  if (newest === undefined || message === undefined || classOf(message) !== 'text' || !(times.toMs > times.fromMs)) return []
  const valuesOf = (path: string): readonly string[] => {
    const column = findField(mapping, path) === undefined ? undefined : newest.column(path)
    return column?.kind === 'keyword' ? column.dictionary.slice(1) : []
  }
  return conditions(valuesOf(LEVEL), valuesOf(SERVICE), wordsOf(segments), findField(mapping, DURATION) !== undefined, round).flatMap(
    condition => questions(condition, times, valuesOf(PATTERN).slice(round, round + BUCKETS), round),
  )
}

/** Words of letters in the newest messages that have known shapes, those of the first ones first. */
function wordsOf(segments: readonly Segment[]): readonly string[] {
  const shapes = segments.map(segment => segment.textShapes?.(MESSAGE)).findLast(each => each !== undefined)
  const words = (shapes?.texts ?? []).flatMap(text => text.split(' '))
  return [...new Set(words.filter(word => word.length >= MIN_WORD_LENGTH))]
}

function conditions(
  levels: readonly string[],
  services: readonly string[],
  words: readonly string[],
  hasDuration: boolean,
  round: number,
): readonly (readonly Body[])[] {
  const found: Body[][] = [[]]
  const level = levels[round % levels.length]
  const service = services[round % services.length]
  if (level !== undefined) found.push([{ term: { [LEVEL]: level } }])
  if (level !== undefined && service !== undefined)
    found.push([{ bool: { filter: [{ term: { [SERVICE]: service } }], must_not: [{ term: { [LEVEL]: level } }] } }])
  const [word, next] = [words[(2 * round) % words.length], words[(2 * round + 1) % words.length]]
  if (word !== undefined) {
    found.push([{ match_phrase: { [MESSAGE]: word } }], [{ match_phrase: { [MESSAGE]: `${word} ${next}` } }])
    found.push([{ prefix: { [MESSAGE]: { value: word.slice(0, PREFIX_LENGTH) } } }])
  }
  if (hasDuration) found.push([{ range: { [DURATION]: { gt: 100 * (round + 1) } } }])
  return found
}

/** `patterns`: those whose details are asked for. */
function questions(condition: readonly Body[], { fromMs, toMs }: Times, patterns: readonly string[], round: number): readonly Body[] {
  // The first segment is not within the window as a whole.
  const window = { range: { [TIME]: { gte: fromMs + 1, lt: toMs + 1, format: 'epoch_millis' } } }
  const query = (...more: readonly Body[]): Body => ({ bool: { filter: [window, ...condition, ...more] } })
  const barMs = Math.ceil((toMs - fromMs) / BARS) + round
  const sample = { top_hits: { size: 1, sort: [{ [TIME]: 'desc' }], _source: [MESSAGE, LEVEL] } }
  return [
    { size: HITS, track_total_hits: false, query: query(), sort: [{ [TIME]: 'desc' }] },
    { size: 0, query: query(), aggs: { times: bars(barMs, { levels: terms(LEVEL) }) } },
    { size: 0, query: query(), aggs: Object.fromEntries(FACETS.map(field => [field, terms(field)])) },
    { size: 0, query: query(), aggs: { services: terms(SERVICE, { levels: terms(LEVEL) }), patterns: terms(PATTERN) } },
    {
      size: 0,
      query: query({ terms: { [PATTERN]: patterns } }),
      aggs: { patterns: terms(PATTERN, { services: terms(SERVICE), sample }), trends: terms(PATTERN, { times: bars(2 * barMs) }) },
    },
  ]
}
