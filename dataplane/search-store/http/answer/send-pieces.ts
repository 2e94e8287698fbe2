/** Sends an answer no faster than its client reads, and cuts a client off that reads too slowly: what waits for it is memory that others do not have. */
import type { ServerResponse } from 'node:http'
import type { AnswerLease } from './held-answers.ts'
import { ReadingPace } from './reading-pace.ts'

/** A client has to take a part of an answer (`MIN_READ_BYTES`), or the rest of it, within so long, ms. */
const READ_ON_MS = 30_000
/** How often that is looked at in that time. */
const LOOKS = 3

/**
 * Sends the pieces behind the head that was written; resolves once the last one was handed on, or the client is gone. `lease`: of the memory that
 * the answer takes. `readOnMs` is less in tests.
 */
export async function sendPieces(
  response: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  lease?: AnswerLease,
  readOnMs = READ_ON_MS,
): Promise<void> {
  const pace = watchReader(response, lease, readOnMs)
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return
      if (!response.write(piece)) await drained(response)
      pace.took(piece.length)
    }
    response.end()
  } catch {
    // Half an answer: the client sees the connection end.
    cut(response)
  }
}

/** Cuts the client of an answer off that reads too slowly, earlier where others need the memory of `lease`. */
export function watchReader(response: ServerResponse, lease: AnswerLease | undefined, readOnMs = READ_ON_MS): ReadingPace {
  const pace = new ReadingPace()
  // After the last byte was taken, or without it.
  if (response.closed) return pace
  const leave = lease?.readBy({ pace, cut: () => cut(response) })
  const watch = setInterval(() => {
    if (pace.waitMs() >= readOnMs) cut(response)
  }, readOnMs / LOOKS)
  response.once('close', () => {
    clearInterval(watch)
    leave?.()
  })
  return pace
}

/** An answer that waits for those before it on its connection has no socket of its own yet. */
export function cut({ req, socket }: ServerResponse): void {
  ;(socket ?? req.socket).destroy()
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
