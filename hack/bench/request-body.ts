/** Request bodies encoded once, whose records become new ones by overwriting a few bytes of fixed width. */
import { encodeProtobuf } from './encode-protobuf.ts'
import { type GeneratedRecord, generateRequests, PODS } from './generator.ts'
import { Random } from './random.ts'

export type Encoding = 'json' | 'protobuf'

/** Where the parts of one record lie that are overwritten before each sending. */
interface Slots {
  readonly times: readonly number[]
  /** Trace id, span id, session or order number. */
  readonly ids: readonly { readonly at: number; readonly bytes: number; readonly asHex: boolean }[]
}

export interface RequestBody {
  readonly bytes: Buffer
  readonly records: number
  /** Gives every record times from `fromUnixNano` on, 1 ns apart, and new random ids. */
  renew(fromUnixNano: bigint): void
}

/** Bodies that together hold about `distinctRecords` records of different content. */
export function buildRequestBodies(
  encoding: Encoding,
  recordsPerRequest: number,
  distinctRecords: number,
  seed = 1,
  podCount = PODS,
): RequestBody[] {
  const count = Math.max(8, Math.ceil(distinctRecords / recordsPerRequest))
  return generateRequests(count, recordsPerRequest, seed, podCount).map((request, i) => {
    const records = request.resourceLogs[0].scopeLogs[0].logRecords
    const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(request)) : encodeProtobuf(request)
    return createBody(encoding, bytes, findSlots(encoding, bytes, records), new Random(seed * 1_000_003 + i))
  })
}

const TIME_KEYS = { json: ['"timeUnixNano":"', '"observedTimeUnixNano":"'], protobuf: ['\x09', '\x59'] } as const

function findSlots(encoding: Encoding, bytes: Buffer, records: readonly GeneratedRecord[]): Slots[] {
  let from = 0
  const find = (what: Buffer): number => {
    const at = bytes.indexOf(what, from)
    if (at < 0) throw new Error(`${what.toString('latin1')} is missing from a generated request`)
    return at
  }
  return records.map(record => {
    const [timeKey, observedKey] = TIME_KEYS[encoding].map(key => Buffer.from(key, 'latin1'))
    const value = encoding === 'json' ? Buffer.from(record.timeUnixNano) : littleEndian(BigInt(record.timeUnixNano))
    const time = find(Buffer.concat([timeKey!, value])) + timeKey!.length
    from = time
    const observed = find(Buffer.concat([observedKey!, value])) + observedKey!.length
    const number = /(?:session=|ord-)([0-9a-f]+)/.exec(record.body.stringValue)?.[1]
    const ids = [
      ...(number === undefined ? [] : [{ at: find(Buffer.from(number)), bytes: number.length / 2, asHex: true }]),
      ...[record.traceId, record.spanId].flatMap(id =>
        id === undefined
          ? []
          : [{ at: find(Buffer.from(id, encoding === 'json' ? 'utf8' : 'hex')), bytes: id.length / 2, asHex: encoding === 'json' }],
      ),
    ]
    from = Math.max(time, observed, ...ids.map(id => id.at))
    return { times: [time, observed], ids }
  })
}

function createBody(encoding: Encoding, bytes: Buffer, slots: readonly Slots[], random: Random): RequestBody {
  const writeTime =
    encoding === 'json' ? writeDecimal : (target: Buffer, at: number, time: bigint) => void target.writeBigUInt64LE(time, at)
  return {
    bytes,
    records: slots.length,
    renew(fromUnixNano) {
      let time = fromUnixNano
      for (const { times, ids } of slots) {
        for (const at of times) writeTime(bytes, at, time)
        for (const id of ids) writeRandom(bytes, id.at, id.bytes, id.asHex, random)
        time += 1n
      }
    },
  }
}

const HEX = Buffer.from('0123456789abcdef')

function writeRandom(target: Buffer, from: number, length: number, asHex: boolean, random: Random): void {
  let at = from
  for (let i = 0; i < length; i += 4) {
    let word = random.uint32()
    for (let k = i; k < Math.min(length, i + 4); k += 1, word >>>= 8) {
      if (asHex) {
        target[at++] = HEX[(word >>> 4) & 15]!
        target[at++] = HEX[word & 15]!
      } else target[at++] = word & 255
    }
  }
}

/** Writes 19 digits without making a string: two numbers of 10 and 9 digits. */
function writeDecimal(target: Buffer, at: number, time: bigint): void {
  writeDigits(target, at, 10, Number(time / 1_000_000_000n))
  writeDigits(target, at + 10, 9, Number(time % 1_000_000_000n))
}

function writeDigits(target: Buffer, at: number, width: number, value: number): void {
  let rest = value
  for (let i = at + width - 1; i >= at; i -= 1) {
    target[i] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

function littleEndian(value: bigint): Buffer {
  const out = Buffer.alloc(8)
  out.writeBigUInt64LE(value)
  return out
}
