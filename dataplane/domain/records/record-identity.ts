/** Tells equal log records from different ones (Decisions 4). */
import { hash } from 'node:crypto'
import type { AnyValue, InstrumentationScope, KeyValue, LogRecord, Resource } from '../../otlp/payload.ts'
import { anyValueJson } from './any-value.ts'
import { messageOf } from './flat-record.ts'
import { normaliseId } from './log-id.ts'
import { parseUnixNano } from './timestamp.ts'

/**
 * A digest of all in a log record that its document's id is made from beside resource and scope (Decisions 4): equal for records that would
 * have one id, however they are spelled.
 */
export function recordIdentity(record: LogRecord): string {
  return digest([
    normaliseId(record.traceId, 32),
    normaliseId(record.spanId, 16),
    parseUnixNano(record.timeUnixNano) || parseUnixNano(record.observedTimeUnixNano) || '',
    record.severityText ?? '',
    String(record.severityNumber ?? 0),
    record.eventName ?? '',
    messageOf(record.body),
    ...attributeTexts(record.attributes),
  ])
}

/** The same of a resource. */
export function resourceIdentity(resource: Resource = {}): string {
  return digest(attributeTexts(resource.attributes))
}

/** The same of a scope. */
export function scopeIdentity({ name = '', version = '', attributes }: InstrumentationScope = {}): string {
  return digest([name, version, ...attributeTexts(attributes)])
}

/**
 * The values of a flat set of attributes (`flattenAttributes`), each behind a number that stands for its dotted key, in a stable order.
 * Keys are not put together, since each leaf of a map would repeat those around it.
 */
function attributeTexts(attributes: readonly KeyValue[] = []): readonly string[] {
  const values = new Map<number, string>()
  for (const { key = '', value } of attributes) addFlat(values, NO_PATH.with(key), value)
  return [...values].sort(([a], [b]) => a - b).map(([path, json]) => `${path} ${json}`)
}

function addFlat(values: Map<number, string>, path: PathHash, value: AnyValue | undefined): void {
  const nested = value?.kvlistValue?.values
  if (nested === undefined || nested.length === 0) values.set(path.number, anyValueJson(value, 'typed'))
  else for (const entry of nested) addFlat(values, path.with(`.${entry.key ?? ''}`), entry.value)
}

/** A hash of a text of 53 bits that can be gone on with. */
class PathHash {
  readonly #high: number
  readonly #low: number

  constructor(high: number, low: number) {
    this.#high = high
    this.#low = low
  }

  with(text: string): PathHash {
    let high = this.#high
    let low = this.#low
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      high = Math.imul(high ^ unit, 0x85ebca6b)
      low = Math.imul(low ^ unit, 0x9e3779b1)
      high ^= high >>> 13
      low ^= low >>> 15
    }
    return new PathHash(high, low)
  }

  get number(): number {
    return (this.#high >>> 0) * 2 ** 21 + (this.#low >>> 11)
  }
}

const NO_PATH = new PathHash(1, 2)

function digest(texts: readonly string[]): string {
  return hash('sha1', JSON.stringify(texts), 'base64')
}
