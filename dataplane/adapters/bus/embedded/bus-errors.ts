import { BusError } from '../../../ports/bus.ts'

const OUT_OF_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** What a failed write means to the caller. */
export function toBusError(error: unknown, doing: string): BusError {
  if (error instanceof BusError) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const detail = error instanceof Error ? error.message : String(error)
  return new BusError(OUT_OF_SPACE.has(code) ? 'full' : 'unavailable', `${doing}: ${detail}`, { cause: error })
}

export const unknownTopic = (topic: string, known: Iterable<string>) =>
  new BusError('unavailable', `topic ${topic} does not exist; there are ${[...known].join(', ')}`)

export const notAssigned = (topic: string, partition: number) =>
  new BusError('unavailable', `partition ${partition} of ${topic} belongs to another member of the group by now`)

export const closedError = (what: string) => new BusError('closed', `${what} is closed`)
