/** Memory that answering a request takes, as it grows: buckets, values, hits, text. */
import { ApiError, tryLater } from '../../api-error.ts'
import { type MemoryLease, MemoryPool } from '../../memory-pool.ts'

/** Memory of one request, all its searches together, bytes. */
const REQUEST_BYTES = 128 * 1024 * 1024

/** Memory of all requests of the process, bytes. */
const ALL_REQUESTS_BYTES = 160 * 1024 * 1024

export interface QueryMemory {
  /**
   * Counts memory before it is used; `what` names what takes it. Throws `circuit_breaking_exception`: 400 when the request asks for more than
   * one may have, 429 when others have what is left.
   */
  charge(bytes: number, what: string): void
  giveBack(bytes: number): void
  readonly usedBytes: number
  /** Gives back all of it; to be called once nothing of the answer is held any more. */
  release(): void
}

const pool = new MemoryPool(ALL_REQUESTS_BYTES)

export function openQueryMemory(): QueryMemory {
  const lease = pool.lease()
  return {
    charge(bytes, what) {
      if (lease.heldBytes + bytes > REQUEST_BYTES) throw tooMuch(lease, bytes, what)
      if (!lease.take(bytes)) throw noneLeft(lease, bytes, what)
    },
    giveBack: bytes => lease.giveBack(bytes),
    get usedBytes() {
      return lease.heldBytes
    },
    release: () => lease.release(),
  }
}

function tooMuch({ heldBytes }: MemoryLease, bytes: number, what: string): ApiError {
  return new ApiError(
    400,
    'circuit_breaking_exception',
    `Data too large: the request would take ${heldBytes + bytes} bytes of memory, which is more than the limit of ${REQUEST_BYTES}; ask for less: ${what}`,
    { details: { bytes_wanted: heldBytes + bytes, bytes_limit: REQUEST_BYTES, durability: 'PERMANENT' } },
  )
}

function noneLeft({ heldBytes }: MemoryLease, bytes: number, what: string): ApiError {
  return tryLater(
    'circuit_breaking_exception',
    `Data too large: the requests under way take ${pool.usedBytes} bytes of memory of ${ALL_REQUESTS_BYTES}; try again later, or ask for less: ${what}`,
    { bytes_wanted: heldBytes + bytes, bytes_limit: ALL_REQUESTS_BYTES, durability: 'TRANSIENT' },
  )
}
