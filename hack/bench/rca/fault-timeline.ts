/** A labelled fault with fifteen fault-free minutes before it, in the order of time, to be sent part by part: for detection, which sees records as they come. */
import { hash } from 'node:crypto'
import type { ExportRequest, FaultData, LabelledFault, LogRecord } from './labelled-faults.ts'

export const MINUTE_MS = 60_000
const FAULT_FREE_MS = 15 * MINUTE_MS
/** Minutes before an injection that are shorter than this are not used for other faults. */
const MIN_FAULT_FREE_MS = 40_000

/**
 * Where the fifteen minutes come from. `recorded`: the two minutes that are labelled fault-free, by turns. `own minute`: the same, the last minute or two
 * those of the fault's own file before the injection, some with failures of their own. `varied`: those, the two recorded minutes and the minute before the
 * injection of each other fault, each once.
 */
export const BASELINES = ['recorded', 'own minute', 'varied'] as const
export type BaselineKind = (typeof BASELINES)[number]

export interface TimedRecord {
  /** From the injection. */
  readonly offsetMs: number
  readonly source: SourceRecord
  /** Makes trace ids fresh; '': as they are. */
  readonly salt: string
}

interface SourceRecord {
  readonly timeMs: number
  readonly service: string
  readonly resource: ExportRequest['resourceLogs'][number]['resource']
  readonly record: LogRecord
}

export function createTimelines(data: FaultData) {
  const files = new Map<string, readonly SourceRecord[]>()
  const read = (file: string) => {
    const known = files.get(file) ?? readFile(data, file)
    files.set(file, known)
    return known
  }
  /** The last fault-free minute of a file; its records with their time from the minute's start. */
  const minuteBefore = ({ file, injectedAtMs }: LabelledFault) =>
    read(file).flatMap(source => within(source, source.timeMs - injectedAtMs + MINUTE_MS))
  /** All of a recorded file, by the minute that has most of it: some records come long before or after. */
  const recordedMinute = (file: string) => read(file).map(source => ({ source, inMinuteMs: source.timeMs - densestMinute(read(file)) }))
  const minutesFor = (fault: LabelledFault, kind: BaselineKind) => {
    const recorded = data.normal.map(recordedMinute)
    if (kind !== 'varied') return recorded
    const at = data.faults.indexOf(fault)
    const others = [...data.faults.slice(at + 1), ...data.faults.slice(0, at)].map(minuteBefore)
    return [...recorded, ...others.filter(minute => minute.length > 0 && MINUTE_MS - minute[0]!.inMinuteMs >= MIN_FAULT_FREE_MS)]
  }
  return {
    /** In the order of time. */
    of(fault: LabelledFault, kind: BaselineKind): readonly TimedRecord[] {
      const own = read(fault.file).map(source => ({ offsetMs: source.timeMs - fault.injectedAtMs, source, salt: '' }))
      const ownFromMs = kind === 'recorded' ? 0 : Math.max(own[0]!.offsetMs, -FAULT_FREE_MS)
      const minutes = minutesFor(fault, kind)
      const before = Array.from({ length: Math.ceil((FAULT_FREE_MS + ownFromMs) / MINUTE_MS) }, (_, n) =>
        minutes[n % minutes.length]!.map(({ inMinuteMs, source }) => ({
          offsetMs: ownFromMs - (n + 1) * MINUTE_MS + inMinuteMs,
          source,
          salt: `${n}`,
        })),
      )
      const calm = before.flat().filter(({ offsetMs }) => offsetMs < ownFromMs)
      return [...calm, ...own.filter(({ offsetMs }) => offsetMs >= ownFromMs)].sort((a, b) => a.offsetMs - b.offsetMs)
    },
    /** The fault's service, and those that have records in a trace with it after the injection: requests that the fault touches. */
    touched(fault: LabelledFault): ReadonlySet<string> {
      const after = read(fault.file).filter(({ timeMs }) => timeMs >= fault.injectedAtMs)
      const traces = new Set(after.filter(({ service }) => service === fault.service).map(({ record }) => record.traceId))
      return new Set([fault.service, ...after.filter(({ record }) => traces.has(record.traceId)).map(({ service }) => service)])
    },
  }
}

function within(source: SourceRecord, inMinuteMs: number) {
  return inMinuteMs >= 0 && inMinuteMs < MINUTE_MS ? [{ source, inMinuteMs }] : []
}

/** Where the minute with most of the records begins; they are in the order of time. */
function densestMinute(records: readonly SourceRecord[]): number {
  let [best, most] = [0, 0]
  for (let from = 0, to = 0; from < records.length; from++) {
    while (to < records.length && records[to]!.timeMs < records[from]!.timeMs + MINUTE_MS) to++
    if (to - from > most) [best, most] = [records[from]!.timeMs, to - from]
  }
  return best
}

/** Records with a usable time, in its order. */
function readFile(data: FaultData, file: string): readonly SourceRecord[] {
  const records = data
    .read(file)
    .flatMap(({ resourceLogs }) =>
      resourceLogs.flatMap(({ resource, scopeLogs }) =>
        scopeLogs.flatMap(({ logRecords }) =>
          logRecords.map(record => ({ timeMs: Number(record.timeUnixNano) / 1e6, service: serviceOf(resource), resource, record })),
        ),
      ),
    )
  return records.filter(({ timeMs }) => timeMs > 0).sort((a, b) => a.timeMs - b.timeMs)
}

function serviceOf({ attributes }: SourceRecord['resource']): string {
  return String(Object.values(attributes.find(({ key }) => key === 'service.name')?.value ?? {})[0])
}

/** A request with the records of one service each in a `resourceLogs` of its own, as the tenant's. */
export function toRequest(records: readonly TimedRecord[], tenant: string, atMs: number): string {
  const resourceLogs = records.map(({ offsetMs, source: { resource, record }, salt }) => ({
    resource: { attributes: [...resource.attributes, { key: 'tenant_id', value: { stringValue: tenant } }] },
    scopeLogs: [
      {
        logRecords: [
          {
            ...record,
            observedTimeUnixNano: undefined,
            // Nanoseconds of the original, so that the order within a millisecond stays.
            timeUnixNano: `${BigInt(Math.floor(atMs + offsetMs)) * 1_000_000n + (BigInt(record.timeUnixNano) % 1_000_000n)}`,
            ...(salt !== '' &&
              record.traceId !== undefined && { traceId: hash('sha256', `${salt} ${record.traceId}`, 'hex').slice(0, 32) }),
          },
        ],
      },
    ],
  }))
  return JSON.stringify({ resourceLogs })
}
