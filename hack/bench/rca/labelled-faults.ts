/** Real logs with known faults: OTLP JSON lines, gzipped, with their labels in `labels.json`. The data is not part of this repository. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

export interface LabelledFault {
  readonly file: string
  readonly type: string
  readonly service: string
  readonly injectedAtMs: number
}

interface Label {
  readonly file: string
  readonly fault: { readonly injectedAt: string; readonly service: string; readonly type: string } | null
}

export interface LogRecord {
  timeUnixNano: string
  observedTimeUnixNano?: string
  traceId?: string
  [field: string]: unknown
}

export interface ExportRequest {
  readonly resourceLogs: {
    readonly resource: { readonly attributes: { readonly key: string; readonly value: object }[] }
    readonly scopeLogs: { readonly logRecords: LogRecord[] }[]
  }[]
}

export interface FaultData {
  readonly faults: readonly LabelledFault[]
  /** Files of one fault-free minute each. */
  readonly normal: readonly string[]
  /** A fresh copy of the requests of a file. */
  read(file: string): readonly ExportRequest[]
}

/** Throws an error that says what to set when the data is not there. */
export function openFaultData(directory: string): FaultData {
  const labelsFile = join(directory, 'labels.json')
  if (!existsSync(labelsFile))
    throw new Error(
      `no labels.json in ${directory}: name the folder of the labelled logs with --data or RCA_DATA (not part of this repository)`,
    )
  const labels = JSON.parse(readFileSync(labelsFile, 'utf8')) as readonly Label[]
  const texts = new Map<string, readonly string[]>()
  return {
    faults: labels.flatMap(({ file, fault }) =>
      fault === null ? [] : [{ file, type: fault.type, service: fault.service, injectedAtMs: Date.parse(fault.injectedAt) }],
    ),
    normal: labels.filter(({ fault }) => fault === null).map(({ file }) => file),
    read(file) {
      let lines = texts.get(file)
      if (lines === undefined) {
        lines = gunzipSync(readFileSync(join(directory, file)))
          .toString()
          .split('\n')
          .filter(line => line !== '')
        texts.set(file, lines)
      }
      return lines.map(line => JSON.parse(line) as ExportRequest)
    },
  }
}
