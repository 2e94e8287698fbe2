/** One line of a replayed file: an OTLP JSON ExportLogsServiceRequest. */

export type ParsedLine =
  | {
      readonly records: number
      /** Latest time of its records, ns since the epoch; 0n when none has one. */
      readonly newest: bigint
    }
  | { readonly problem: string }

const TIME = /("(?:timeUnixNano|observedTimeUnixNano)"\s*:\s*)("?)(\d+)\2(?![\d.eE])/g

/** Checks a line and counts its records. A record's time is `timeUnixNano`, else `observedTimeUnixNano` (Decisions 4). */
export function parseExportRequest(text: string): ParsedLine {
  let request: unknown
  try {
    // Times written as numbers become strings first: JSON.parse would round them.
    request = JSON.parse(text.replace(TIME, '$1"$3"'))
  } catch (error) {
    return { problem: `not JSON: ${(error as Error).message}` }
  }
  const resourceLogs = field(request, 'resourceLogs')
  if (!Array.isArray(resourceLogs)) return { problem: `resourceLogs: expected an array, got ${kindOf(resourceLogs)}` }
  let records = 0
  let newest = 0n
  for (const record of resourceLogs.flatMap(resource => list(resource, 'scopeLogs')).flatMap(scope => list(scope, 'logRecords'))) {
    records += 1
    const time = timeOf(record)
    if (time > newest) newest = time
  }
  return { records, newest }
}

/** The same line with every time moved by `byNanos`; 0 means "not set" in OTLP and stays. */
export function shiftTimes(text: string, byNanos: bigint): string {
  return text.replace(TIME, (whole, key: string, quote: string, digits: string) => {
    const time = BigInt(digits)
    if (time === 0n) return whole
    const shifted = time + byNanos
    return `${key}${quote}${shifted > 0n ? shifted : 1n}${quote}`
  })
}

function timeOf(record: unknown): bigint {
  for (const name of ['timeUnixNano', 'observedTimeUnixNano']) {
    const text = field(record, name)
    if (typeof text === 'string' && /^\d+$/.test(text) && BigInt(text) > 0n) return BigInt(text)
  }
  return 0n
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

function list(value: unknown, name: string): readonly unknown[] {
  const found = field(value, name)
  return Array.isArray(found) ? found : []
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
