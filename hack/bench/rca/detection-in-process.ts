/** Detection of labelled faults without servers: what the bridge does, in one process, over the records that `benchDetection` sends. */
import { BridgeInProcess } from './bridge-in-process.ts'
import { type DetectedFault, printDetection, RESOLVED_AT } from './detection.ts'
import { BASELINES, type BaselineKind, createTimelines, MINUTE_MS, type TimedRecord, toRequest } from './fault-timeline.ts'
import type { FaultData, LabelledFault } from './labelled-faults.ts'

const RECORDS_AT_ONCE = 200
const AFTER_MS = 3 * MINUTE_MS
const TENANT = 'detect'
const AT_MS = Date.UTC(2026, 0, 1, 12)

export function measureDetection(data: FaultData, faults: readonly LabelledFault[], kinds: readonly BaselineKind[] = BASELINES): void {
  const timelines = createTimelines(data)
  for (const kind of kinds)
    printDetection(
      kind,
      faults.map(fault => {
        const records = timelines.of(fault, kind).filter(({ offsetMs }) => offsetMs < AFTER_MS)
        return { fault, touched: timelines.touched(fault), ...detect(records) }
      }),
    )
}

function detect(records: readonly TimedRecord[]): Pick<DetectedFault, 'seen' | 'recurring'> {
  const bridge = new BridgeInProcess({ tenant: TENANT })
  let isResolved = false
  for (let from = 0; from < records.length; from += RECORDS_AT_ONCE) {
    const chunk = records.slice(from, from + RECORDS_AT_ONCE)
    if (!isResolved && chunk[0]!.offsetMs >= RESOLVED_AT * MINUTE_MS) {
      isResolved = true
      bridge.resolveAll()
    }
    bridge.take(toRequest(chunk, TENANT, AT_MS), AT_MS + chunk.at(-1)!.offsetMs)
  }
  const all = [...bridge.incidents]
  return {
    seen: new Map(
      all
        .filter(([, { recurring }]) => !recurring)
        .map(([id, { service, loudMs }]) => {
          const minute = loudMs < AT_MS ? 0 : Math.floor((loudMs - AT_MS) / MINUTE_MS) + 1
          return [id, { incident: { service }, minute }]
        }),
    ),
    recurring: all.filter(([, { recurring }]) => recurring).length,
  }
}
