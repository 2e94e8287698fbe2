/** The promises of start and stop, for every part of the program; README.md says them in words, `testing/start-and-stop-suite.ts` holds them. */

export interface Running {
  /**
   * Takes no new work, finishes the work it holds or gives it back, frees ports, files and threads. Every call gives the same promise, so
   * the second one waits for the first.
   */
  stop(): Promise<void>
}

/** Keeps a part of what is being started; it is ended by `end`, by default its own `stop`, after all parts that are kept later. */
export interface Keep {
  <T extends { stop(): unknown }>(part: T): T
  <T>(part: T, end: (part: T) => unknown): T
}

/**
 * Starts something that is made of parts. `start` hands each part to `keep` as soon as it runs. Stopping ends the parts one after the other,
 * the last one first, each although another one failed to end. Where `start` rejects, the parts that run by then are ended first.
 */
export async function startTogether<T extends object>(start: (keep: Keep) => Promise<T>): Promise<T & Running> {
  const parts = new AsyncDisposableStack()
  const keep = <P>(part: P, end: (part: P) => unknown = stopPart): P =>
    parts.adopt(part, async kept => {
      await end(kept)
    })
  try {
    const started = await start(keep as Keep)
    let stopped: Promise<void> | undefined
    return Object.assign(started, { stop: () => (stopped ??= parts.disposeAsync()) })
  } catch (error) {
    // The reason for the failed start is the one that a reader needs.
    await parts.disposeAsync().catch(() => undefined)
    throw error
  }
}

function stopPart(part: unknown): unknown {
  return (part as { stop(): unknown }).stop()
}
