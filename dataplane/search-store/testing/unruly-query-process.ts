/** A query process that does what `q` says, where it is one of these words. */
import { executeQuery } from '../calls/execute-query.ts'
import type { QueryTurns } from '../query/budget/pace.ts'
import { serveQueries } from '../query-process/serve-queries.ts'

const held: unknown[] = []

const DEEDS: Readonly<Record<string, (turns: QueryTurns, leftMs: () => number) => void | Promise<void>>> = {
  /** Never lets go of the thread. */
  stuck() {
    for (;;) performance.now()
  },
  /** Fills the heap within one turn. */
  heap() {
    for (;;) held.push(Array.from({ length: 100_000 }, (_none, at) => ({ at })))
  },
  /** Fills memory beside the heap within one turn. */
  buffers() {
    for (;;) held.push(Buffer.alloc(16 << 20, 1))
  },
  /** Fills memory turn by turn. */
  async growing(turns) {
    const own: Buffer[] = []
    for (;;) {
      own.push(Buffer.alloc(16 << 20, 1))
      await busy(turns, 5)
    }
  },
  /** Takes turns until its time is over. */
  async late(turns, leftMs) {
    while (leftMs() >= 0) await busy(turns, 8)
  },
  /** Takes turns for ever, beyond its time. */
  async deaf(turns) {
    for (;;) await busy(turns, 8)
  },
  /** Takes many turns, for two seconds of its own. */
  async long(turns) {
    for (let left = 2_000; left > 0; left -= 8) await busy(turns, 8)
  },
}

const NOBODY = new Int32Array(new SharedArrayBuffer(4))

/** Holds the thread as work does, but takes no CPU time from the suites beside it. */
async function busy(turns: QueryTurns, ms: number): Promise<void> {
  Atomics.wait(NOBODY, 0, 0, ms)
  await turns.next()
}

/** The answer as it is, with a pause after each piece. */
async function* halting(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) {
    yield piece
    await new Promise(resolve => setTimeout(resolve, 400))
  }
}

/** The first piece of it. */
async function* halted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces) {
    yield piece
    await new Promise(() => undefined)
  }
}

const MADE_OTHERWISE: Readonly<Record<string, typeof halting>> = { halting, halted }

serveQueries(async (call, context) => {
  const deed = call.parameters.get('q') ?? ''
  await DEEDS[deed]?.(context.turns, context.leftMs)
  const answer = await executeQuery(call, context)
  const otherwise = MADE_OTHERWISE[deed]
  if (otherwise === undefined) return answer
  const { whole: _whole, pieces, ...rest } = answer
  return { ...rest, pieces: otherwise(pieces) }
})
