/** Asks a process whether it is there. Silence is counted in looks, not in time: a store that was itself stopped for an hour has looked once. */
export interface LifeSigns {
  /** The process said something. */
  heard(): void
  /** To be called some times a second while there is work. False once the process has been silent for too many looks. */
  look(): boolean
}

export interface LifeSignLimits {
  /** Looks without a word. */
  readonly maxSilent: number
  /** The same of a process that has just been started. */
  readonly maxSilentAtStart: number
}

export function createLifeSigns({ maxSilent, maxSilentAtStart }: LifeSignLimits, ask: () => void): LifeSigns {
  let isAsked = false
  let hasSpoken = false
  let silent = 0
  return {
    heard() {
      isAsked = false
      hasSpoken = true
      silent = 0
    },
    look() {
      // One question at a time: a process that does not read lets them pile up.
      if (!isAsked) ask()
      isAsked = true
      return ++silent <= (hasSpoken ? maxSilent : maxSilentAtStart)
    },
  }
}
