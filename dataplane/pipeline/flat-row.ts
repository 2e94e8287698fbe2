/** A flat record on its way within the process. */
import type { BusRecord } from '../ports/bus.ts'
import { DEAD_LETTER_HEADERS } from './dead-letters/dead-letter.ts'
import { type EncodedRecord, type KnownFields, type KnownPattern, LAYOUT_HEADER, type Layout, layoutText } from './flat-record-layout.ts'
import type { StepInput } from './outcome.ts'

const NO_BYTES = Buffer.alloc(0)
const NO_PATTERN: KnownPattern = { hash: 0, text: '' }

type RowLayout = { -readonly [Name in keyof Layout]: Layout[Name] }
type RowFields = { -readonly [Name in keyof KnownFields]: KnownFields[Name] }

/**
 * A range of bytes that many records share, and its layout as numbers. A step that knows rows reads the bytes in place; to all others a row is an
 * input like a record of the bus, whose `value` and `headers` are made at each call. Rows of lent memory become others once it is given back.
 */
export class FlatRow implements StepInput {
  /** `<tenant>/<service>` */
  key: string
  bytes: Buffer
  start: number
  end: number
  readonly layout: Layout
  known: KnownFields | undefined
  /** The partition that its message came from. */
  partition = 0
  /** Among the rows that go on together. */
  position = 0
  /** The header of a replayed message: the time of the replay. */
  replayed: string | undefined = undefined

  /** `record` stands in `bytes` from `start` on by now. */
  constructor(key: string, record: EncodedRecord, bytes: Buffer, start: number) {
    this.key = key
    this.bytes = bytes
    this.start = start
    this.end = start + record.end - record.start
    this.layout = { ...record.layout }
    this.known = record.known && { ...record.known }
  }

  /** Becomes the row of another record. */
  become(key: string, record: EncodedRecord, bytes: Buffer, start: number): void {
    this.key = key
    this.bytes = bytes
    this.start = start
    this.end = start + record.end - record.start
    setLayout(this.layout, record.layout)
    const { known } = record
    if (known === undefined || this.known === undefined) this.known = known && { ...known }
    else setFields(this.known, known)
    this.partition = 0
    this.position = 0
    this.replayed = undefined
  }

  /** Holds nothing that belongs to the record: it may be large, and the row waits for long. */
  clear(): void {
    this.key = ''
    this.bytes = NO_BYTES
    this.start = 0
    this.end = 0
    const layout: RowLayout = this.layout
    layout.keySet = ''
    const known: RowFields | undefined = this.known
    if (known !== undefined) known.pattern = NO_PATTERN
    this.replayed = undefined
  }

  get value(): Buffer {
    return this.bytes.subarray(this.start, this.end)
  }

  get headers(): Readonly<Record<string, string>> {
    const layout = { [LAYOUT_HEADER]: layoutText(this.layout) }
    return this.replayed === undefined ? layout : { ...layout, [DEAD_LETTER_HEADERS.replayed]: this.replayed }
  }

  /** The record for `enriched-logs`: a view, which holds as long as the bytes do. */
  toRecord(): BusRecord & StepInput {
    return { key: this.key, value: this.value, headers: this.headers }
  }
}

function setLayout(to: RowLayout, { canonicalEnd, attributesStart, topLevelEnd, keySet }: Layout): void {
  to.canonicalEnd = canonicalEnd
  to.attributesStart = attributesStart
  to.topLevelEnd = topLevelEnd
  to.keySet = keySet
}

function setFields(to: RowFields, from: KnownFields): void {
  to.timeMs = from.timeMs
  to.level = from.level
  to.features = from.features
  to.messageStart = from.messageStart
  to.messageEnd = from.messageEnd
  to.isTelling = from.isTelling
  to.pattern = from.pattern
  to.visitHash = from.visitHash
}
