import { doubleJson } from '../../domain/any-value.ts'
import type { KeyValue, LogRecord } from '../../otlp/payload.ts'
import type { AttributeShape, AttributeShapes } from './attribute-shape.ts'

/** A log record without anything unusual: its message a text, its attributes texts, numbers and booleans. */
export interface OrdinaryRecord {
  readonly timeUnixNano: string | number | undefined
  readonly observedTimeUnixNano: string | number | undefined
  readonly severityText: string | undefined
  readonly severityNumber: number | undefined
  readonly traceId: string | undefined
  readonly spanId: string | undefined
  readonly message: string
  readonly shape: AttributeShape
  /** Values of the attributes as JSON text, in the order of the shape's keys. */
  readonly values: readonly string[]
}

/** A parsed record as an ordinary one; undefined when it is none. */
export function toOrdinary(value: unknown, shapes: AttributeShapes): OrdinaryRecord | undefined {
  if (!hasOrdinaryFields(value)) return undefined
  const { timeUnixNano, observedTimeUnixNano, severityText, severityNumber, traceId, spanId, body, attributes = [] } = value
  const values = valuesOf(attributes, severityText)
  const shape = values && shapes.find(attributes, Boolean(severityText))
  if (values === undefined || !shape?.isPlain) return undefined
  const message = body?.stringValue ?? ''
  return { timeUnixNano, observedTimeUnixNano, severityText, severityNumber, traceId, spanId, message, shape, values }
}

function hasOrdinaryFields(value: unknown): value is LogRecord {
  if (typeof value !== 'object' || value === null) return false
  const { body, severityText, severityNumber, traceId, spanId, eventName, attributes } = value as LogRecord
  return (
    (body === undefined || (body !== null && typeof body.stringValue === 'string')) &&
    (severityText === undefined || typeof severityText === 'string') &&
    (severityNumber === undefined || typeof severityNumber === 'number') &&
    (traceId === undefined || typeof traceId === 'string') &&
    (spanId === undefined || typeof spanId === 'string') &&
    (eventName === undefined || eventName === '') &&
    (attributes === undefined || Array.isArray(attributes))
  )
}

/** As JSON text, the severity text last; undefined when one is no text, number or boolean. */
function valuesOf(attributes: readonly KeyValue[], severityText: string | undefined): readonly string[] | undefined {
  const values: string[] = []
  for (let i = 0; i < attributes.length; i++) {
    const json = scalarJson(attributes[i])
    if (json === undefined) return undefined
    values.push(json)
  }
  if (severityText) values.push(textJson(severityText))
  return values
}

function scalarJson(attribute: KeyValue | null | undefined): string | undefined {
  if (typeof attribute?.key !== 'string' || typeof attribute.value !== 'object' || attribute.value === null) return undefined
  const { stringValue, intValue, doubleValue, boolValue } = attribute.value
  if (stringValue !== undefined) return typeof stringValue === 'string' ? textJson(stringValue) : undefined
  if (intValue !== undefined) return typeof intValue === 'string' && SHORT_INTEGER.test(intValue) ? intValue : undefined
  if (doubleValue !== undefined) return typeof doubleValue === 'number' ? doubleJson(doubleValue, 'typed') : undefined
  return typeof boolValue === 'boolean' ? String(boolValue) : undefined
}

/** Such a one stands in JSON as it is. */
const SHORT_INTEGER = /^-?[1-9]\d{0,17}$|^0$/

const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/

/** As `JSON.stringify`, which costs more for a short text. */
function textJson(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`
}
