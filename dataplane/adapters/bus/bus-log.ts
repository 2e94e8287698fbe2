/** Where the embedded bus says what an operator should know; a pino logger fits. */
export interface BusLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const silentLog: BusLog = { info: () => undefined, warn: () => undefined, error: () => undefined }
