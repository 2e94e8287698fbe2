/** Memory for answers between their making and the last byte that their clients read: what one takes the others cannot have. */
import { ApiError } from '../api-error.ts'
import type { MemoryLease } from '../memory-pool.ts'

/** Memory of all answers, those of queries and others, bytes; small answers are not counted. */
export const MAX_HELD_ANSWER_BYTES = 128 * 1024 * 1024

/** The same request may find room in a second. */
export function noRoomForAnswer(): ApiError {
  return new ApiError(429, 'circuit_breaking_exception', 'answers that their clients have not read yet take all the memory there is', {
    headers: { 'retry-after': '1' },
  })
}

/** Takes memory for an answer as it grows. Throws 400 for more than one may have, 429 when others have what is left; `what` would be less. */
export function holdForAnswer(lease: MemoryLease, bytes: number, maxBytes: number, what: string): void {
  if (lease.heldBytes + bytes > maxBytes)
    throw new ApiError(
      400,
      'circuit_breaking_exception',
      `Data too large: the answer would take more than the limit of ${maxBytes} bytes; ask for less: ${what}`,
      { details: { bytes_wanted: lease.heldBytes + bytes, bytes_limit: maxBytes, durability: 'PERMANENT' } },
    )
  if (!lease.take(bytes)) throw noRoomForAnswer()
}
