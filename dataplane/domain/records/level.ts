export const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const
export type Level = (typeof LEVELS)[number]

/** Severity texts, upper case, and the level each stands for (Decisions 3). */
const LEVEL_OF_TEXT: ReadonlyMap<string, Level> = new Map(
  Object.entries({
    TRACE: ['TRACE', 'TRACE2', 'TRACE3', 'TRACE4'],
    DEBUG: ['DEBUG', 'DEBUG2', 'DEBUG3', 'DEBUG4'],
    INFO: ['INFO', 'INFO2', 'INFO3', 'INFO4', 'NOTICE', 'INFORMATION'],
    WARN: ['WARN', 'WARN2', 'WARN3', 'WARN4', 'WARNING'],
    ERROR: ['ERROR', 'ERROR2', 'ERROR3', 'ERROR4', 'ERR'],
    FATAL: ['FATAL', 'FATAL2', 'FATAL3', 'FATAL4', 'CRITICAL', 'CRIT', 'EMERG', 'EMERGENCY', 'ALERT', 'PANIC'],
  } satisfies Record<Level, readonly string[]>).flatMap(([level, texts]) => texts.map(text => [text, level as Level] as const)),
)

/** Levels by `severityNumber`: four numbers each, from 1. */
const LEVEL_OF_NUMBER: readonly Level[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']

const FIRST_NUMBER: Readonly<Record<Level, number>> = { TRACE: 1, DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17, FATAL: 21 }

/** Whether `number` is a severity number of the OTLP format: an integer from 1 to 24. */
function isSeverityNumber(number: number | undefined): number is number {
  return number !== undefined && Number.isInteger(number) && number >= 1 && number <= 24
}

/** The level of a record: the text when it is known, else the number, else INFO (Spec: Pipeline rules 2; Decisions 3). */
export function normaliseLevel(text: string | undefined, number: number | undefined): Level {
  if (text) {
    const level = LEVEL_OF_TEXT.get(text) ?? LEVEL_OF_TEXT.get(text.trim().toUpperCase())
    if (level !== undefined) return level
  }
  return isSeverityNumber(number) ? LEVEL_OF_NUMBER[(number - 1) >> 2]! : 'INFO'
}

/** The record's own severity number, else the first of its level. */
export function normaliseSeverityNumber(number: number | undefined, level: Level): number {
  return isSeverityNumber(number) ? number : FIRST_NUMBER[level]
}
