/** Errors of one statement, or of all of a service, as a hint: what nature they are of, and their words for people. */
import type { ErrorReader } from '../errors/error-reader.ts'
import { namesReason, tellsOomKill, tellsRestarts } from '../errors/read-error-words.ts'
import type { Hint, Nature } from '../findings.ts'
import type { Kind, ObservedRecord } from '../observed/observed-system.ts'
import { listed, quoted, timesOf } from '../wording.ts'
import type { Tally } from './error-tallies.ts'
import type { Pair } from './statistics.ts'

export interface HintContext extends Pick<Hint, 'strength'> {
  /** A new line of the kernel's, by another service, that it killed this one. */
  readonly isKill: boolean
  /** A new line of the service itself tells a state that lasts. */
  readonly isLasting: boolean
  /** Errors that would have come as usual. */
  readonly expected: number
  readonly services: readonly string[]
  readonly reader: ErrorReader
}

export function hintOf(tally: Tally, { strength, isKill, isLasting, expected, services, reader }: HintContext): Hint {
  const { service, speaker, kind, isEcho, units: count, records } = tally
  const isOwn = service === speaker
  const other = isOwn ? undefined : services[speaker]!
  const text = () => {
    const told = kind ?? mostTelling(records, reader)
    return tellErrors({
      speaker: other,
      via: tally.via === undefined ? undefined : services[tally.via]!,
      echo: isEcho ? tellEcho(tally, { services, reader }) : undefined,
      isOfSeveral: kind === undefined,
      says: reader.textOf(told),
      unresolvedName: reader.unresolvedNameOf(told),
      queues: told.queues,
      count,
      expected,
    })
  }
  return {
    service,
    strength,
    subject: `${speaker} ${kind?.id ?? 'all'} ${isEcho}`,
    isErrors: true,
    isKill,
    isLasting,
    isOwnWords: isOwn && !isEcho,
    namesReason: records.some(each => wordsOf(each.kind).some(namesReason)),
    ...waitsOf(isOwn ? records : [], reader),
    nature: natureOf(tally, reader),
    tell: () => ({
      kind: 'errors',
      strength,
      text: text(),
      ...(other !== undefined && { speaker: other }),
      ...(kind !== undefined && { patternId: kind.patternId }),
      count: count[1],
      expected,
      samples: () => records,
    }),
  }
}

function natureOf({ service, speaker, isEcho, records }: Tally, { isRemote, senseOf }: ErrorReader): Nature {
  const isOwn = service === speaker
  if (isEcho || (isOwn && records.some(({ kind }) => isRemote(kind)))) return 'remote'
  return records.some(({ kind }) => senseOf(kind) === 'own' || (!isOwn && wordsOf(kind).some(tellsOomKill))) ? 'cause' : 'fault'
}

/** The thing that a service waited for by all of its own errors that tell anything. */
function waitsOf(records: readonly ObservedRecord[], { waits }: ErrorReader): Pick<Hint, 'waits'> {
  const told = new Set(records.map(({ kind }) => waits(kind)))
  const waiting = (['nothing', 'answer', 'connection'] as const).find(each => told.has(each))
  return waiting === undefined ? {} : { waits: waiting }
}

interface Told {
  /** The service that wrote the errors, where that is another one. */
  readonly speaker: string | undefined
  /** The service that they name, where its errors lead to this one. */
  readonly via: string | undefined
  /** The words on whose failure the errors follow, where they do not begin here. */
  readonly echo: string | undefined
  /** Errors of all kinds. */
  readonly isOfSeveral: boolean
  /** The statement that is quoted; where there are several, the one that tells most. */
  readonly says: string
  /** The name that could not be resolved. */
  readonly unresolvedName: string | undefined
  readonly queues: ReadonlySet<string>
  readonly count: Readonly<Pair>
  readonly expected: number
}

function tellErrors({ speaker, via, echo, isOfSeveral, says, unresolvedName, queues, count, expected }: Told): string {
  const often = `${timesOf(count[1])}, ${count[0] === 0 ? 'never before' : `${expected} expected`}`
  const [queue, ...otherQueues] = queues
  const words = queue === undefined || otherQueues.length > 0 ? quoted(says) : `${quoted(says)} on ${queue}`
  const what = isOfSeveral ? `errors of several kinds, ${words} among them,` : words
  if (unresolvedName !== undefined)
    return `${speaker === undefined ? '' : `${speaker} `}cannot resolve the name ${unresolvedName}: ${what}${isOfSeveral ? ' ' : ': '}${often}`
  if (echo !== undefined) return `${echo}: ${what} ${often}`
  if (speaker !== undefined && via !== undefined) return `${speaker} blames ${via}, whose errors lead here: ${what} ${often}`
  if (speaker !== undefined)
    return `${speaker} ${tellsOomKill(says) || tellsRestarts(says) ? 'tells of it' : 'blames it'}: ${what} ${often}`
  if (isOfSeveral) return `${what} ${often}`
  return `${what} is ${count[0] === 0 ? 'a new error' : 'an error that comes more often'}: ${often}`
}

const MAX_NAMES = 3

/** Readers who see such a service first have to know whether its records lead any further. */
function tellEcho({ blamed, followed, records }: Tally, { services, reader }: Pick<HintContext, 'services' | 'reader'>): string {
  const namesOf = (those: ReadonlySet<number>) => listed([...those].slice(0, MAX_NAMES).map(service => services[service]!))
  const known: string[] = []
  if (blamed.size > 0) known.push(`blames ${namesOf(blamed)}`)
  if (followed.size > 0) known.push(`fails after errors of ${namesOf(followed)}`)
  if (known.length > 0) return `it ${known.join(', or ')}`
  const complains = records.some(({ kind }) => reader.senseOf(kind) === 'callee')
  return complains ? 'it complains of something else, and does not name it' : 'it fails, and does not say why'
}

/** The statement of an error that names a reason of its own, else one that is passed on, else that of most of them; of as many the one that came first. */
function mostTelling(records: readonly ObservedRecord[], { senseOf }: Pick<ErrorReader, 'senseOf'>): Kind {
  const counts = new Map<Kind, number>()
  for (const { kind } of records) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const kinds = [...counts].sort(([, a], [, b]) => b - a).map(([kind]) => kind)
  const own = kinds.filter(kind => senseOf(kind) === 'own')
  const tellsWhy = (kind: Kind) => wordsOf(kind).some(namesReason)
  return own.find(tellsWhy) ?? kinds.find(tellsWhy) ?? own[0] ?? kinds[0]!
}

/** The texts of an error's records that were read, else its pattern. */
export const wordsOf = ({ pattern, errorTexts }: Kind): readonly string[] => (errorTexts.length === 0 ? [pattern] : errorTexts)
