import { BusError } from '../../../ports/bus.ts'

const OUT_OF_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** The failure of the bus that a failed write means to the caller. */
export function toBusError(error: unknown, doing: string): BusError {
  if (error instanceof BusError) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const detail = error instanceof Error ? error.message : String(error)
  return new BusError(OUT_OF_SPACE.has(code) ? 'full' : 'unavailable', `${doing}: ${detail}`, { cause: error })
}
