import { setImmediate as nextTurn } from 'node:timers/promises'

const LIMIT_MS = 15_000

/** Lets sockets and promises go on until the condition holds; throws when it does not within 15 seconds. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  const endMs = Date.now() + LIMIT_MS
  while (!holds()) {
    if (Date.now() > endMs) throw new Error(`${what}: did not happen within ${LIMIT_MS} ms`)
    await nextTurn()
  }
}
