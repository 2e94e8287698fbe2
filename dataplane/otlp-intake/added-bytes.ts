/** Bytes that a proxy of ours puts into a body for its tenant. They do not count against the sender: `MAX_REQUEST_BYTES` is of what was sent (Decisions 3). */

/** A tenant for each of the 100,000 resources that get one takes some 150 bytes as JSON. */
const MAX_ADDED_BYTES = 16 * 1024 * 1024

/** Value of `ADDED_BYTES_HEADER`, for the collector; undefined where the body is small enough with them. */
export function addedBytes(sentBytes: number, bytes: number, maxRequestBytes: number): string | undefined {
  return bytes > maxRequestBytes && bytes > sentBytes ? String(bytes - sentBytes) : undefined
}

/** 0 for what is no number of bytes. */
export function parseAddedBytes(value: string | readonly string[] | undefined): number {
  const bytes = typeof value === 'string' ? Number(value) : 0
  return Number.isSafeInteger(bytes) && bytes > 0 ? Math.min(bytes, MAX_ADDED_BYTES) : 0
}
