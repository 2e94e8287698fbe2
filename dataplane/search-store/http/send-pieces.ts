/** Sends an answer no faster than its client reads, and cuts a client off that reads too slowly: what waits for it is memory that others do not have. */
import type { ServerResponse } from 'node:http'

/** A client has to take so much of an answer, bytes, … */
const MIN_READ_BYTES = 1024 * 1024
/** … or the rest of it, in each stretch of so long, ms. */
const READ_ON_MS = 30_000

/** Sends the pieces behind the head that was written; resolves once the last one was handed on, or the client is gone. `readOnMs` is less in tests. */
export async function sendPieces(response: ServerResponse, pieces: AsyncIterable<Uint8Array>, readOnMs = READ_ON_MS): Promise<void> {
  let taken = 0
  const watch = setInterval(() => {
    if (taken < MIN_READ_BYTES) response.destroy()
    taken = 0
  }, readOnMs)
  // After the last byte was taken, or without it.
  if (response.closed) clearInterval(watch)
  else response.once('close', () => clearInterval(watch))
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return
      if (!response.write(piece)) await drained(response)
      taken += piece.length
    }
    response.end()
  } catch {
    // Half an answer: the client sees the connection end.
    response.destroy()
  }
}

export const PIECE_BYTES = 256 * 1024

export async function* piecesOf(body: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES)
}

/** Resolves when more can be written, or the client has gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.once('drain', done)
    response.once('close', done)
  })
}
