/**
 * A bulk of writes as it goes from thread to thread within one process: the documents in one buffer that is handed over and comes back with the
 * answer. The other way to the same storage is `_bulk` over HTTP, and each operation ends alike on both.
 */
import { keepShape } from '../memory/keep-shape.ts'

export const BULK_ACTIONS = ['create', 'index', 'update'] as const
type BulkAction = (typeof BULK_ACTIONS)[number]

/** An operation as its documents stand in memory. */
export interface PackableOperation {
  readonly action: BulkAction
  readonly index: string
  readonly id: string
  readonly body: string | Uint8Array
  readonly upsert?: string | Uint8Array
  readonly idTellsTime?: true
}

/** An operation as views into the buffer of its bulk. */
export interface PackedOperation {
  readonly action: BulkAction
  readonly index: string
  readonly id: string
  readonly body: Buffer
  readonly upsert: Buffer | undefined
}

/** Id, body and upsert of each operation stand in `bytes` one behind the other. */
export interface PackedBulk {
  readonly bytes: ArrayBuffer
  /** `ROW` numbers for each operation. */
  readonly table: Uint32Array<ArrayBuffer>
  readonly indices: readonly string[]
  /** No other document ever has the id of one of these at another `timestamp`, their first member. Absent: that is not known. */
  readonly idsTellTimes?: boolean
}

/** Action, index, and the lengths of id, body and upsert, in bytes. */
const ROW = 5
const NO_UPSERT = 0xffff_ffff
const CREATE = BULK_ACTIONS.indexOf('create')

export interface BulkRequest extends PackedBulk {
  readonly kind: 'bulk'
  /** Number of the request, among those of its port. */
  readonly number: number
  /** The message of the `BulkWalker`, if any. */
  readonly walk?: unknown
}

/** The end of an operation that did not go well, in OpenSearch's terms. */
export interface BulkItemError {
  readonly type?: string
  readonly reason?: string
  readonly caused_by?: { readonly reason?: string }
}

export type BulkAnswer =
  | {
      readonly kind: 'answer'
      readonly number: number
      /** The memory of the request, whose content is of no more use. */
      readonly bytes: ArrayBuffer
      /** As HTTP has them, one for each operation. */
      readonly statuses: Uint16Array<ArrayBuffer>
      readonly versions: Float64Array<ArrayBuffer>
      /** By the position of their operation. */
      readonly errors: ReadonlyMap<number, BulkItemError>
      /** A message to the `BulkWalker`. */
      readonly walk?: unknown
    }
  /** The operations may have been applied or not. */
  | { readonly kind: 'failure'; readonly number: number; readonly reason: string }

/** The operations side by side. `allocate` gives at least so many bytes, which nobody else has. */
export function packBulk(operations: readonly PackableOperation[], allocate: (sizeBytes: number) => Buffer<ArrayBuffer>): PackedBulk {
  const target = allocate(mostBytes(operations))
  const table = new Uint32Array(operations.length * ROW)
  const indices: string[] = []
  let indexAt = 0
  let end = 0
  const add = (part: string | Uint8Array): number => {
    const start = end
    if (typeof part === 'string') end += target.write(part, end)
    else {
      target.set(part, end)
      end += part.length
    }
    return end - start
  }
  for (let at = 0, row = 0; at < operations.length; at++, row += ROW) {
    const { action, index, id, body, upsert } = operations[at]!
    if (indices[indexAt] !== index) {
      indexAt = indices.indexOf(index)
      if (indexAt < 0) indexAt = indices.push(index) - 1
    }
    table[row] = BULK_ACTIONS.indexOf(action)
    table[row + 1] = indexAt
    table[row + 2] = add(id)
    table[row + 3] = add(body)
    table[row + 4] = upsert === undefined ? NO_UPSERT : add(upsert)
  }
  return { bytes: target.buffer, table, indices, idsTellTimes: operations.every(({ idTellsTime }) => idTellsTime === true) }
}

/** Packs creations of documents whose ids tell their times one by one, each written straight into the memory that is handed over. */
export class CreationPacker {
  /** Documents are written here, between `begin` and `end`. */
  readonly bytes: Buffer<ArrayBuffer>
  readonly #table: Uint32Array<ArrayBuffer>
  readonly #indices: string[] = []
  #indexAt = 0
  #row = 0
  #end = 0

  /** `bytes` is nobody else's, and takes `operations` documents with their ids. */
  constructor(bytes: Buffer<ArrayBuffer>, operations: number) {
    this.bytes = bytes
    this.#table = new Uint32Array(operations * ROW)
  }

  /** Begins a document whose id stands in `source`; the place where it is to be written. */
  begin(index: string, source: Buffer, idStart: number, idEnd: number): number {
    if (this.#indices[this.#indexAt] !== index) {
      this.#indexAt = this.#indices.indexOf(index)
      if (this.#indexAt < 0) this.#indexAt = this.#indices.push(index) - 1
    }
    const table = this.#table
    table[this.#row + 1] = this.#indexAt
    table[this.#row + 2] = idEnd - idStart
    let at = this.#end
    for (let p = idStart; p < idEnd; p++) this.bytes[at++] = source[p]!
    return at
  }

  /** The document begun last ends at `at`. */
  end(at: number): void {
    const table = this.#table
    table[this.#row] = CREATE
    table[this.#row + 3] = at - this.#end - table[this.#row + 2]!
    table[this.#row + 4] = NO_UPSERT
    this.#end = at
    this.#row += ROW
  }

  packed(): PackedBulk {
    const table = this.#row === this.#table.length ? this.#table : this.#table.slice(0, this.#row)
    return { bytes: this.bytes.buffer, table, indices: this.#indices, idsTellTimes: true }
  }
}

keepShape(new CreationPacker(Buffer.alloc(0), 0))

/** Documents to be created in one index, as they stand in the memory of their bulk. */
export interface PackedCreations {
  readonly index: string
  readonly bytes: Buffer
  /** For each document where its id begins, where the document begins, behind the id, and where it ends. */
  readonly places: Uint32Array
  readonly count: number
  readonly idsTellTimes: boolean
  /** The position of each in the bulk. */
  readonly positions: Uint32Array
}

/** The operations by index, where each is a creation; undefined where one is not. */
export function packedCreations({ bytes, table, indices, idsTellTimes = false }: PackedBulk): readonly PackedCreations[] | undefined {
  const counts = new Uint32Array(indices.length)
  for (let row = 0; row < table.length; row += ROW) {
    if (table[row] !== CREATE || table[row + 4] !== NO_UPSERT) return undefined
    counts[table[row + 1]!]!++
  }
  const buffer = Buffer.from(bytes)
  const creations = indices.map((index, k) => {
    const count = counts[k]!
    return { index, bytes: buffer, places: new Uint32Array(3 * count), count, idsTellTimes, positions: new Uint32Array(count) }
  })
  const done = new Uint32Array(indices.length)
  let at = 0
  for (let row = 0; row < table.length; row += ROW) {
    const index = table[row + 1]!
    const { places, positions } = creations[index]!
    const k = done[index]!++
    positions[k] = row / ROW
    places[3 * k] = at
    at += table[row + 2]!
    places[3 * k + 1] = at
    at += table[row + 3]!
    places[3 * k + 2] = at
  }
  return creations
}

/** The operations as views. */
export function unpackBulk({ bytes, table, indices }: PackedBulk): readonly PackedOperation[] {
  const source = Buffer.from(bytes)
  const operations = new Array<PackedOperation>(table.length / ROW)
  let at = 0
  const next = (length: number) => {
    at += length
    return source.subarray(at - length, at)
  }
  for (let row = 0, place = 0; row < table.length; row += ROW, place++) {
    const idLength = table[row + 2]!
    const id = source.toString('utf8', at, at + idLength)
    at += idLength
    const body = next(table[row + 3]!)
    const upsert = table[row + 4] === NO_UPSERT ? undefined : next(table[row + 4]!)
    operations[place] = { action: BULK_ACTIONS[table[row]!]!, index: indices[table[row + 1]!]!, id, body, upsert }
  }
  return operations
}

function mostBytes(operations: readonly PackableOperation[]): number {
  let bytes = 0
  for (const { id, body, upsert } of operations) bytes += sizeOf(id) + sizeOf(body) + (upsert === undefined ? 0 : sizeOf(upsert))
  return bytes
}

/** Most bytes of a UTF-16 unit in UTF-8. */
const UTF8_BYTES = 3

const sizeOf = (part: string | Uint8Array) => (typeof part === 'string' ? UTF8_BYTES * part.length : part.length)
