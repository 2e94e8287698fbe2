/** Reads the fields of a flat record that scoring needs. */
import type { ScoredRecord } from '../domain/anomalies/scoring.ts'
import type { MlFeatures } from '../domain/features/enrichment.ts'
import { LEVELS, type Level } from '../domain/records/level.ts'
import { HEAD_MARKS, type KnownFields, parseObject } from './flat-record-layout.ts'
import { type FoundSignalFields, findPattern, findTime, findVisit, hashPattern } from './signal-fields.ts'

/** The fields of a record that scoring and signals need. */
export interface ScoredFields extends ScoredRecord, FoundSignalFields {
  /** Undefined for a row, where it stands in the bytes. */
  readonly document_id?: string
}

/**
 * The fields that scoring needs, found by their place in the text: most records are no anomaly, and of those nothing else is read.
 * The canonical fields stand from `start` to `canonicalEnd`. Undefined when the text is laid out otherwise.
 */
export function findScoredFields(bytes: Buffer, start: number, canonicalEnd: number): ScoredFields | undefined {
  // Byte for byte: what is not ASCII comes out garbled, which no rule of scoring minds. Inside a JSON string `,"` cannot occur.
  const text = bytes.toString('latin1', start, canonicalEnd)
  const levelAt = findLevel(text)
  const messageAt = text.indexOf(MESSAGE_MARK, levelAt) + MESSAGE_MARK.length
  const messageEnd = text.indexOf(MESSAGE_END, messageAt)
  if (levelAt < 0 || messageAt < MESSAGE_MARK.length || messageEnd < 0 || !text.startsWith(HEAD_MARKS[0].text)) return undefined
  const level = LEVEL_OF_LETTER[text.charCodeAt(levelAt)]
  const message = unescaped(text.slice(messageAt, messageEnd))
  const features = findFeatures(text, messageEnd)
  if (level === undefined || !text.startsWith(`${level}"`, levelAt) || message === undefined || features === undefined) return undefined
  const patternId = messageEnd + MESSAGE_END.length
  // Field by field: spreading the features costs more than all of finding them (measured).
  return {
    document_id: text.slice(16, 52),
    level,
    message,
    ml_error_rate_1h: features.ml_error_rate_1h,
    ml_p99_latency_1h: features.ml_p99_latency_1h,
    ml_request_rate_1h: features.ml_request_rate_1h,
    ml_anomaly_history_count: features.ml_anomaly_history_count,
    timeMs: findTime(text),
    visitHash: findVisit(text, messageAt - MESSAGE_MARK.length),
    patternHash: hashPattern(text, patternId),
    pattern: findPattern(text, patternId, text.length - lastMembers.length - 1),
  }
}

/** One object for all rows. */
const scored: { -readonly [Name in keyof ScoredFields]: ScoredFields[Name] } = {
  level: 'INFO',
  message: '',
  ml_error_rate_1h: 0,
  ml_p99_latency_1h: 0,
  ml_request_rate_1h: 0,
  ml_anomaly_history_count: 0,
  timeMs: 0,
  visitHash: 0,
  patternHash: 0,
  pattern: '',
}

/**
 * The same fields of a record whose writer knew them; it begins at `start`. A message that scoring has nothing to find in stays empty. They hold until
 * the next call.
 */
export function knownScoredFields(bytes: Buffer, start: number, known: KnownFields): ScoredFields | undefined {
  const { features, level, messageStart, messageEnd, isTelling, pattern, timeMs, visitHash } = known
  const message = isTelling ? unescaped(bytes.toString('latin1', start + messageStart, start + messageEnd)) : ''
  if (message === undefined) return undefined
  scored.level = level
  scored.message = message
  scored.ml_error_rate_1h = features.ml_error_rate_1h
  scored.ml_p99_latency_1h = features.ml_p99_latency_1h
  scored.ml_request_rate_1h = features.ml_request_rate_1h
  scored.ml_anomaly_history_count = features.ml_anomaly_history_count
  scored.timeMs = timeMs
  scored.visitHash = visitHash
  scored.patternHash = pattern.hash
  scored.pattern = pattern.text
  return scored
}

const LEVEL_MARK = ',"level":"'
const MESSAGE_MARK = ',"message":"'
const MESSAGE_END = '","pattern_id":"'
const FEATURES_MARK = ',"ml_error_rate_1h":'

/** No two levels start alike. */
const LEVEL_OF_LETTER: (Level | undefined)[] = []
for (const level of LEVELS) LEVEL_OF_LETTER[level.charCodeAt(0)] = level

/** Records of one service have their level at much the same place. */
let lastLevelAt = 0

/** Where the level's text starts; negative when there is none. */
function findLevel(text: string): number {
  if (!text.startsWith(LEVEL_MARK, lastLevelAt)) lastLevelAt = text.indexOf(LEVEL_MARK)
  return lastLevelAt < 0 ? lastLevelAt : lastLevelAt + LEVEL_MARK.length
}

/** Other escapes (`\\"`) put no letter where a word may begin, and can stay for scoring. */
const LETTER_ESCAPE = /\\[a-z]/

/** The text that stands between the quotes of a JSON string, as far as scoring minds; undefined when it is none. */
function unescaped(text: string): string | undefined {
  return LETTER_ESCAPE.test(text) ? (parseObject(`{"text":"${text}"}`)?.['text'] as string | undefined) : text
}

/** Kinds of features remembered; services have their own, and keep them for minutes. */
const MAX_FEATURES = 1_000
const featuresOf = new Map<string, MlFeatures | undefined>()

/** Neighbours are often of one service: the last members, which end the canonical part, and what they say. */
let lastMembers = '{'
let lastFeatures: MlFeatures | undefined

function findFeatures(text: string, from: number): MlFeatures | undefined {
  if (text.endsWith(lastMembers)) return lastFeatures
  const at = text.indexOf(FEATURES_MARK, from)
  if (at < 0) return undefined
  lastMembers = text.slice(at)
  lastFeatures = featuresOf.get(lastMembers)
  if (lastFeatures !== undefined) return lastFeatures
  lastFeatures = parseObject(`{${lastMembers.slice(1)}}`) as MlFeatures | undefined
  if (featuresOf.size >= MAX_FEATURES) featuresOf.clear()
  featuresOf.set(lastMembers, lastFeatures)
  return lastFeatures
}
