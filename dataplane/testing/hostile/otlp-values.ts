/** Values in log records over which a reader stumbles: names, texts, numbers, times, and values inside each other. */
import type { AnyValue, KeyValue, LogRecord, ResourceLogs } from '../../otlp/payload.ts'
import { ODD_NAMES, ODD_TEXTS } from './odd-values.ts'
import type { SeededRandom } from './seeded-random.ts'

/** Odd names, and names that mean something to this project. */
export const NAMES = [
  ...ODD_NAMES,
  ...[
    'tenant_id',
    'tenant.id',
    'is_anomaly',
    'is.anomaly',
    'anomaly_score',
    'anomaly.score',
    'log_id',
    'log.id',
    'document_id',
    'index_day',
  ],
  ...['ml_error_rate_1h', 'ml.error.rate.1h', 'enriched', '@timestamp', 'timestamp', 'nanos', 'time_unix_nano', 'pattern', 'pattern_id'],
  ...[
    'message',
    'level',
    'service',
    'service.name',
    'service_name',
    'host',
    'host.name',
    'trace_id',
    'severity_text',
    'batch_id',
    'region',
  ],
  ...[
    'attributes',
    'attributes.attributes',
    '_id',
    '_source',
    '_index',
    '_type',
    '_routing',
    'record.ordinal',
    'record',
    'otel.scope.name',
  ],
]

const TEXTS = [
  ...ODD_TEXTS,
  ...['java.lang.OutOfMemoryError: Java heap space', 'connection refused', 'upstream timed out', 'disk full', 'FATAL: segfault at 0x0'],
]

export const TIMES: readonly (string | number)[] = [
  ...['0', '1', '999999', '1000000', '-1', '-6795364578871345152', '9223372036854775807', '9223372036854775808', '18446744073709551615'],
  ...['253402300800000000000', '4102444800000000000', '18446744073709551616', '00', '1.5', '1e18', '', 'abc', ' 1', '0x10', '１'],
  ...[0, 1, -1, 1.5, 1e18, 1.7e18, 1e300, Number.MAX_SAFE_INTEGER],
]

const SEVERITIES = ['INFO', 'error', 'FATAL', 'CRITICAL', 'warning', '', 'constructor', '__proto__', 'İNFO', 'x'.repeat(300)]

/** A time within three seconds, as the times of most real records are close together. */
function usualTime(random: SeededRandom): string {
  return `${1_790_000_000 + random.below(3)}${random.chance(0.5) ? '000000000' : String(random.below(1e9)).padStart(9, '0')}`
}

export function nameOf(random: SeededRandom): string {
  if (random.chance(0.6)) return random.pick(NAMES)
  return random.chance(0.9) ? `key.${random.below(5_000)}` : random.pick(NAMES).repeat(random.mostlySmall(1, 40))
}

export function textOf(random: SeededRandom): string {
  if (random.chance(0.9)) return random.pick(TEXTS)
  return random.pick(TEXTS).repeat(random.mostlySmall(1, 2_000)).slice(0, random.mostlySmall(1, 70_000))
}

/** At most `levels` deep. */
export function anyValueOf(random: SeededRandom, levels: number): AnyValue {
  const kind = random.below(levels > 0 ? 9 : 6)
  if (kind < 2) return { stringValue: textOf(random) }
  if (kind === 2) return { intValue: random.pick<string | number>(['0', '-1', 7, '9223372036854775807', '-9223372036854775808', 2 ** 53]) }
  if (kind === 3)
    return { doubleValue: random.pick<string | number>([0, -0, 1, 1.5, 1e300, 5e-324, -1e21, 'NaN', 'Infinity', '-Infinity', '1e5']) }
  if (kind === 4) return { boolValue: random.chance(0.5) }
  if (kind === 5) return random.chance(0.5) ? {} : { bytesValue: random.bytes(random.below(40)).toString('base64') }
  if (kind === 6) return { arrayValue: { values: random.list(random.below(4), () => anyValueOf(random, levels - 1)) } }
  return { kvlistValue: { values: attributesOf(random, random.below(4), levels - 1) } }
}

export function attributesOf(random: SeededRandom, count: number, levels = 3): KeyValue[] {
  return random.list(count, () => ({ key: nameOf(random), value: anyValueOf(random, levels) }))
}

/** Lists and maps so many levels inside each other. */
export function nestedValue(random: SeededRandom, levels: number, keyLength: number): AnyValue {
  let value: AnyValue = { intValue: '1' }
  for (let i = 1; i < levels; i++) {
    const inner = value
    value = random.chance(0.3)
      ? { arrayValue: { values: [inner] } }
      : {
          kvlistValue: { values: [{ key: 'k'.repeat(keyLength), value: inner }, ...(random.chance(0.1) ? [{ key: 'k', value: {} }] : [])] },
        }
  }
  return value
}

export function recordOf(random: SeededRandom): LogRecord {
  const time = () => (random.chance(0.8) ? usualTime(random) : random.pick(TIMES))
  return {
    ...(random.chance(0.85) && { timeUnixNano: time() }),
    ...(random.chance(0.4) && { observedTimeUnixNano: time() }),
    ...(random.chance(0.7) && { severityText: random.pick(SEVERITIES) }),
    ...(random.chance(0.5) && { severityNumber: random.pick([0, 1, 9, 17, 21, 24, 25, -1, 2 ** 31 - 1, -(2 ** 31)]) }),
    ...(random.chance(0.9) && { body: random.chance(0.8) ? { stringValue: textOf(random) } : anyValueOf(random, 4) }),
    ...(random.chance(0.6) && { attributes: attributesOf(random, random.mostlySmall(1, 20)) }),
    ...(random.chance(0.3) && { traceId: random.pick([random.hex(32), '0'.repeat(32), 'A'.repeat(32), random.hex(31), '']) }),
    ...(random.chance(0.3) && { spanId: random.pick([random.hex(16), '0'.repeat(16), random.hex(32)]) }),
    ...(random.chance(0.1) && { eventName: textOf(random) }),
    ...(random.chance(0.1) && { flags: random.pick([0, 1, 2 ** 32 - 1]), droppedAttributesCount: random.below(5) }),
  }
}

/** `tenant` and `service` stand in the resource where they are given. */
export function groupOf(random: SeededRandom, records: readonly LogRecord[], tenant?: string, service?: string): ResourceLogs {
  const own = (key: string, text: string | undefined) => (text === undefined ? [] : [{ key, value: { stringValue: text } }])
  return {
    resource: { attributes: [...own('tenant_id', tenant), ...own('service.name', service), ...attributesOf(random, random.below(3))] },
    scopeLogs: [{ ...(random.chance(0.5) && { scope: { name: textOf(random), version: '1' } }), logRecords: records }],
  }
}
