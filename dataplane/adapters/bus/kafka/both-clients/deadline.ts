import { BusError } from '../../../../ports/bus.ts'

/** `doing` took longer than `ms`. */
export function tooLate(doing: string, ms: number): BusError {
  return new BusError('unavailable', `${doing}: Kafka has not answered within ${Math.round(ms)} ms`)
}

/** Ends the wait for `work` after `ms` with an `unavailable` error; the work itself goes on unheard. */
export async function withDeadline<T>(work: Promise<T>, ms: number, doing: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooLate(doing, ms)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for `work` to end, well or not, but for no longer than `ms`. */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const settled = work.then(
    () => undefined,
    () => undefined,
  )
  await Promise.race([settled, late])
  clearTimeout(timer)
}
