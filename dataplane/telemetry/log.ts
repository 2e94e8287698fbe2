/** What the program may say of itself: a static message plus fields (design: error = act now, warn = recovered, info = start, stop, change, debug = per batch). */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** A log whose every line carries these fields too. */
  child(fields: object): Log
}

/** For tests and for callers that want none. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }
