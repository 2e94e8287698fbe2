/** Errors whose records are worth reading: patterns lack what is quoted, numbers, all of a JSON body, and attributes (Decisions 6). */
import { maskMessage } from '../../records/pattern.ts'
import { wordsOfPattern } from '../../records/pattern-words.ts'
import { lacksWords, readableText } from '../../records/readable-text.ts'
import { withoutWrapping } from '../../records/wrapped-exception.ts'
import type { Called } from '../observed/called-service.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Observation, ReadChange } from '../observed/observation.ts'
import { firstWords } from '../observed/template.ts'
import { changeIn, OWN_CHANGE_MS } from '../recent-changes.ts'

/** Messages that are read for one analysis. */
export const MAX_ERROR_TEXTS = 60
/** Further ones, of patterns without words: what tells their statements apart stands in the messages alone. */
export const MAX_WORDLESS_TEXTS = 240
/** As many are read of one such pattern in the window, and as many in the time before. */
const OF_EACH_WORDLESS = 40
/** Records that are read since they may tell of a change. */
const MAX_CHANGES = 60
/** The most of one service and pattern. One that comes more often is no change, but for events, of which many have one pattern. */
const MAX_CHANGES_OF_EACH = 20
/** Work between two `yield`s, in records. */
const STRETCH = 2_000
/** Messages of one pattern of a service: a JSON pattern may stand for many of them. */
const OF_EACH = 3
/** Characters of a text. */
const MAX_TEXT = 1_024

/** One record of those that share a `logId`: records without a trace that were logged at one time. */
export const messageKey = ({ logId, service, patternId }: Pick<Observation, 'logId' | 'service' | 'patternId'>): string =>
  `${logId}\n${service}\n${patternId}`

/**
 * Errors from `fromMs` on: of each service and pattern the first, one from the middle, the last. Rounds go by pattern, the rarest first. Then those of patterns
 * without words, also from before: as many as may be, evenly in the order of time; and then warnings without words.
 */
export function chooseErrors(observations: readonly Observation[], fromMs: number): readonly Observation[] {
  const errors = observations.filter(({ isError }) => isError)
  const chosen = new Set<Observation>()
  const groups = byRarity(errors.filter(({ timeMs }) => timeMs >= fromMs))
  for (let round = 0; round < OF_EACH; round++)
    for (const group of groups) {
      if (chosen.size === MAX_ERROR_TEXTS) break
      chosen.add(spread(group, round, OF_EACH))
    }
  const wordless = errors.filter(({ pattern }) => lacksWords(pattern))
  const most = chosen.size + MAX_WORDLESS_TEXTS
  for (const some of [wordless, observations.filter(isWordlessWarning)]) {
    const sides = [some.filter(({ timeMs }) => timeMs >= fromMs), some.filter(({ timeMs }) => timeMs < fromMs)].flatMap(byRarity)
    for (let round = 0; round < OF_EACH_WORDLESS; round++)
      for (const group of sides) {
        if (chosen.size === most) return [...chosen]
        chosen.add(spread(group, round, OF_EACH_WORDLESS))
      }
  }
  return [...chosen]
}

/** A warning as logfmt: what it warns of is masked with its quotes. */
function isWordlessWarning({ isError, isWarning, pattern }: Observation): boolean {
  return isWarning === true && !isError && lacksWords(pattern) && wordsOfPattern(pattern) === undefined
}

/**
 * Records that tell of a change, or whose pattern hides whether they do, from some time before the window on: the rarest first. Of each the nearest to its
 * start, those before it from three times as far: a change comes before what it does. Yields every few ms.
 */
export function* chooseChanges(observations: readonly Observation[], atMs: number): Generator<void, readonly Observation[]> {
  const known = new Map<string, Seen>()
  const recent = observations.filter(({ isError, timeMs }) => !isError && timeMs >= atMs - OWN_CHANGE_MS)
  for (const [at, { pattern, service }] of recent.entries()) {
    if (at % 500 === 0) yield
    const { times } = entryOf(known, pattern, () => seenOf(pattern))
    times.set(service, (times.get(service) ?? 0) + 1)
  }
  const groups = byRarity(
    recent.filter(({ pattern, service }) => {
      const { mayTell, isOfEvents, times } = known.get(pattern)!
      return mayTell && (isOfEvents || times.get(service)! <= MAX_CHANGES_OF_EACH)
    }),
  )
  const distance = ({ timeMs }: Observation) => (timeMs < atMs ? atMs - timeMs : 3 * (timeMs - atMs))
  const nearest = (group: readonly Observation[]) => group.toSorted((a, b) => distance(a) - distance(b)).slice(0, MAX_CHANGES_OF_EACH)
  return groups.flatMap(nearest).slice(0, MAX_CHANGES)
}

/** A pattern, and how often it came from each service. */
interface Seen {
  readonly mayTell: boolean
  readonly isOfEvents: boolean
  readonly times: Map<string, number>
}

function seenOf(pattern: string): Seen {
  const isHidden = lacksWords(pattern) && (isEvent(pattern) || wordsOfPattern(pattern) === undefined)
  return { mayTell: isHidden || changeIn(pattern) !== undefined, isOfEvents: isEvent(pattern), times: new Map() }
}

/** By service and pattern, each in the order of time. */
function byRarity(errors: readonly Observation[]): readonly (readonly Observation[])[] {
  const groups = Map.groupBy(errors, messageGroup)
  const sorted = [...groups.values()].sort((a, b) => a.length - b.length)
  for (const group of sorted) group.sort((a, b) => a.timeMs - b.timeMs)
  return sorted
}

/** The one at place `at` of `of` that are evenly spread over the group, with its first and its last. */
const spread = (group: readonly Observation[], at: number, of: number): Observation =>
  group[Math.floor((at * (group.length - 1)) / (of - 1))]!

/** Fields of an error's record that its pattern lacks. */
export interface ReadError {
  readonly message: string
  /** The exception that a logger was given beside the message; `''` without one. */
  readonly exception: string
  readonly called: Called | undefined
  /** The queue or topic of the message that it was about. */
  readonly queue?: string | undefined
}

/**
 * The observations with what their records say; `errors` by `messageKey`. Errors of a pattern without words are statements of their own by what they say; one
 * that was not read is taken for the nearest in time that was. Yields every few ms.
 */
export function* withErrorTexts(
  observations: readonly Observation[],
  errors: ReadonlyMap<string, ReadError>,
): Generator<void, readonly Observation[]> {
  if (errors.size === 0) return observations
  const read = new Map<Observation, ReadError>()
  const changes = new Map<Observation, ReadChange>()
  const logIds = new Set([...errors.keys()].map(key => key.slice(0, key.indexOf('\n'))))
  for (const [at, each] of observations.entries()) {
    if (at % STRETCH === 0) yield
    const found = logIds.has(each.logId) ? errors.get(messageKey(each)) : undefined
    if (found === undefined) continue
    const isWarning = isWordlessWarning(each)
    if (each.isError || isWarning) read.set(each, found)
    if (!each.isError) changes.set(each, changeOf(found, each.pattern))
  }
  const wordless = [...read].filter(([{ pattern }]) => lacksWords(pattern))
  const statements = new Map(wordless.map(([each, error]) => [each, statementOf(withException(error), each.pattern)]))
  const known = new Map(byRarity([...statements.keys()]).map(group => [messageGroup(group[0]!), group]))
  const withText = (each: Observation): Observation => {
    const change = changes.get(each)
    const found = read.get(each)
    if (change !== undefined && found === undefined) return { ...each, change }
    const said = found === undefined ? {} : { ...fieldsOf(found), ...(change !== undefined && { change }) }
    const nearest = each.isError || isWordlessWarning(each) ? nearestOf(known.get(messageGroup(each)) ?? [], each.timeMs) : undefined
    if (nearest === undefined) return found === undefined ? each : { ...each, ...said }
    return { ...each, ...said, template: `${each.template} ${statements.get(nearest)!}` }
  }
  const told: Observation[] = []
  for (const each of observations) {
    if (told.length % STRETCH === 0) yield
    told.push(withText(each))
  }
  return told
}

function fieldsOf(error: ReadError): Partial<Observation> {
  const { called, queue } = error
  return { errorText: withException(error), ...(called !== undefined && { called }), ...(queue !== undefined && { queue }) }
}

function changeOf(read: ReadError, pattern: string): ReadChange {
  return { text: withException(read), whole: read.message.slice(0, MAX_TEXT).toWellFormed(), isEvent: isEvent(pattern) }
}

const messageGroup = ({ service, patternId }: Observation): string => `${service}\n${patternId}`

/** `sorted` in the order of time. */
function nearestOf(sorted: readonly Observation[], timeMs: number): Observation | undefined {
  let low = 0
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1
    if (sorted[middle]!.timeMs < timeMs) low = middle + 1
    else high = middle
  }
  const [before, after] = [sorted[low - 1], sorted[low]]
  if (before === undefined || after === undefined) return before ?? after
  return timeMs - before.timeMs <= after.timeMs - timeMs ? before : after
}

/** The object of a line of the kubelet stands last. */
const OF_POD = /: pod \S{1,320}$/

/** Events of Kubernetes, and lines of the kubelet, are told apart by their objects as well, which stand last: what each is warned of may be the same. */
function statementOf(text: string, pattern: string): string {
  const masked = maskMessage(text)
  if (isWarning(pattern)) return masked
  const [object = ''] = OF_POD.exec(masked) ?? []
  return `${firstWords(masked)}${object}`
}

/** Start and end of a longer line: a statement of SQL, or a list, may stand between what failed and why. JSON is read whole. */
function bothEnds(message: string): string {
  if (message.length <= MAX_TEXT || message.trimStart().startsWith('{')) return message
  const end = MAX_TEXT / 2 - 1
  return `${message.slice(0, end)}… ${message.slice(-end)}`.toWellFormed()
}

const isWarning = (pattern: string) => pattern.includes('"type":') && pattern.includes('"Warning"')
const isEvent = (pattern: string) => pattern.startsWith('{') && /"(?:involvedObject|regarding)":/.test(pattern)

/** `order failed: PSQLException: sorry, too many clients`: handlers of logs send an exception as attributes of a message that does not say it. */
function withException({ message, exception }: ReadError): string {
  const text = readableText(bothEnds(withoutWrapping(message)))
  return exception === '' || text.includes(exception) ? text : `${text}: ${exception}`.slice(0, MAX_TEXT).toWellFormed()
}
