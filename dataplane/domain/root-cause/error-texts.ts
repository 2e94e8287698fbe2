/** Errors whose records are worth reading: patterns lack what is quoted, numbers, all of a JSON body, and attributes (Decisions 6). */
import { readableText } from '../records/readable-text.ts'
import type { Called } from './called-service.ts'
import { entryOf } from './entry-of.ts'
import type { Observation } from './observation.ts'

/** Messages that are read for one analysis. */
export const MAX_ERROR_TEXTS = 60
/** Messages of one pattern of a service: a JSON pattern may stand for many of them. */
const OF_EACH = 3
/** Characters of a text. */
const MAX_TEXT = 1_024

/** One record of those that share a `logId`: records without a trace that were logged at one time. */
export const messageKey = ({ logId, service, patternId }: Pick<Observation, 'logId' | 'service' | 'patternId'>): string =>
  `${logId}\n${service}\n${patternId}`

/** Errors from `fromMs` on: of each service and pattern the first, one from the middle, the last. Rounds go by pattern, the rarest first. */
export function chooseErrors(observations: readonly Observation[], fromMs: number): readonly Observation[] {
  const groups = new Map<string, Observation[]>()
  for (const each of observations)
    if (each.isError && each.timeMs >= fromMs) entryOf(groups, `${each.service}\n${each.patternId}`, () => []).push(each)
  const byRarity = [...groups.values()].sort((a, b) => a.length - b.length)
  for (const group of byRarity) group.sort((a, b) => a.timeMs - b.timeMs)
  const chosen = new Set<Observation>()
  for (let round = 0; round < OF_EACH; round++)
    for (const group of byRarity) {
      if (chosen.size === MAX_ERROR_TEXTS) break
      chosen.add(group[Math.floor((round * (group.length - 1)) / (OF_EACH - 1))]!)
    }
  return [...chosen]
}

/** Fields of an error's record that its pattern lacks. */
export interface ReadError {
  readonly message: string
  /** The exception that a logger was given beside the message; `''` without one. */
  readonly exception: string
  readonly called: Called | undefined
}

/** The observations with what their records say; `errors` by `messageKey`. */
export function withErrorTexts(observations: readonly Observation[], errors: ReadonlyMap<string, ReadError>): readonly Observation[] {
  if (errors.size === 0) return observations
  return observations.map(each => {
    const read = each.isError ? errors.get(messageKey(each)) : undefined
    if (read === undefined) return each
    return { ...each, errorText: withException(read), ...(read.called !== undefined && { called: read.called }) }
  })
}

/** `order failed: PSQLException: sorry, too many clients`: handlers of logs send an exception as attributes of a message that does not say it. */
function withException({ message, exception }: ReadError): string {
  const text = readableText(message)
  return exception === '' || text.includes(exception) ? text : `${text}: ${exception}`.slice(0, MAX_TEXT).toWellFormed()
}
