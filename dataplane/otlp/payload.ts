/**
 * OTLP logs in their JSON form, as they stand on `raw-logs` (Spec: OTLP log payload; opentelemetry/proto/logs/v1).
 *
 * The collector has checked the types and made the form canonical, so that `JSON.parse` reads it without loss:
 * field names are camelCase, no known field is `null`, integers beyond 2^53 are strings, no string holds a lone
 * surrogate. Ids are forwarded as received: a reader checks length and hex digits itself. Unknown fields may be present.
 */

/** A 64-bit integer: a decimal string, or a number that is exact. */
export type Int64 = string | number

/** At most one kind is set; none is the empty value. */
export interface AnyValue {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: Int64
  /** A string for `NaN`, `Infinity`, `-Infinity` (and for a client that quotes its numbers). */
  readonly doubleValue?: number | string
  readonly arrayValue?: { readonly values?: readonly AnyValue[] }
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] }
  /** Base64, standard or URL alphabet, padding optional. */
  readonly bytesValue?: string
}

/** Keys may repeat in a list: the last wins. */
export interface KeyValue {
  readonly key?: string
  readonly value?: AnyValue
}

export interface Resource {
  readonly attributes?: readonly KeyValue[]
  readonly droppedAttributesCount?: number | string
}

export interface InstrumentationScope {
  readonly name?: string
  readonly version?: string
  readonly attributes?: readonly KeyValue[]
  readonly droppedAttributesCount?: number | string
}

export interface LogRecord {
  /** Nanoseconds since the Unix epoch, unsigned; 0 or absent: unknown. */
  readonly timeUnixNano?: Int64
  /** As `timeUnixNano`. A record from the collector has at least one of the two. */
  readonly observedTimeUnixNano?: Int64
  /** 1 to 24 by the specification; any 32-bit integer may arrive. */
  readonly severityNumber?: number
  readonly severityText?: string
  readonly body?: AnyValue
  readonly attributes?: readonly KeyValue[]
  readonly droppedAttributesCount?: number | string
  readonly flags?: number | string
  /** 32 hex digits of either case; anything else counts as absent. */
  readonly traceId?: string
  /** 16 hex digits of either case; anything else counts as absent. */
  readonly spanId?: string
  readonly eventName?: string
}

export interface ScopeLogs {
  readonly scope?: InstrumentationScope
  readonly logRecords?: readonly LogRecord[]
  readonly schemaUrl?: string
}

export interface ResourceLogs {
  readonly resource?: Resource
  readonly scopeLogs?: readonly ScopeLogs[]
  readonly schemaUrl?: string
}

/** An `ExportLogsServiceRequest`, and every message on `raw-logs`. */
export interface LogsPayload {
  readonly resourceLogs?: readonly ResourceLogs[]
}
