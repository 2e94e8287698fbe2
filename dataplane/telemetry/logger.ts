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

export function createLogger(config: LoggerConfig): Log {
  const output = config.output ?? destination({ dest: 1, sync: true })
  const options = {
    level: config.level,
    base: config.fields ?? {},
    messageKey: 'message',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: stdSerializers.errWithCause },
  }
  return pino(options, config.format === 'json' ? output : { write: line => output.write(formatLine(line)) })
}
