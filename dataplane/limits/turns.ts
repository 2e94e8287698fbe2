/** Work that takes turns: so much at once, the rest waits in its order, and what would wait behind too many is not taken. */

export interface TurnLimits {
  /** At once. */
  readonly running: number
  /** Under way or waiting, in all. */
  readonly inAll: number
  /** The same of one owner. */
  readonly ofOwner: number
}

export interface Turns {
  /** Runs the work when its turn comes, first come first served. Undefined, at once: too much is under way. */
  take<T>(owner: string, work: () => Promise<T>): Promise<T> | undefined
  /** Under way or waiting, of one owner. */
  of(owner: string): number
}

/** Runs so many pieces of work at once; the others wait, in their order. */
export function createTurnstile(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async work => {
    if (running >= atOnce) await new Promise<void>(resolve => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      // Work that ends hands its place to the next one.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

export function createTurns({ running, inAll, ofOwner }: TurnLimits): Turns {
  const owned = new Map<string, number>()
  const turnstile = createTurnstile(running)
  let all = 0
  const of = (owner: string) => owned.get(owner) ?? 0
  const change = (owner: string, by: number) => {
    all += by
    const own = of(owner) + by
    if (own === 0) owned.delete(owner)
    else owned.set(owner, own)
  }
  return {
    of,
    take(owner, work) {
      if (of(owner) >= ofOwner || all >= inAll) return undefined
      change(owner, 1)
      return turnstile(async () => {
        try {
          return await work()
        } finally {
          change(owner, -1)
        }
      })
    },
  }
}
