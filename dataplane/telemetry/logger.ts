/** The program's log: JSON lines on stdout, or readable ones for a person at a terminal. */
import { type DestinationStream, destination, pino, stdSerializers, stdTimeFunctions } from 'pino'
import type { LogLevel } from '../contract/env.ts'
import type { Log } from './log.ts'

export interface LoggerConfig {
  readonly level: LogLevel
  readonly format: 'json' | 'readable'
  /** Fields on every line. */
  readonly fields?: object
  /** Default: stdout, written synchronously, so that nothing is lost at exit. */
  readonly output?: DestinationStream
}

export function createLogger({ level, format, fields = {}, output = destination({ dest: 1, sync: true }) }: LoggerConfig): Log {
  const options = {
    level,
    base: fields,
    messageKey: 'message',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: stdSerializers.errWithCause },
  }
  const form = format === 'json' ? escapeControls : formatLine
  const logger = pino(options, { write: line => output.write(form(line)) })
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    // pino's own children repeat a field that is set anew.
    child: more => createLogger({ level, format, fields: { ...fields, ...more }, output }),
  }
}

const COLOURS: Readonly<Record<string, string>> = { debug: '\x1b[90m', info: '\x1b[36m', warn: '\x1b[33m', error: '\x1b[31m' }
const GREY = '\x1b[90m'
const RESET = '\x1b[0m'

/** One JSON log line as a person reads it: `14:03:22 INFO  bridge  started  port=8080`; an error's stack follows on lines of its own. */
function formatLine(json: string): string {
  const { time, level, message, role, error, ...fields } = JSON.parse(json) as Record<string, unknown>
  const head = `${GREY}${String(time).slice(11, 19)}${RESET} ${COLOURS[String(level)] ?? ''}${String(level).toUpperCase().padEnd(5)}${RESET}`
  const rest = Object.entries(fields).map(
    ([name, value]) => `${GREY}${name}=${RESET}${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
  )
  return `${[head, role === undefined ? '' : `${String(role).padEnd(9)}`, message, ...rest].filter(Boolean).join(' ')}\n${stackOf(error)}`
}

/** Text of others moves no cursor, colours nothing, and begins no line of its own. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, escaped)
}

/** The same of a line of JSON, which may hold those from U+007F on as they are. */
function escapeControls(line: string): string {
  return line.replace(/[\p{Cc}--\n]/gv, escaped)
}

const escaped = (character: string) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`

function stackOf(error: unknown): string {
  if (error === undefined) return ''
  const text = typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : JSON.stringify(error)
  return `${text
    .split('\n')
    .map(line => `    ${visible(line)}`)
    .join('\n')}\n`
}
