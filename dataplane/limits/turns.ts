/** Work that takes turns: so much at once, the rest waits, and work that would wait behind too much is not taken. */

export interface TurnLimits {
  /** At once. */
  readonly running: number
  /** Under way or waiting, in all. */
  readonly inAll: number
  /** The same of one owner. */
  readonly ofOwner: number
}

export interface Turns {
  /** Runs the work when its turn comes: that of one owner in its order, owners by turns. Undefined, at once: too much is under way. */
  take<T>(owner: string, work: () => Promise<T>): Promise<T> | undefined
  /** Under way or waiting, of one owner. */
  of(owner: string): number
}

/** Runs so many pieces of work at once; the others wait, in their order. */
export function createTurnstile(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const turnstile = createFairTurnstile(atOnce)
  return work => turnstile('', work)
}

/** The same for work of several owners: their turns come round, however much one of them brings, and the work of each owner keeps its order. */
export function createFairTurnstile(atOnce: number): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  const waiting = new Map<string, (() => void)[]>()
  let running = 0
  const wait = (owner: string) =>
    new Promise<void>(resolve => {
      const own = waiting.get(owner)
      if (own === undefined) waiting.set(owner, [resolve])
      else own.push(resolve)
    })
  /** The place of the owner that waits longest; an owner with more work goes to the end. */
  const takeNext = () => {
    const [first] = waiting
    if (first === undefined) return undefined
    const [owner, own] = first
    const begin = own.shift()
    waiting.delete(owner)
    if (own.length > 0) waiting.set(owner, own)
    return begin
  }
  return async (owner, work) => {
    if (running >= atOnce) await wait(owner)
    else running++
    try {
      return await work()
    } finally {
      // Work that ends hands its place to the next one.
      const begin = takeNext()
      if (begin === undefined) running--
      else begin()
    }
  }
}

export function createTurns({ running, inAll, ofOwner }: TurnLimits): Turns {
  const owned = new Map<string, number>()
  const turnstile = createFairTurnstile(running)
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
      return turnstile(owner, async () => {
        try {
          return await work()
        } finally {
          change(owner, -1)
        }
      })
    },
  }
}
