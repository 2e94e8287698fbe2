/** Labelled faults as the rules see them, without a store between: for the many variants of a fault that say how well the rules generalise. */
import { hash } from 'node:crypto'
import { buildPattern } from '../../../dataplane/domain/records/pattern.ts'
import type { Observation } from '../../../dataplane/domain/root-cause/observed/observation.ts'
import { buildTemplate, statementWords } from '../../../dataplane/domain/root-cause/observed/template.ts'
import type { ExportRequest, FaultData, LabelledFault } from './labelled-faults.ts'

export const MINUTE_MS = 60_000

export interface Reading {
  /** Templates by the words of the message, as if no record named its call site. */
  readonly withoutSites?: boolean
}

/** Reads files once each. */
export function createFaultReader(data: FaultData, { withoutSites = false }: Reading = {}) {
  const files = new Map<string, readonly Observation[]>()
  const read = (file: string): readonly Observation[] => {
    let found = files.get(file)
    if (found === undefined) {
      found = data.read(file).flatMap(request => toObservations(request, withoutSites))
      files.set(file, found)
    }
    return found
  }
  return {
    /** All of a fault's file. */
    ofFault: (fault: LabelledFault) => read(fault.file),
    /** As `replayFault` sends it: the fault's records and `minutes` fault-free ones before it, the recorded ones by turns with fresh trace ids. */
    withBaseline(fault: LabelledFault, minutes = 15, normal = data.normal): readonly Observation[] {
      const records = read(fault.file)
      const firstMs = firstTime(records)
      return [
        ...records,
        ...Array.from({ length: minutes }, (_, minute) => {
          const before = read(normal[minute % normal.length]!)
          return moved(before, firstMs - (minute + 1) * MINUTE_MS - firstTime(before), `${minute}`)
        }).flat(),
      ]
    },
  }
}

/** Records at another time, as other requests. */
export function moved(records: readonly Observation[], byMs: number, salt: string): readonly Observation[] {
  return records.map(each => ({
    ...each,
    timeMs: each.timeMs + byMs,
    traceId: each.traceId === '' ? '' : `${salt} ${each.traceId}`,
    logId: `${salt} ${each.logId}`,
  }))
}

function firstTime(records: readonly Observation[]): number {
  return records.reduce((first, { timeMs }) => (timeMs > 0 ? Math.min(first, timeMs) : first), Number.POSITIVE_INFINITY)
}

function toObservations({ resourceLogs }: ExportRequest, withoutSites: boolean): readonly Observation[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) => {
    const service = attributesOf(resource)('service.name')
    return scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map(record => {
        const message = String((record['body'] as { stringValue?: string } | undefined)?.stringValue ?? '')
        const { id, text } = buildPattern(message)
        return {
          timeMs: Number(record.timeUnixNano) / 1e6,
          service: String(service),
          traceId: record.traceId ?? '',
          spanId: String(record['spanId'] ?? ''),
          template: buildTemplate(statementWords(text), withoutSites ? () => undefined : attributesOf(record)),
          isError: ['ERROR', 'FATAL'].includes(String(record['severityText'])),
          logId: hash('sha1', `${record.timeUnixNano} ${record.traceId} ${message}`, 'hex'),
          patternId: id,
          pattern: text,
        }
      }),
    )
  })
}

interface WithAttributes {
  readonly attributes?: readonly { readonly key: string; readonly value: object }[]
}

function attributesOf(of: object): (key: string) => unknown {
  const { attributes = [] } = of as WithAttributes
  return key => Object.values(attributes.find(attribute => attribute.key === key)?.value ?? {})[0]
}
