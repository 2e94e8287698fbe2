/** The program's log: JSON lines on stdout, or readable ones for a person at a terminal. */
import { type DestinationStream, destination, pino, stdSerializers, stdTimeFunctions } from 'pino'
import type { LogLevel } from '../contract/env.ts'
import type { Log } from './log.ts'
import { formatLine } from './readable-line.ts'

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
  const logger = pino(options, format === 'json' ? output : { write: line => output.write(formatLine(line)) })
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    // pino's own children repeat a field that is set anew.
    child: more => createLogger({ level, format, fields: { ...fields, ...more }, output }),
  }
}
