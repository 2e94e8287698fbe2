import { LEVELS, type Level, type MlFeatures } from '../domain/records.ts'
import type { ScoredRecord } from '../domain/scoring.ts'
import { asBuffer, HEAD_MARKS, type Layout, parseObject } from './flat-record-layout.ts'

/** What scoring needs of a record. */
export interface ScoredFields extends ScoredRecord {
  readonly document_id: string
}

/**
 * The fields that scoring needs, found by their place in the text: most records are no anomaly, and of those nothing else is read.
 * Undefined when the text is laid out otherwise.
 */
export function findScoredFields(value: Uint8Array, layout: Layout): ScoredFields | undefined {
  const bytes = asBuffer(value)
  // Byte for byte: what is not ASCII comes out garbled, which no rule of scoring minds. Inside a JSON string `,"` cannot occur.
  const text = bytes.toString('latin1', 0, layout.canonicalEnd)
  const levelAt = text.indexOf(LEVEL_MARK) + LEVEL_MARK.length
  const messageAt = text.indexOf(MESSAGE_MARK, levelAt) + MESSAGE_MARK.length
  const messageEnd = text.indexOf(MESSAGE_END, messageAt)
  const featuresAt = text.indexOf(FEATURES_MARK, messageEnd)
  if (levelAt < LEVEL_MARK.length || messageAt < MESSAGE_MARK.length || messageEnd < 0 || featuresAt < 0) return undefined
  const level = text.slice(levelAt, text.indexOf('"', levelAt)) as Level
  const message = unescaped(text.slice(messageAt, messageEnd))
  const features = parseFeatures(text.slice(featuresAt + 1))
  if (!LEVELS.includes(level) || features === undefined || message === undefined || !text.startsWith(HEAD_MARKS[0].text)) return undefined
  return { document_id: bytes.toString('latin1', 16, 52), level, message, ...features }
}

const LEVEL_MARK = ',"level":"'
const MESSAGE_MARK = ',"message":"'
const MESSAGE_END = '","pattern_id":"'
const FEATURES_MARK = ',"ml_error_rate_1h":'

/** Other escapes (`\\"`) put no letter where a word may begin, and can stay for scoring. */
const LETTER_ESCAPE = /\\[a-z]/

/** The text that stands between the quotes of a JSON string, as far as scoring minds; undefined when it is none. */
function unescaped(text: string): string | undefined {
  return LETTER_ESCAPE.test(text) ? (parseObject(`{"text":"${text}"}`)?.['text'] as string | undefined) : text
}

/** Records of one service carry the same features for an hour: the last text and what it says. */
let featuresText = ''
let featuresSeen: MlFeatures | undefined

function parseFeatures(members: string): MlFeatures | undefined {
  if (members !== featuresText) {
    featuresSeen = parseObject(`{${members}}`) as MlFeatures | undefined
    featuresText = members
  }
  return featuresSeen
}
