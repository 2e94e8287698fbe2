/** Sends a labelled fault with fault-free minutes before it through the front door: times moved to the present, fresh trace ids, a tenant of its own. */
import { hash } from 'node:crypto'
import type { ExportRequest, FaultData, LabelledFault, LogRecord } from './labelled-faults.ts'
import { postJson } from './post-json.ts'

const MINUTE_MS = 60_000
const NORMAL_MINUTES = 15
/** The window after the injection, and a little more. */
const AFTER_MS = 3.5 * MINUTE_MS

export interface Replay {
  readonly tenant: string
  /** When the fault was injected, moved to the present. */
  readonly atMs: number
  readonly records: number
}

/** Resolves when the collector has accepted all. */
export async function replayFault(data: FaultData, fault: LabelledFault, collector: string, nowMs: number): Promise<Replay> {
  const tenant = fault.file.replace(/\..*$/, '').toLowerCase()
  const atMs = nowMs - AFTER_MS
  const requests = data.read(fault.file)
  const firstMs = firstTime(requests)
  let records = await send(collector, requests, { tenant, shiftMs: atMs - fault.injectedAtMs, salt: '' })
  for (let minute = 0; minute < NORMAL_MINUTES; minute++) {
    const normal = data.read(data.normal[minute % data.normal.length]!)
    const startMs = atMs - (fault.injectedAtMs - firstMs) - (minute + 1) * MINUTE_MS
    records += await send(collector, normal, { tenant, shiftMs: startMs - firstTime(normal), salt: `${minute}` })
  }
  return { tenant, atMs, records }
}

interface Change {
  readonly tenant: string
  readonly shiftMs: number
  /** Makes trace ids fresh; '': as they are. */
  readonly salt: string
}

async function send(collector: string, requests: readonly ExportRequest[], change: Change): Promise<number> {
  let records = 0
  // A few requests in one: fewer round trips.
  for (let at = 0; at < requests.length; at += 5) {
    const resourceLogs = requests.slice(at, at + 5).flatMap(request => request.resourceLogs)
    for (const { resource, scopeLogs } of resourceLogs) {
      resource.attributes.push({ key: 'tenant_id', value: { stringValue: change.tenant } })
      for (const { logRecords } of scopeLogs) for (const record of logRecords) move(record, change)
      records += scopeLogs.reduce((sum, { logRecords }) => sum + logRecords.length, 0)
    }
    await postJson(`${collector}/v1/logs`, JSON.stringify({ resourceLogs }))
  }
  return records
}

function move(record: LogRecord, { shiftMs, salt }: Change): void {
  if (Number(record.timeUnixNano) > 0) record.timeUnixNano = String(BigInt(record.timeUnixNano) + BigInt(Math.round(shiftMs)) * 1_000_000n)
  delete record.observedTimeUnixNano
  if (salt !== '' && record.traceId !== undefined && record.traceId !== '')
    record.traceId = hash('sha256', `${salt} ${record.traceId}`, 'hex').slice(0, 32)
}

function firstTime(requests: readonly ExportRequest[]): number {
  let first = Number.POSITIVE_INFINITY
  for (const { resourceLogs } of requests)
    for (const { scopeLogs } of resourceLogs)
      for (const { logRecords } of scopeLogs)
        for (const { timeUnixNano } of logRecords) if (Number(timeUnixNano) > 0) first = Math.min(first, Number(timeUnixNano) / 1e6)
  return first
}
