/** The interface of the log: a static message with fields (error: act now; warn: recovered; info: start, stop, change; debug: per batch). */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** A log whose every line carries these fields too. */
  child(fields: object): Log
}

/** For tests, and for callers that want no log. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }
