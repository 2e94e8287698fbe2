import type { Log } from '../../../telemetry/log.ts'

/** A log that keeps its lines, at every level. */
export interface RecordingLog extends Log {
  readonly lines: readonly { readonly level: string; readonly fields: object; readonly message: string }[]
}

export function createRecordingLog(): RecordingLog {
  const lines: { level: string; fields: object; message: string }[] = []
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message })
  const log: RecordingLog = { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => log }
  return log
}
