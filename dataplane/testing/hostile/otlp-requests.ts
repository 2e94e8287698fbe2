/** Requests to the collector's doors as a broken or hostile sender makes them. */
import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { AnyValue, LogRecord, LogsPayload } from '../../otlp/payload.ts'
import { longRun, MANGLES } from './odd-values.ts'
import { anyValueOf, attributesOf, groupOf, NAMES, nameOf, nestedValue, recordOf, TIMES, textOf } from './otlp-values.ts'
import { SeededRandom } from './seeded-random.ts'
import { block, encodePayload, encodeValue, integerField, varint } from './wire-writer.ts'

export interface HostileOtlpRequest {
  readonly door: 'json' | 'protobuf' | 'grpc'
  readonly contentType: string
  /** `content-encoding`, of gRPC `grpc-encoding`. */
  readonly contentEncoding?: string
  /** At most about 1 MB; of gRPC with the length prefix of its message. */
  readonly body: Buffer
  /** The oddness of the request, for a person who reads of a failure. */
  readonly note: string
}

type Door = HostileOtlpRequest['door']
/** A request before it is mangled: the message of a door. */
interface Message {
  readonly bytes: Buffer
  readonly note: string
}

const CONTENT_TYPES: Readonly<Record<Door, string>> = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
  grpc: 'application/grpc',
}
const MAX_WIRE_BYTES = 1 << 20
const BOMB_CHANCE = 0.001

/** Endless; the same for the same seed. A few thousand a minute, of a few KB each but for some large ones. */
export function* hostileOtlpRequests(seed: number): Generator<HostileOtlpRequest, never> {
  const random = new SeededRandom(seed)
  for (;;) yield nextRequest(random)
}

function nextRequest(random: SeededRandom): HostileOtlpRequest {
  const door = random.pick<Door>(['json', 'json', 'protobuf', 'grpc'])
  if (random.chance(BOMB_CHANCE)) return bomb(random, door)
  let { bytes, note } = nextMessage(random, door)
  if (random.chance(0.25)) {
    const mangle = random.pick(Object.keys(MANGLES))
    bytes = MANGLES[mangle]!(random, bytes)
    note = `${note}, ${mangle}`
  }
  if (bytes.length > MAX_WIRE_BYTES) bytes = bytes.subarray(0, MAX_WIRE_BYTES)
  let contentEncoding: string | undefined
  let isPacked = false
  if (random.chance(0.12)) {
    const packed = packedOf(random, door, bytes)
    ;({ contentEncoding, isPacked } = packed)
    bytes = packed.bytes
    note = `${note}, ${packed.note}`
  }
  const contentType = random.chance(0.97)
    ? CONTENT_TYPES[door]
    : random.pick(['application/json; charset=latin1', 'text/plain', 'application/grpc-web', '', 'application/x-protobuf;a=b', '__proto__'])
  return {
    door,
    contentType,
    ...(contentEncoding !== undefined && { contentEncoding }),
    body: door === 'grpc' ? framed(random, bytes, isPacked) : bytes,
    note: `${door}: ${note}`,
  }
}

function nextMessage(random: SeededRandom, door: Door): Message {
  if (random.chance(0.25)) return random.pick(door === 'json' ? JSON_MESSAGES : WIRE_MESSAGES)(random)
  const kind = random.pick(Object.keys(PAYLOADS))
  const payload = PAYLOADS[kind]!(random)
  return { bytes: door === 'json' ? Buffer.from(JSON.stringify(payload)) : encodePayload(payload), note: kind }
}

const request = (random: SeededRandom, records: readonly LogRecord[], tenant?: string): LogsPayload => ({
  resourceLogs: [groupOf(random, records, tenant, random.pick([undefined, 'cart', 'checkout', ...NAMES]))],
})
const timed = (body: AnyValue, attributes: LogRecord['attributes'] = []): LogRecord => ({
  timeUnixNano: '1790000000000000000',
  severityText: 'ERROR',
  body,
  attributes,
})

/** Valid in the main, and meant to be taken. */
const PAYLOADS: Readonly<Record<string, (random: SeededRandom) => LogsPayload>> = {
  'odd records': random =>
    request(
      random,
      random.list(random.mostlySmall(1, 60), () => recordOf(random)),
    ),
  'equal records': random => {
    const record = recordOf(random)
    return request(
      random,
      random.list(random.mostlySmall(2, 400), () => (random.chance(0.9) ? record : recordOf(random))),
    )
  },
  'records of one second': random =>
    request(
      random,
      random.list(random.mostlySmall(2, 400), () => ({ ...recordOf(random), timeUnixNano: '1790000000000000000' })),
    ),
  'absurd times': random =>
    request(
      random,
      random.list(20, () => ({ timeUnixNano: random.pick(TIMES), observedTimeUnixNano: random.pick(TIMES) })),
    ),
  'deep nesting': random => {
    const value = nestedValue(random, random.pick([5, 22, 40, 99, 100, 101, 140]), random.mostlySmall(1, 200))
    return request(random, [random.chance(0.5) ? timed(value) : timed({}, [{ key: nameOf(random), value }]), recordOf(random)])
  },
  'deep nesting on a resource': random => ({
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'k', value: nestedValue(random, random.pick([22, 90, 100]), random.mostlySmall(1, 500)) }] },
        scopeLogs: [{ logRecords: random.list(random.mostlySmall(1, 300), () => timed({ stringValue: 'x' })) }],
      },
    ],
  }),
  'many leaves below long keys': random => {
    const leaves = attributesOf(random, random.mostlySmall(10, 2_000), 0)
    const value = {
      kvlistValue: { values: [{ key: 'p'.repeat(random.mostlySmall(1, 20_000)), value: { kvlistValue: { values: leaves } } }] },
    }
    return request(random, [timed({ stringValue: 'x' }, [{ key: 'q'.repeat(random.mostlySmall(1, 5_000)), value }])])
  },
  'many attributes on a resource above many records': random => ({
    resourceLogs: [
      {
        resource: { attributes: attributesOf(random, random.mostlySmall(10, 3_000), 1) },
        scopeLogs: [{ logRecords: random.list(random.mostlySmall(10, 1_500), i => timed({ stringValue: `line ${i}` })) }],
      },
    ],
  }),
  'huge texts': random => request(random, [timed({ stringValue: textOf(random).repeat(random.mostlySmall(1, 50)).slice(0, 900_000) })]),
  // As the message, in a field that is a number, and in one that is new.
  'long runs': random => {
    const run = { stringValue: longRun(random) }
    const key = random.pick([undefined, 'duration_ms', `run.${random.below(5_000)}`])
    return request(random, [key === undefined ? timed(run) : timed({ stringValue: 'x' }, [{ key, value: run }])])
  },
  'huge keys': random => request(random, [timed({}, [{ key: nameOf(random).repeat(random.mostlySmall(1, 3_000)).slice(0, 200_000) }])]),
  'many tenants': random => ({
    resourceLogs: random.list(random.mostlySmall(2, 200), () =>
      groupOf(
        random,
        [recordOf(random)],
        random.pick([`t-${random.below(1e6)}`, random.pick(NAMES), 'UPPER', '-', 'a'.repeat(64)]),
        'cart',
      ),
    ),
  }),
  'many services': random => ({
    resourceLogs: random.list(random.mostlySmall(2, 300), () =>
      groupOf(random, [timed({ stringValue: 'OOM' })], 'acme', `s-${random.below(1e6)}`),
    ),
  }),
  'many custom keys': random =>
    request(random, [
      timed(
        { stringValue: 'x' },
        random.list(random.mostlySmall(10, 3_000), () => ({ key: `c${random.below(1e7)}`, value: anyValueOf(random, 0) })),
      ),
    ]),
  'one key of many kinds': random =>
    request(
      random,
      random.list(30, () => timed({}, [{ key: 'kind', value: anyValueOf(random, 2) }])),
    ),
  'reserved names in every spelling': random =>
    request(random, [
      timed(
        { stringValue: 'x' },
        NAMES.map(key => ({ key: random.chance(0.3) ? key.replaceAll('_', '.') : key, value: anyValueOf(random, 1) })),
      ),
    ]),
  'empty groups': random => ({
    resourceLogs: random.list(random.mostlySmall(1, 2_000), () => random.pick([{}, { scopeLogs: [] }, { scopeLogs: [{}] }])),
  }),
}

const NUMBERS = [
  '0',
  '-0',
  '0.0',
  '"0.0"',
  '0e0',
  '0.5e1',
  '5e-1',
  '1E400',
  '-1E400',
  '"1e400"',
  '1e999999999',
  '0e999999999',
  '1e-999999999',
  '9e20',
  '9e63',
  '1.7e18',
  '"\\u0035"',
  'null',
  '"0x5"',
  '-1',
  '00',
  '1.',
  '.5',
  '+1',
  'NaN',
  '9'.repeat(400),
  `0.${'0'.repeat(300)}1`,
]
const FIELDS = [
  'timeUnixNano',
  'observedTimeUnixNano',
  'severityNumber',
  'flags',
  'droppedAttributesCount',
  'time_unix_nano',
  'observed_time_unix_nano',
  'severity_number',
  'traceId',
  'body',
  'attributes',
  '__proto__',
  'constructor',
  'unknown',
  '\\u0074imeUnixNano',
  '\\ud800',
  '',
]
const jsonRequest = (record: string) =>
  Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1790000000000000000"},${record}]}]}]}`)
const json = (random: SeededRandom, levels: number): string => {
  const kind = random.below(levels > 0 ? 5 : 3)
  if (kind === 0) return random.pick(NUMBERS)
  if (kind < 3) return JSON.stringify(textOf(random))
  if (kind === 3) return `[${random.list(random.below(4), () => json(random, levels - 1)).join()}]`
  return `{${random.list(random.below(4), () => `"${random.pick(FIELDS)}":${json(random, levels - 1)}`).join()}}`
}

/** JSON that no library writes. */
const JSON_MESSAGES: readonly ((random: SeededRandom) => Message)[] = [
  random => ({
    bytes: jsonRequest(
      random
        .list(
          random.below(6) + 1,
          () => `{${random.list(random.below(5), () => `"${random.pick(FIELDS)}":${random.pick(NUMBERS)}`).join()}}`,
        )
        .join(),
    ),
    note: 'odd numbers',
  }),
  random => ({ bytes: jsonRequest(json(random, 5)), note: 'other kinds than the fields have' }),
  random => ({ bytes: Buffer.from(json(random, 6)), note: 'other JSON' }),
  random => ({ bytes: jsonRequest(`{"unknown":${'['.repeat(random.pick([10, 99, 100, 5_000, 200_000]))}`), note: 'brackets without end' }),
  random => ({
    bytes: jsonRequest(`{"body":${'{"kvlistValue":{"values":[{"key":"a","value":'.repeat(random.pick([50, 100, 2_000]))}`),
    note: 'maps without end',
  }),
  random => ({ bytes: jsonRequest(`{${'"body":null,'.repeat(random.mostlySmall(10, 30_000))}"x":1}`), note: 'null many times' }),
  random => ({
    bytes: jsonRequest(
      `{"body":{"stringValue":"${random.pick(['\\ud800', '\\udc00\\ud800', '\\u0000', '\\', '\\x', '\u0001', '\n']).repeat(random.mostlySmall(1, 3_000))}"}}`,
    ),
    note: 'odd escapes',
  }),
  random => ({
    bytes: Buffer.from(
      random.pick([
        '',
        ' ',
        '{}',
        '[]',
        'null',
        '0',
        '"',
        '{',
        '{"resourceLogs":',
        '\ufeff{}',
        '{"resourceLogs":[]}{}',
        '{"resourceLogs":[],"resource_logs":[]}',
      ]),
    ),
    note: 'next to nothing',
  }),
  random => ({ bytes: jsonRequest(Array(random.mostlySmall(10, 30_000)).fill('{}').join()), note: 'many empty records' }),
]

const unknownField = (random: SeededRandom) => integerField(random.pick([4, 8, 13, 15, 16, 1_000, 2 ** 28]), random.below(1e9))
const wireRecord = (...content: readonly Uint8Array[]) => block(1, block(2, block(2, ...content)))

/** Protobuf that no library writes. */
const WIRE_MESSAGES: readonly ((random: SeededRandom) => Message)[] = [
  random => {
    let value = encodeValue({ intValue: '1' })
    const levels = random.pick([10, 22, 40, 100, 120])
    for (let i = 1; i < levels; i++) {
      const entry = [
        block(2, value),
        block(1, Buffer.from('a')),
        ...(random.chance(0.5) ? [block(1, Buffer.from('b'))] : []),
        unknownField(random),
      ]
      const nested = random.chance(0.5) ? block(6, block(1, ...entry)) : block(5, block(1, value))
      value = Buffer.concat(random.chance(0.5) ? [nested, unknownField(random)] : [unknownField(random), block(5), nested])
    }
    return {
      bytes: wireRecord(block(5, value), block(6, block(2, value), block(1), block(1))),
      note: `fields given twice, ${levels} levels deep`,
    }
  },
  random => ({
    bytes: wireRecord(...random.list(random.mostlySmall(1, 300), () => wireJunk(random))),
    note: 'other wire types than the fields have',
  }),
  random => ({ bytes: random.bytes(random.mostlySmall(1, 3_000)), note: 'random bytes' }),
  random => ({ bytes: Buffer.concat(random.list(random.mostlySmall(1, 3_000), () => unknownField(random))), note: 'many unknown fields' }),
  random => ({
    bytes: block(1, block(1, ...random.list(random.mostlySmall(1, 3_000), () => unknownField(random)))),
    note: 'many unknown fields of a resource',
  }),
  random => ({
    bytes: Buffer.concat([varint(10), varint(random.pick([2n ** 31n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n])), Buffer.alloc(20)]),
    note: 'a length beyond the end',
  }),
  random => ({ bytes: wireRecord(block(5, block(1, random.bytes(random.mostlySmall(1, 4_000))))), note: 'bytes that are not UTF-8' }),
  random => ({ bytes: wireRecord(block(6, block(1, Buffer.alloc(random.mostlySmall(1, 50_000), 0xff)))), note: 'a key that is not UTF-8' }),
  random => ({
    bytes: block(1, block(2, Buffer.alloc(2 * random.mostlySmall(10, 30_000), Buffer.from([0x12, 0])))),
    note: 'many empty records',
  }),
  random => ({ bytes: Buffer.alloc(2 * random.mostlySmall(10, 30_000), Buffer.from([0x0a, 0])), note: 'many empty resources' }),
  () => ({ bytes: Buffer.alloc(0), note: 'nothing' }),
]

function wireJunk(random: SeededRandom): Buffer {
  const tag = varint(random.below(14) * 8 + random.below(8))
  return Buffer.concat([tag, random.chance(0.5) ? random.bytes(random.below(12)) : varint(random.pick([0n, 1n, 127n, 2n ** 64n - 1n]))])
}

const PACKERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: bytes => gzipSync(bytes, { level: 1 }),
  deflate: bytes => deflateSync(bytes, { level: 1 }),
  zstd: bytes => zstdCompressSync(bytes),
}

/** Compressed, or said to be so. */
function packedOf(random: SeededRandom, door: Door, bytes: Buffer) {
  const name = door === 'grpc' ? 'gzip' : random.pick(Object.keys(PACKERS))
  const packed = PACKERS[name]!(bytes)
  switch (random.below(8)) {
    case 0:
      return { bytes, contentEncoding: name, isPacked: true, note: `said to be ${name}` }
    case 1:
      return {
        bytes: packed,
        contentEncoding: random.pick(['gzip', 'zstd', 'deflate', 'br', 'gzip, gzip', '', '__proto__']),
        isPacked: true,
        note: `${name} under another name`,
      }
    case 2:
      return { bytes: packed.subarray(0, random.below(packed.length)), contentEncoding: name, isPacked: true, note: `${name} cut off` }
    case 3:
      return { bytes: Buffer.concat([packed, random.bytes(20)]), contentEncoding: name, isPacked: true, note: `${name} with bytes behind` }
    case 4:
      return { bytes: Buffer.concat([packed, packed]), contentEncoding: name, isPacked: true, note: `${name} twice` }
    case 5:
      return {
        bytes: door === 'grpc' ? packed : deflateRawSync(bytes),
        contentEncoding: door === 'grpc' ? name : 'deflate',
        isPacked: true,
        note: 'raw deflate',
      }
    default:
      return { bytes: packed, contentEncoding: name, isPacked: true, note: name }
  }
}

const PREFIX_BYTES = 5

/** A gRPC message behind its length. */
function framed(random: SeededRandom, bytes: Buffer, isPacked: boolean): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix[0] = random.chance(0.98) ? Number(isPacked) : random.below(256)
  prefix.writeUInt32BE(random.chance(0.97) ? bytes.length : random.pick([0, bytes.length + 1, 2 ** 31, 2 ** 32 - 1]), 1)
  if (random.chance(0.98)) return Buffer.concat([prefix, bytes])
  return random.pick([Buffer.alloc(0), prefix, prefix.subarray(0, 3), Buffer.concat([prefix, bytes, prefix, bytes]), bytes])
}

const bombs = new Map<string, Buffer>()

/** Up to 80 MB that take up little once they are compressed. */
function bomb(random: SeededRandom, door: Door): HostileOtlpRequest {
  const megabytes = random.pick([4, 20, 80])
  const filling = random.pick(Object.keys(FILLINGS))
  const note = `${door}: a bomb of ${megabytes} MB, ${filling}`
  const packed = bombs.get(note) ?? gzipSync(FILLINGS[filling]!(door, megabytes << 20), { level: 1 })
  bombs.set(note, packed)
  return {
    door,
    contentType: CONTENT_TYPES[door],
    contentEncoding: 'gzip',
    body: door === 'grpc' ? framed(random, packed, true) : packed,
    note,
  }
}

const FILLINGS: Readonly<Record<string, (door: Door, bytes: number) => Buffer>> = {
  'zero bytes': (_door, bytes) => Buffer.alloc(bytes),
  spaces: (door, bytes) => (door === 'json' ? jsonRequest(`{"x":${' '.repeat(bytes)}1}`) : Buffer.alloc(bytes, ' ')),
  'one text': (door, bytes) =>
    door === 'json'
      ? jsonRequest(`{"body":{"stringValue":"${'x'.repeat(bytes)}"}}`)
      : wireRecord(block(5, block(1, Buffer.alloc(bytes, 'x')))),
  'small records': (door, bytes) =>
    door === 'json'
      ? jsonRequest(`${'{"severityNumber":9},'.repeat(bytes / 32)}{}`)
      : block(1, block(2, Buffer.alloc(bytes / 8, Buffer.from([0x12, 0])))),
}
