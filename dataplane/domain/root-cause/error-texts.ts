/** Errors whose messages are worth reading, since their patterns lack what is quoted, and numbers: hosts, ports, all of a JSON body (Decisions 6). */
import { readableText } from '../records/readable-text.ts'
import { entryOf } from './entry-of.ts'
import type { Observation } from './observation.ts'

/** Messages that are read for one analysis. */
export const MAX_ERROR_TEXTS = 60
/** Messages of one pattern of a service: a JSON pattern may stand for many of them. */
const OF_EACH = 3
const MASK = '<*>'

/** One record of those that share a `logId`: records without a trace that were logged at one time. */
export const messageKey = ({ logId, service, patternId }: Pick<Observation, 'logId' | 'service' | 'patternId'>): string =>
  `${logId}\n${service}\n${patternId}`

/** Errors from `fromMs` on: of each service and pattern the first, one from the middle, the last. Rounds go by pattern, the rarest first. */
export function chooseErrors(observations: readonly Observation[], fromMs: number): readonly Observation[] {
  const groups = new Map<string, Observation[]>()
  for (const each of observations)
    if (each.isError && each.timeMs >= fromMs && each.pattern.includes(MASK))
      entryOf(groups, `${each.service}\n${each.patternId}`, () => []).push(each)
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

/** The observations with what the messages say; `messages` by `messageKey`. */
export function withErrorTexts(observations: readonly Observation[], messages: ReadonlyMap<string, string>): readonly Observation[] {
  if (messages.size === 0) return observations
  return observations.map(each => {
    const message = each.isError ? messages.get(messageKey(each)) : undefined
    return message === undefined ? each : { ...each, errorText: readableText(message) }
  })
}
