import { onceEvery } from '../limits/once-every.ts'
import type { Log } from '../telemetry/log.ts'

/** Requests of all callers fail while a back end is away. */
const WARN_EVERY_MS = 10_000

/** A function that tells the log of a back end that gave no answer, at most once in ten seconds. */
export function createAwayLog(
  log: Pick<Log, 'warn'>,
  { name, endpoint }: { readonly name: string; readonly endpoint: string },
  monotonicMs: () => number = () => performance.now(),
): (error: unknown) => void {
  const mayWarn = onceEvery(WARN_EVERY_MS, monotonicMs)
  let requests = 0
  return error => {
    requests++
    if (!mayWarn()) return
    log.warn({ error, endpoint, requests }, `${name} gave no answer`)
    requests = 0
  }
}
