/** The rule score of a record (Spec: Anomaly scoring algorithm). */
import type { MlFeatures } from '../features/enrichment.ts'
import type { Level } from '../records/level.ts'

/** Base score by severity (Spec: Anomaly scoring algorithm); DEBUG and TRACE are skipped. */
const BASE_SCORE: Readonly<Record<Level, number | undefined>> = {
  TRACE: undefined,
  DEBUG: undefined,
  INFO: 0,
  WARN: 0.1,
  ERROR: 0.3,
  FATAL: 0.5,
}

/** The reason in words, by level; undefined for a base score that adds nothing. */
const BASE_REASON = Object.fromEntries(
  Object.entries(BASE_SCORE).map(([level, base = 0]) => [level, base > 0 ? `level ${level}: +${base}` : undefined]),
)

interface PatternClass {
  readonly boost: number
  readonly matches: RegExp
  /** In words. */
  readonly reason: string
}

const patternClass = (name: string, boost: number, matches: RegExp): PatternClass => ({
  boost,
  matches,
  reason: `message matches ${name}: +${boost}`,
})

/** Pattern boosts: every class counts at most once, classes add up; acronyms match on word boundaries (Decisions 5). */
const PATTERN_CLASSES: readonly PatternClass[] = [
  patternClass('OutOfMemory', 0.3, /out[ _-]?of[ _-]?memory|\boom(?:[-_ ]?kill(?:ed|er|ing)?)?\b/i),
  patternClass('timeout', 0.2, /timeout|timed[ _-]?out|\btime[ _-]out\b/i),
  patternClass('connection refused', 0.2, /connection[ _-]?refused|\beconnrefused\b/i),
  patternClass('NPE or segfault', 0.25, /\bnpe\b|null[ _-]?pointer[ _-]?exception|seg[ _-]?fault|segmentation[ _-]?fault/i),
  patternClass('disk full', 0.3, /disk[ _-]?(?:is[ _-])?full/i),
  patternClass('SSL or TLS', 0.15, /\b(?:ssl|tls)\b/i),
]

/** Matches all that any of the classes matches, and a little more: most messages are done with this one look. */
const ANY_PATTERN =
  /of[ _-]?memory|\boom|tim(?:e|ed)[ _-]?out|refused|\bnpe\b|null[ _-]?pointer|seg[ _-]?fault|segmentation|disk|\b(?:ssl|tls)\b/i

/** Matches the fixed part of a message where any of the classes may match the message with any text before and behind that part. */
const LOOSE_PATTERN = /of[ _-]?memory|oom|tim(?:e|ed)[ _-]?out|refused|npe|null[ _-]?pointer|seg[ _-]?fault|segmentation|disk|ssl|tls/i

/** Two letters of each word in the classes, by which a text without any of them is told apart. */
const TELLING_PAIRS = ['of', 'em', 'oo', 'im', 'ut', 'fu', 'np', 'ul', 'oi', 'eg', 'fa', 'gm', 'sk', 'ss', 'tl']

const LETTERS = 32
/** The number of a letter, of either case; 0 for all else. */
const LETTER_NUMBER = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[a-z]/i.test(String.fromCharCode(byte)) && byte < 128 ? byte & 31 : 0,
)
const IS_TELLING = new Uint8Array(LETTERS * LETTERS)
for (const pair of TELLING_PAIRS) IS_TELLING[LETTER_NUMBER[pair.charCodeAt(0)]! * LETTERS + LETTER_NUMBER[pair.charCodeAt(1)]!] = 1

/** Whether the pattern boosts may count for a message with this fixed part. */
export function isTellingPattern(fixed: string): boolean {
  return LOOSE_PATTERN.test(fixed)
}

/** Whether they may count for a message with this part, which holds words whole. */
export function isTellingPart(text: Uint8Array, from: number, to: number): boolean {
  let before = 0
  for (let at = from; at < to; at++) {
    const letter = LETTER_NUMBER[text[at]!]!
    if (IS_TELLING[before * LETTERS + letter] === 1) return true
    before = letter
  }
  return false
}

interface MlBoost {
  readonly reason: string
  readonly boost: number
  readonly applies: (features: MlFeatures) => boolean
}

/** ML boosts; of each group the first that applies counts, so the two error-rate boosts are exclusive (Decisions 5). */
const ML_BOOSTS: readonly (readonly MlBoost[])[] = [
  [
    { reason: 'ml_error_rate_1h > 0.25', boost: 0.25, applies: features => features.ml_error_rate_1h > 0.25 },
    { reason: 'ml_error_rate_1h > 0.1', boost: 0.15, applies: features => features.ml_error_rate_1h > 0.1 },
  ],
  [{ reason: 'ml_p99_latency_1h > 2000', boost: 0.1, applies: features => features.ml_p99_latency_1h > 2_000 }],
  [{ reason: 'ml_anomaly_history_count > 2', boost: 0.1, applies: features => features.ml_anomaly_history_count > 2 }],
]

/** A score at or above it is emitted as an anomaly (Spec: Anomaly scoring algorithm). */
export const EMIT_THRESHOLD = 0.5

export type ScoredRecord = { readonly level: Level; readonly message: string } & MlFeatures

/** Base + pattern + ML, 0 to 1, rounded to 4 decimals; undefined when the record is skipped (DEBUG and TRACE). */
export function scoreRecord(record: ScoredRecord): number | undefined {
  let score = BASE_SCORE[record.level]
  if (score === undefined) return undefined
  for (const { boost } of classesOf(record.message)) score += boost
  for (const group of ML_BOOSTS) score += firstThatApplies(group, record)?.boost ?? 0
  return Math.min(1, Math.round(score * 10_000) / 10_000)
}

/** Parts of a record's score, in words, e.g. `level ERROR: +0.3`, in a list of the caller's own. */
export function explainScore(record: ScoredRecord): string[] {
  const base = BASE_REASON[record.level]
  const reasons = base === undefined ? [] : [base]
  for (const { reason } of classesOf(record.message)) reasons.push(reason)
  for (const group of ML_BOOSTS) {
    const ml = firstThatApplies(group, record)
    if (ml !== undefined) reasons.push(`${ml.reason}: +${ml.boost}`)
  }
  return reasons
}

const NO_CLASSES: readonly PatternClass[] = []
/** A score is explained right behind its making: the message that was searched last, and what it matches. */
let lastSearched = ''
let lastClasses = NO_CLASSES

/** The classes that a message matches, looked for to its end: what brought a long stack trace about stands in its last lines. */
function classesOf(message: string): readonly PatternClass[] {
  if (message === '') return NO_CLASSES
  if (message === lastSearched) return lastClasses
  lastClasses = ANY_PATTERN.test(message) ? PATTERN_CLASSES.filter(({ matches }) => matches.test(message)) : NO_CLASSES
  lastSearched = message
  return lastClasses
}

function firstThatApplies(group: readonly MlBoost[], features: MlFeatures): MlBoost | undefined {
  for (const boost of group) if (boost.applies(features)) return boost
  return undefined
}
