/** Plays the shop: what was, at once; then what is, second by second, until it is stopped; meanwhile looks for the incident. */
import type { Clock } from '../../ports/clock.ts'
import { type Collector, MAX_RECORDS_OF_REQUEST } from './collector.ts'
import { DemoProblem } from './demo-problem.ts'
import { FAULTS, type FaultAt } from './faults.ts'
import type { Incidents } from './incidents.ts'
import { createLookout } from './lookout.ts'
import type { DemoOptions } from './options.ts'
import type { ShopRecord } from './services.ts'
import { timelineOf } from './timeline.ts'

/** A user who watches sees the shop healthy for this long. */
const HEALTHY_MS = 5_000
/** With `--at-once` the fault began so long ago. */
const BROKEN_AGO_MS = 180_000
const STEP_MS = 500
const REQUEST_SPAN_MS = 5_000
/** With `--at-once` an incident with its cause is there long before so much time has passed, however slow the machine. */
const FOUND_WITHIN_MS = 300_000
/** A shop that somebody forgot does not send forever. */
export const MAX_PLAY_MS = 30 * 60_000

export interface PlayDeps {
  readonly collector: Collector
  readonly incidents: Incidents
  readonly clock: Clock
  readonly tell: (text: string) => void
  readonly signal: AbortSignal
}

/** False: there is no incident with a cause, and nobody stopped the search for it. */
export async function playShop({ fault: name, seed, historyMs, isAtOnce }: DemoOptions, deps: PlayDeps): Promise<boolean> {
  const { collector, incidents, clock, tell, signal } = deps
  const startMs = clock.nowMs()
  const fault: FaultAt = { name, atMs: isAtOnce ? startMs - BROKEN_AGO_MS : startMs + HEALTHY_MS }
  // A shop that was played before has left a part of the history.
  const stored = await incidents.newestRecordMs(fault.atMs - historyMs, signal)
  if (isAtOnce && stored !== undefined && stored > fault.atMs) {
    const ago = Math.max(1, Math.round((startMs - stored) / 1_000))
    throw new DemoProblem(
      `a shop was heard here ${ago} s ago: wait until three minutes have passed, leave --at-once out, or take another --tenant`,
    )
  }
  const fromMs = Math.max(fault.atMs - historyMs, stored === undefined ? 0 : stored + 1)
  const send = createSender(timelineOf({ seed, fromMs, fault }), collector, signal)
  const lookout = await createLookout(incidents, { clock, tell, signal })

  tell(`Sending what the shop logged in the last ${Math.max(1, Math.round((startMs - fromMs) / 60_000))} minutes (seed ${seed}).`)
  tell(`${await send(startMs)} records are sent.`)
  for (let isBroken = false; ; ) {
    const nowMs = clock.nowMs()
    if (signal.aborted || nowMs > startMs + MAX_PLAY_MS) break
    if (!isBroken && nowMs >= fault.atMs) {
      isBroken = true
      tell(tellFault(fault, isAtOnce))
    }
    if (!isAtOnce) await send(nowMs)
    if (isBroken && !signal.aborted) await lookout.look(isAtOnce ? undefined : fault.atMs)
    if (isAtOnce && (lookout.hasFound() || nowMs > startMs + FOUND_WITHIN_MS)) break
    await clock.sleep(STEP_MS, signal)
  }
  if (!isAtOnce) tell(`\nStopped after ${await send(0)} records.${lookout.hasFound() ? ' The incident stays until it is resolved.' : ''}`)
  return lookout.hasFound() || signal.aborted
}

function tellFault({ name }: FaultAt, isAtOnce: boolean): string {
  const { summary } = FAULTS[name]
  return `\nIt ${isAtOnce ? 'broke three minutes ago' : 'breaks now'} (${name}): ${summary}.`
}

/**
 * Sends what is said up to a time, which only goes on; answers how many records were sent in all. Requests are of a few seconds, as services send
 * them: one of a minute would bring all of one service before the next.
 */
function createSender(timeline: Iterator<ShopRecord, never>, collector: Collector, signal: AbortSignal) {
  let next = timeline.next().value
  let sent = 0
  return async (toMs: number): Promise<number> => {
    while (next.timeMs <= toMs && !signal.aborted) {
      const records: ShopRecord[] = []
      const untilMs = Math.min(toMs, next.timeMs + REQUEST_SPAN_MS)
      for (; next.timeMs <= untilMs && records.length < MAX_RECORDS_OF_REQUEST; next = timeline.next().value) records.push(next)
      await collector.send(records, signal)
      sent += records.length
    }
    return sent
  }
}
