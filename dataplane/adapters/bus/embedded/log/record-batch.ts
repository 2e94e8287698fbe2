/** The body of a frame: records packed and unpacked. */
import { compress, decompress } from '../../../../compression/zstd.ts'
import type { BusRecord, ConsumedRecord } from '../../../../ports/bus.ts'
import { partitionOf } from '../../partitioner.ts'
import { type BusFrameHeader, CODEC, type EncodedFrame, encodeFrame, type SectionSize } from './bus-frame.ts'

/**
 * The body of a frame: key count u32, header-set count u32, the distinct keys (length u32, UTF-8), the distinct header sets
 * (length u32, JSON), one entry per record (key index, header-set index + 1 or 0, value length, each u32), then all values.
 * Keys and header sets repeat from record to record: each is written and decoded once per frame.
 */
const PREFIX_BYTES = 8
const ENTRY_BYTES = 12
/** Below this zstd's fixed cost outweighs what it saves. */
const MIN_COMPRESSED_BYTES = 512
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

/** Upper bound of what a record takes in a frame, bytes before compression. */
export function sizeOf(record: BusRecord): number {
  let size = record.value.length + record.key.length * 3 + ENTRY_BYTES + 8
  if (record.headers === undefined) return size
  size += 6
  for (const name in record.headers) size += (name.length + record.headers[name]!.length) * 6 + 6
  return size
}

/** Packs the records, sorted by partition and otherwise in their order, into one frame. */
export function encodeRecords(records: readonly BusRecord[], partitions: number): EncodedFrame {
  const { ordered, sections } = orderByPartition(records, partitions)
  const raw = pack(ordered)
  if (raw.length >= MIN_COMPRESSED_BYTES) {
    const packed = compress(raw)
    if (packed.length < raw.length) return encodeFrame(CODEC.zstd, raw.length, packed, sections)
  }
  return encodeFrame(CODEC.none, raw.length, Uint8Array.from(raw), sections)
}

function orderByPartition(records: readonly BusRecord[], partitions: number) {
  const byPartition: BusRecord[][] = []
  for (const record of records) {
    const partition = partitionOf(record.key, partitions)
    const list = byPartition[partition]
    if (list === undefined) byPartition[partition] = [record]
    else list.push(record)
  }
  const sections: SectionSize[] = []
  byPartition.forEach((list, partition) => {
    sections.push({ partition, count: list.length })
  })
  return { ordered: byPartition.flat(), sections }
}

let scratch = Buffer.allocUnsafeSlow(1 << 19)

/** A view on the thread's scratch buffer, valid until the next call. */
function pack(records: readonly BusRecord[]): Buffer {
  const keys = new Dictionary()
  const headerSets = new HeaderSets()
  let valueBytes = 0
  const entries = new Uint32Array(records.length * 2)
  for (let i = 0; i < records.length; i++) {
    const { key, headers, value } = records[i]!
    entries[2 * i] = keys.indexOf(key)
    entries[2 * i + 1] = headers === undefined ? 0 : headerSets.add(headers) + 1
    valueBytes += value.length
  }
  const total = PREFIX_BYTES + keys.byteLength + headerSets.byteLength + records.length * ENTRY_BYTES + valueBytes
  if (scratch.length < total) scratch = Buffer.allocUnsafeSlow(total)
  scratch.writeUInt32LE(keys.size, 0)
  scratch.writeUInt32LE(headerSets.size, 4)
  let at = headerSets.write(scratch, keys.write(scratch, PREFIX_BYTES))
  let valueAt = at + records.length * ENTRY_BYTES
  for (let i = 0; i < records.length; i++) {
    const { value } = records[i]!
    scratch.writeUInt32LE(entries[2 * i]!, at)
    scratch.writeUInt32LE(entries[2 * i + 1]!, at + 4)
    scratch.writeUInt32LE(value.length, at + 8)
    scratch.set(value, valueAt)
    at += ENTRY_BYTES
    valueAt += value.length
  }
  return scratch.subarray(0, total)
}

/** Distinct keys of a batch, in the order of their first use. */
class Dictionary {
  readonly #indices = new Map<string, number>()
  byteLength = 0

  get size(): number {
    return this.#indices.size
  }

  indexOf(text: string): number {
    const known = this.#indices.get(text)
    if (known !== undefined) return known
    const index = this.#indices.size
    this.#indices.set(text, index)
    this.byteLength += 4 + Buffer.byteLength(text)
    return index
  }

  write(into: Buffer, start: number): number {
    return writeStrings(this.#indices.keys(), into, start)
  }
}

/** The header sets of a batch, in the order of their first use. Each record tends to have its own: only neighbours are compared. */
class HeaderSets {
  readonly #texts: string[] = []
  #last: Readonly<Record<string, string>> | undefined
  byteLength = 0

  get size(): number {
    return this.#texts.length
  }

  add(headers: Readonly<Record<string, string>>): number {
    if (headers !== this.#last) {
      const text = headersJson(headers)
      this.#texts.push(text)
      this.byteLength += 4 + Buffer.byteLength(text)
      this.#last = headers
    }
    return this.#texts.length - 1
  }

  write(into: Buffer, start: number): number {
    return writeStrings(this.#texts, into, start)
  }
}

/** ASCII that stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/

/** As `JSON.stringify`, in a third of the time for plain text. */
function headersJson(headers: Readonly<Record<string, string>>): string {
  let members = ''
  for (const name in headers) {
    const value = headers[name]!
    if (!PLAIN.test(name) || !PLAIN.test(value)) return JSON.stringify(headers)
    members += `${members === '' ? '' : ','}"${name}":"${value}"`
  }
  return `{${members}}`
}

/** As `JSON.parse`, without its cost for what is most frequent: one header, plain text. */
function parseHeaders(text: string): Readonly<Record<string, string>> {
  const nameEnd = text.indexOf('":"', 2)
  const valueEnd = text.length - 2
  if (nameEnd > 0 && text.indexOf('"', nameEnd + 3) === valueEnd && !text.includes('\\'))
    return { [text.slice(2, nameEnd)]: text.slice(nameEnd + 3, valueEnd) }
  return JSON.parse(text) as Record<string, string>
}

function rawBody(header: BusFrameHeader, body: Buffer): Buffer {
  if (header.codec === CODEC.none) return Buffer.from(Uint8Array.from(body).buffer)
  return decompress(body, header.rawLength)
}

/**
 * The records of one frame, unpacked; several readers may share it. Its memory is given back when the last one has released it:
 * left to the garbage collector, each thread would pile up 64 MB of it between two full collections (measured).
 */
export class FrameRecords {
  readonly topic: string
  readonly header: BusFrameHeader
  readonly raw: Buffer
  readonly keys: readonly string[]
  readonly headerSets: readonly Readonly<Record<string, string>>[]
  /** Where the entries start, one per record, and behind them the values. */
  readonly entriesAt: number
  #holders = 0

  /** `body` may be overwritten afterwards. */
  constructor(topic: string, header: BusFrameHeader, body: Buffer) {
    this.topic = topic
    this.header = header
    const raw = rawBody(header, body)
    this.raw = raw
    const keys = readStrings(raw, PREFIX_BYTES, raw.readUInt32LE(0))
    const headerSets = readStrings(raw, keys.end, raw.readUInt32LE(4))
    this.keys = keys.strings
    this.headerSets = [NO_HEADERS, ...headerSets.strings.map(parseHeaders)]
    this.entriesAt = headerSets.end
  }

  retain(): void {
    this.#holders++
  }

  release(): void {
    // A view that outlives it is empty, not somebody else's bytes.
    if (--this.#holders === 0) (this.raw.buffer as ArrayBuffer).transfer(0)
  }
}

/** Where a reader stands in the records of one frame. */
export class RecordCursor {
  readonly #frame: FrameRecords
  #section = 0
  #inSection = 0
  #entryAt: number
  #valueAt: number

  constructor(frame: FrameRecords) {
    this.#frame = frame
    this.#entryAt = frame.entriesAt
    this.#valueAt = frame.entriesAt + frame.header.recordCount * ENTRY_BYTES
  }

  /**
   * Appends records to `out` until one of the limits is reached, and returns the bytes of their values; a first record is taken even where it alone is over them.
   * `nextOffsets` (by partition, -1: not wanted) says which are wanted, and moves on. `done` tells whether any are left.
   */
  take(out: ConsumedRecord[], maxRecords: number, maxBytes: number, nextOffsets: Float64Array): number {
    const { topic, raw, keys, headerSets } = this.#frame
    const { timestampMs, sections } = this.#frame.header
    let bytes = 0
    for (; this.#section < sections.length; this.#section++, this.#inSection = 0) {
      const { partition, count, baseOffset } = sections[this.#section]!
      const wantedFrom = nextOffsets[partition] ?? -1
      for (; this.#inSection < count; this.#inSection++) {
        const length = raw.readUInt32LE(this.#entryAt + 8)
        const offset = baseOffset + this.#inSection
        if (wantedFrom >= 0 && offset >= wantedFrom) {
          if (out.length >= maxRecords || (out.length > 0 && bytes + length > maxBytes)) return bytes
          out.push({
            topic,
            partition,
            offset,
            timestampMs,
            key: keys[raw.readUInt32LE(this.#entryAt)]!,
            value: raw.subarray(this.#valueAt, this.#valueAt + length),
            headers: headerSets[raw.readUInt32LE(this.#entryAt + 4)]!,
          })
          bytes += length
          nextOffsets[partition] = offset + 1
        }
        this.#entryAt += ENTRY_BYTES
        this.#valueAt += length
      }
    }
    return bytes
  }

  get sections(): BusFrameHeader['sections'] {
    return this.#frame.header.sections
  }

  get done(): boolean {
    return this.#section >= this.#frame.header.sections.length
  }
}

/** Returns where the last one ends. */
function writeStrings(texts: Iterable<string>, into: Buffer, start: number): number {
  let at = start
  for (const text of texts) {
    const length = into.write(text, at + 4)
    into.writeUInt32LE(length, at)
    at += 4 + length
  }
  return at
}

function readStrings(raw: Buffer, start: number, count: number): { readonly strings: readonly string[]; readonly end: number } {
  const strings: string[] = []
  let at = start
  for (let i = 0; i < count; i++) {
    const end = at + 4 + raw.readUInt32LE(at)
    strings.push(raw.toString('utf8', at + 4, end))
    at = end
  }
  return { strings, end: at }
}
