import type { AnyValue, KeyValue } from '../../otlp/payload.ts'

/**
 * How a double without a fraction is written: `plain` as JSON.parse would read it back (a body shown to people),
 * `typed` with `.0`, so that a search store never takes a double field for an integer one.
 */
export type DoubleStyle = 'plain' | 'typed'

/** The compact JSON text of an OTLP value: plain JSON (`{"a":1}`), 64-bit integers without loss; an empty value is `null`. */
export function anyValueJson(value: AnyValue | undefined, doubles: DoubleStyle): string {
  if (value === undefined) return 'null'
  if (value.stringValue !== undefined) return JSON.stringify(value.stringValue)
  if (value.intValue !== undefined) return integerJson(value.intValue)
  if (value.doubleValue !== undefined) return doubleJson(value.doubleValue, doubles)
  if (value.boolValue !== undefined) return value.boolValue ? 'true' : 'false'
  if (value.arrayValue !== undefined) return `[${(value.arrayValue.values ?? []).map(item => anyValueJson(item, doubles)).join(',')}]`
  if (value.kvlistValue !== undefined) return mapJson(value.kvlistValue.values ?? [], doubles)
  return value.bytesValue === undefined ? 'null' : JSON.stringify(standardBase64(value.bytesValue))
}

function mapJson(entries: readonly KeyValue[], doubles: DoubleStyle): string {
  const members = new Map<string, string>()
  for (const { key = '', value } of entries) members.set(key, anyValueJson(value, doubles))
  let text = ''
  for (const [key, json] of members) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${json}`
  return `{${text}}`
}

const PLAIN_INTEGER = /^-?[1-9]\d*$/

function integerJson(value: string | number): string {
  const text = String(value)
  return text === '0' || PLAIN_INTEGER.test(text) ? text : BigInt(text).toString()
}

/** A double as JSON text; a string for what JSON has no number for. */
export function doubleJson(value: string | number, style: DoubleStyle): string {
  const number = Number(value)
  // JSON has no NaN and no infinities: they stay the strings that OTLP JSON uses.
  if (!Number.isFinite(number)) return JSON.stringify(String(number))
  const text = String(number)
  return style === 'typed' && Number.isInteger(number) && !text.includes('e') ? `${text}.0` : text
}

/** The standard alphabet with padding, whichever form was sent, so that equal bytes give equal text. */
function standardBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('base64')
}
